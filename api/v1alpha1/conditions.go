package v1alpha1

// Types of conditions. Ready is always there; Reconciling and Stalled only
// while they are True, so that tools that know kstatus can wait for an object.
const (
	// ReadyCondition is True when the object does what its spec says.
	ReadyCondition = "Ready"
	// ReconcilingCondition is True while the operator works on the object or waits for something that may come by itself.
	ReconcilingCondition = "Reconciling"
	// StalledCondition is True when only an edit of the object can help.
	StalledCondition = "Stalled"
	// SLOMetCondition tells whether the compliance of a ReminderSchedule is at or above its objective; Unknown without data.
	SLOMetCondition = "SLOMet"
	// DeadLettersPresentCondition is True while a ReminderSchedule has open dead letters.
	DeadLettersPresentCondition = "DeadLettersPresent"
	// WorkersAvailableCondition is True when a ReminderChannel has at least one live worker.
	WorkersAvailableCondition = "WorkersAvailable"
	// SucceededCondition of a ReminderReplay is Unknown while it runs, then True or False for good.
	SucceededCondition = "Succeeded"
)

// Reasons of Ready, Reconciling and Stalled. docs/reasons.md is generated from these comments.
const (
	// ReasonPlanned: the occurrences inside the look-ahead window are planned.
	ReasonPlanned = "Planned"
	// ReasonSuspended: spec.suspend is true; nothing is planned or sent.
	ReasonSuspended = "Suspended"
	// ReasonFinished: the schedule has no further occurrence and all its reminders have an outcome.
	ReasonFinished = "Finished"
	// ReasonProgressing: the operator is applying the spec.
	ReasonProgressing = "Progressing"
	// ReasonAvailable: the object is in use or ready to be used.
	ReasonAvailable = "Available"
	// ReasonInvalidSpec: the spec has a mistake that the schema cannot know; the message names the field and what to write.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotSupportedYet: the spec uses a field that this version of the operator does not act on; nothing is planned.
	ReasonNotSupportedYet = "NotSupportedYet"
	// ReasonNeverOccurs: the schedule can never fall due, such as on February 30.
	ReasonNeverOccurs = "NeverOccurs"
	// ReasonChannelNotFound: spec.channelName names a ReminderChannel that is not in the namespace.
	ReasonChannelNotFound = "ChannelNotFound"
	// ReasonChannelNotReady: the ReminderChannel is there and not ready; reminders wait, up to their deadline.
	ReasonChannelNotReady = "ChannelNotReady"
	// ReasonCalendarNotFound: a BusinessCalendar that is named by calendarName or include is not in the namespace.
	ReasonCalendarNotFound = "CalendarNotFound"
	// ReasonCalendarNotReady: the BusinessCalendar is there and cannot be used; its own condition says why.
	ReasonCalendarNotReady = "CalendarNotReady"
	// ReasonCalendarCycle: calendars include each other.
	ReasonCalendarCycle = "CalendarCycle"
	// ReasonNoBusinessDay: the calendar has no business day within 366 days.
	ReasonNoBusinessDay = "NoBusinessDay"
	// ReasonRecipientsUnavailable: a ConfigMap, Secret or bucket of recipientsFrom is missing or cannot be read as recipients.
	ReasonRecipientsUnavailable = "RecipientsUnavailable"
	// ReasonSecretUnavailable: the Secret is missing, lacks a key, or holds a value that is too weak.
	ReasonSecretUnavailable = "SecretUnavailable"
	// ReasonStreamUnavailable: no stream takes the subject of a NATS channel, or it forgets message ids too early to deduplicate.
	ReasonStreamUnavailable = "StreamUnavailable"
	// ReasonConfigMapUnavailable: the ConfigMap is missing, or lacks the key.
	ReasonConfigMapUnavailable = "ConfigMapUnavailable"
	// ReasonScheduleNotFound: spec.scheduleName names a ReminderSchedule that is not in the namespace.
	ReasonScheduleNotFound = "ScheduleNotFound"
	// ReasonBrokerUnavailable: NATS cannot be reached. What is planned already is still released on time once NATS is back.
	ReasonBrokerUnavailable = "BrokerUnavailable"
	// ReasonStreamFull: the stream of due jobs, or another stream or bucket of the operator than the ledger, takes no more messages.
	ReasonStreamFull = "StreamFull"
	// ReasonLedgerFull: the ledger takes no more records; nothing is sent until it does.
	ReasonLedgerFull = "LedgerFull"
	// ReasonLedgerLost: the ledger is gone or was made anew; a person must confirm before anything is sent.
	ReasonLedgerLost = "LedgerLost"
	// ReasonContended: another instance of the operator wrote the same entry; the work is tried again.
	ReasonContended = "Contended"
	// ReasonDeletionBlocked: the object is being deleted, and waits for what still uses it.
	ReasonDeletionBlocked = "DeletionBlocked"
	// ReasonChannelPaused: the receiver refused the channel itself (credentials, certificate); no reminder pays for it with an attempt.
	ReasonChannelPaused = "ChannelPaused"
	// ReasonCircuitOpen: the receiver failed many times in a row; workers submit nothing and try it now and then.
	ReasonCircuitOpen = "CircuitOpen"
	// ReasonEndpointGone: the receiver said that the endpoint is gone (410); workers submit nothing and try it once in a while.
	ReasonEndpointGone = "EndpointGone"
	// ReasonFailed: the work failed in an unexpected way and is tried again; the message says how.
	ReasonFailed = "Failed"
)

// Reasons of SLOMet.
const (
	// ReasonObjectiveMet: the compliance over the window is at or above the objective.
	ReasonObjectiveMet = "ObjectiveMet"
	// ReasonBudgetExhausted: the compliance over the window is below the objective.
	ReasonBudgetExhausted = "BudgetExhausted"
	// ReasonNoData: nothing fell due in the window.
	ReasonNoData = "NoData"
)

// Reasons of DeadLettersPresent.
const (
	// ReasonDeadLettersOpen: dead letters wait for replay or discard.
	ReasonDeadLettersOpen = "DeadLettersOpen"
	// ReasonNoDeadLetters: there is no open dead letter.
	ReasonNoDeadLetters = "NoDeadLetters"
)

// Reasons of WorkersAvailable.
const (
	// ReasonWorkersReady: as many workers as wanted are live.
	ReasonWorkersReady = "WorkersReady"
	// ReasonWorkersStarting: some workers are live, fewer than wanted.
	ReasonWorkersStarting = "WorkersStarting"
	// ReasonNoWorkers: no worker is live; due reminders wait and burn the error budget.
	ReasonNoWorkers = "NoWorkers"
	// ReasonScaledToZero: spec.workers asks for no worker.
	ReasonScaledToZero = "ScaledToZero"
)

// Reasons of Succeeded.
const (
	// ReasonRunning: the operation is under way.
	ReasonRunning = "Running"
	// ReasonCompleted: every matching dead letter was replayed or discarded.
	ReasonCompleted = "Completed"
	// ReasonPartlyRefused: some matching dead letters were refused, or all; status.refused says how many and why.
	ReasonPartlyRefused = "PartlyRefused"
	// ReasonScheduleDeleted: the ReminderSchedule was deleted; what had not been replayed or discarded until then is refused.
	ReasonScheduleDeleted = "ScheduleDeleted"
	// ReasonNothingMatched: no open dead letter matches.
	ReasonNothingMatched = "NothingMatched"
	// ReasonDryRunCompleted: the matching dead letters were counted and nothing was changed.
	ReasonDryRunCompleted = "DryRunCompleted"
)
