package delivery

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// maxTakeovers is how many expired leases one reminder may leave behind before
// it is taken for what kills its workers (failure matrix row 13). It is large
// beside the few that a rolling restart or a bad node can cause.
const maxTakeovers = 16

// clockAllowance covers the difference between two pods' clocks where one
// revision's expiry must not precede another's.
const clockAllowance = time.Hour

// Policy is what a schedule and its channel say about delivery.
type Policy struct {
	Retry     reminder.Retry
	OnUnknown reminder.OnUnknown
	// Dedupes: the channel deduplicates on the key, so that sending again with
	// the same key is harmless.
	Dedupes bool
	// Reconciles: the channel can be asked whether it has accepted a reminder.
	Reconciles bool
	// AsksEligibility: another system is asked before each attempt whether the
	// reminder is still wanted.
	AsksEligibility bool
	// Lease is how long a claim lasts; longer than the broker's ack wait.
	Lease time.Duration
	// Retention is how long a terminal record is kept.
	Retention time.Duration
}

// resend tells whether a submission of unknown outcome may be repeated.
func (p Policy) resend() bool { return p.Dedupes || p.OnUnknown == reminder.RetryUnknown }

// Facts is what durable data say about a reminder beside its record, read at
// each attempt.
type Facts struct {
	// Deleted: the schedule is gone, or marked as deleted.
	Deleted bool
	// Suspended: the schedule is suspended.
	Suspended bool
	// Epoch is the schedule's current plan epoch.
	Epoch int64
	// Inactive: the recipient is inactive or no longer in the audience.
	Inactive bool
	// NotEligible: the schedule's eligibility yields false for the recipient.
	NotEligible bool
	// Undecidable is why the schedule's eligibility cannot be evaluated for the
	// recipient, without any value of it; empty where it can.
	Undecidable string
	// Eligible and Reconciled are what was answered to a Question; zero while it was
	// not put.
	Eligible, Reconciled reminder.Answer
	// Paused is set while the worker submits nothing to the channel. It stops no
	// reminder by itself: it says why one came to its deadline.
	Paused *reminder.Pause
}

// refusal is the reason why the reminder must not be sent now; empty when it may.
func (f Facts) refusal(r reminder.Record) reminder.Reason {
	switch {
	case f.Deleted:
		return reminder.ScheduleDeleted
	case f.Suspended:
		return reminder.Suspended
	case r.Epoch < f.Epoch:
		return reminder.Superseded
	case f.Inactive:
		return reminder.RecipientInactive
	}
	return ""
}

// Action is what the caller does with a decision.
type Action string

// The actions. In each but Wait, Reschedule and Ask the Record is written first.
const (
	// Submit: write the claim, then hand the message to the channel.
	Submit Action = "Submit"
	// Settle: write the terminal record, then acknowledge.
	Settle Action = "Settle"
	// Suppress: write the count of a redelivery, then acknowledge.
	Suppress Action = "Suppress"
	// Retry: write the record, schedule a due job at At, then acknowledge.
	Retry Action = "Retry"
	// Reschedule: schedule a due job at At, then acknowledge; nothing to write.
	Reschedule Action = "Reschedule"
	// Wait: negative acknowledgement until At; nothing to write.
	Wait Action = "Wait"
	// Ask: put the Question, and decide again with the answer; nothing to write.
	Ask Action = "Ask"
)

// Question is what only another system can answer. It is put where the decision
// hangs on it, and once for each decision.
type Question string

// The questions.
const (
	// AskEligible: is the reminder still wanted? The answer is Facts.Eligible.
	AskEligible Question = "Eligible"
	// AskReconciled: has the channel accepted the reminder? The answer is
	// Reconciled of the facts or the result.
	AskReconciled Question = "Reconciled"
)

// Decision is an action with the record to write, and the time that Retry,
// Reschedule and Wait mean, or the question of Ask.
type Decision struct {
	Action   Action
	Record   reminder.Record
	At       time.Time
	Question Question
}
