package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReminderScheduleStatus is what the operator knows of a schedule. All of it can be rebuilt from the ledger and the spec.
type ReminderScheduleStatus struct {
	// conditions of the schedule: Ready; Reconciling and Stalled while they are True; SLOMet; DeadLettersPresent.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status speaks of.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// nextDueTime is the due time of the next occurrence of any recipient, in UTC, without jitter. Unset when there is
	// none, or while suspended.
	// +optional
	NextDueTime *metav1.Time `json:"nextDueTime,omitempty"`

	// lastDueTime is the due time of the last occurrence that fell due, in UTC.
	// +optional
	LastDueTime *metav1.Time `json:"lastDueTime,omitempty"`

	// plannedThroughTime is up to when it is decided what becomes of each occurrence, in UTC: it is planned, or counted
	// as missed. It shows the cursor in the registry, and is believed only where the registry has none, and for the past
	// only.
	// +optional
	PlannedThroughTime *metav1.Time `json:"plannedThroughTime,omitempty"`

	// finishTime is when the last reminder of a schedule that has ended got its outcome, in UTC; without a reminder, when
	// the schedule was created or was last due. Unset while it has not ended, or is suspended. ttlAfterFinished counts
	// from it.
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`

	// timeZone is the canonical name of the zone in use: Asia/Kolkata where the spec says Asia/Calcutta, and UTC where
	// the spec says nothing. With timeZoneFrom Recipient it is the zone of recipients that have none.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// timeZoneDataVersion is the release of the IANA time zone database that due times are worked out with, such as
	// 2026b. It is part of the operator. When a new one changes an occurrence that is planned and not due yet, its
	// reminders move with it and keep their keys.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZoneDataVersion string `json:"timeZoneDataVersion,omitempty"`

	// upcoming are the next due times of any recipient in UTC, at most 5.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	// +optional
	Upcoming []metav1.Time `json:"upcoming,omitempty"`

	// recipients is how many active recipients the schedule has, from all its sources, also those without an occurrence.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Recipients *int64 `json:"recipients,omitempty"`

	// counts are lifetime numbers of reminders, folded from the ledger.
	// +optional
	Counts *ReminderCounts `json:"counts,omitempty"`

	// missedRuns are the newest runs of occurrences that counts.missed counts, newest first, at most 5.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	// +optional
	MissedRuns []MissedRun `json:"missedRuns,omitempty"`

	// deadLetters are the reminders whose automatic policy has ended without a send.
	// +optional
	DeadLetters *DeadLetterStatus `json:"deadLetters,omitempty"`

	// slo is where the schedule stands with its objective. Unset when spec.slo is.
	// +optional
	SLO *SLOStatus `json:"slo,omitempty"`
}

// ReminderCounts are numbers of reminders (one occurrence for one recipient) over the lifetime of the schedule's name.
type ReminderCounts struct {
	// due is how many reminders have fallen due, from the time on at which they are released: the missed ones included,
	// the cancelled ones not.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Due int64 `json:"due"`

	// missed is how many of due were never planned, because the operator or NATS was away when they fell due, or the spec
	// or the calendar could not be used, and catchUp did not take them up later. They count against the objective like
	// those that failed.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Missed int64 `json:"missed"`

	// sent is how many reminders the channel accepted.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Sent int64 `json:"sent"`

	// sentLate is how many of sent were accepted later than slo.within (5m where it is not set) after the due time, with
	// the jitter of the reminder added.
	// +kubebuilder:validation:Minimum=0
	// +optional
	SentLate int64 `json:"sentLate"`

	// retried is how many times a reminder was put off to a later attempt.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Retried int64 `json:"retried"`

	// suppressed is how many duplicates were recognised and not sent.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Suppressed int64 `json:"suppressed"`

	// cancelled is how many reminders were taken back before they were sent, such as after an edit of the schedule.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Cancelled int64 `json:"cancelled"`

	// dead is how many reminders are dead letters now.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Dead int64 `json:"dead"`

	// pending is how many planned reminders have no outcome yet, due or not.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Pending int64 `json:"pending"`

	// republished is how many times the audit sweep put a lost due job back.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Republished int64 `json:"republished"`
}

// MissedRun is a run of occurrences that fell due while nothing was planned and that were not taken up.
type MissedRun struct {
	// firstDueTime is the due time of the first of them, in UTC.
	// +optional
	FirstDueTime metav1.Time `json:"firstDueTime,omitzero"`

	// lastDueTime is the due time of the last of them, in UTC.
	// +optional
	LastDueTime metav1.Time `json:"lastDueTime,omitzero"`

	// reminders is how many reminders that is: each occurrence counts once for each recipient. 1 or more.
	// +kubebuilder:validation:Minimum=1
	// +required
	Reminders int64 `json:"reminders,omitempty"`
}

// DeadLetterStatus counts dead letters and shows the newest.
type DeadLetterStatus struct {
	// open is how many dead letters wait for replay or discard.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Open int64 `json:"open"`

	// total is how many times a reminder became a dead letter.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Total int64 `json:"total"`

	// replayed is how many dead letters a ReminderReplay has put back to work.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replayed int64 `json:"replayed"`

	// discarded is how many dead letters a ReminderReplay has closed without a send.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Discarded int64 `json:"discarded"`

	// byReason counts the open dead letters by reason; the reasons are in docs/reasons.md.
	// +listType=map
	// +listMapKey=reason
	// +kubebuilder:validation:MaxItems=32
	// +optional
	ByReason []ReasonCount `json:"byReason,omitempty"`

	// recent are the newest open dead letters, newest first, at most 10. They hold no address and no text of a message.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Recent []DeadLetterRecord `json:"recent,omitempty"`
}

// ReasonCount is a number of reminders with one reason.
type ReasonCount struct {
	// reason is one word in CamelCase, such as DeadlineReached.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9]*$`
	// +required
	Reason string `json:"reason,omitempty"`

	// count is how many reminders have the reason.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Count int64 `json:"count"`
}

// DeadLetterRecord is one dead letter, redacted.
type DeadLetterRecord struct {
	// key names the reminder in its readable form, such as shop/renewal-notice/2026-11-03T08:00:00Z/acct_4821. It is what
	// a ReminderReplay takes in spec.keys.
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Key string `json:"key,omitempty"`

	// reason is why the reminder is dead, such as DeadlineReached.
	// +kubebuilder:validation:MaxLength=64
	// +required
	Reason string `json:"reason,omitempty"`

	// attempts is how many times the reminder was submitted to the channel.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Attempts int32 `json:"attempts"`

	// time is when the reminder became dead, in UTC.
	// +optional
	Time metav1.Time `json:"time,omitzero"`

	// diagnostic is what the channel said last, redacted and cut, such as "503 Service Unavailable".
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Diagnostic string `json:"diagnostic,omitempty"`
}

// SLOStatus is compliance and error budget over the window of spec.slo.
type SLOStatus struct {
	// objective is the percentage that is aimed at, copied from the spec, such as "99.9".
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Objective string `json:"objective,omitempty"`

	// window is the length of time that the numbers cover, copied from the spec, such as "30d".
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Window string `json:"window,omitempty"`

	// due is how many reminders fell due in the window, without the cancelled ones.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Due int64 `json:"due"`

	// good is how many of due were accepted in time.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Good int64 `json:"good"`

	// compliance is good as a percentage of due, such as "99.95". Unset while nothing fell due: no data is not 100 %.
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Compliance string `json:"compliance,omitempty"`

	// errorBudgetRemaining is the part of the error budget that is left, as a percentage, such as "52.1"; below zero when
	// it is overspent. Unset while nothing fell due.
	// +kubebuilder:validation:MaxLength=16
	// +optional
	ErrorBudgetRemaining string `json:"errorBudgetRemaining,omitempty"`

	// burnRate is how fast the budget burns over shorter windows; 1 spends exactly the budget in the SLO's window.
	// +listType=map
	// +listMapKey=window
	// +kubebuilder:validation:MaxItems=8
	// +optional
	BurnRate []BurnRate `json:"burnRate,omitempty"`

	// oldestDueAge is for how long the oldest due reminder without an outcome has been waiting, such as 3m12s. Unset when
	// none waits.
	// +kubebuilder:validation:Type=string
	// +optional
	OldestDueAge *metav1.Duration `json:"oldestDueAge,omitempty"`
}

// BurnRate is the speed at which the error budget burns over one window.
type BurnRate struct {
	// window is the length of time that the rate is taken over, such as "1h".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +required
	Window string `json:"window,omitempty"`

	// rate is the burn rate, such as "0.4". Unset without data.
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Rate string `json:"rate,omitempty"`
}
