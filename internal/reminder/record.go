package reminder

import (
	"encoding/json"
	"fmt"
	"time"
)

// RecordVersion is the schemaVersion that this version of the operator writes
// and the newest that it reads.
const RecordVersion = 1

// State of a reminder in the ledger. The transitions are drawn in
// internal/delivery.
type State string

// The states of a reminder. Sent, Dead, Cancelled and Discarded are terminal, and
// so is Missed, which is the state of no reminder: its record stands for a run of
// occurrences that were never planned.
const (
	Scheduled State = "Scheduled"
	Claimed   State = "Claimed"
	Sending   State = "Sending"
	Retrying  State = "Retrying"
	Sent      State = "Sent"
	Dead      State = "Dead"
	Cancelled State = "Cancelled"
	Discarded State = "Discarded"
	Missed    State = "Missed"
)

// Terminal tells whether the automatic policy has ended for the reminder.
func (s State) Terminal() bool {
	return s == Sent || s == Dead || s == Cancelled || s == Discarded || s == Missed
}

func (s State) known() bool {
	switch s {
	case Scheduled, Claimed, Sending, Retrying, Sent, Dead, Cancelled, Discarded, Missed:
		return true
	}
	return false
}

// Record is one revision of a reminder in the ledger. Revisions of one key form
// the trace of the reminder, and the bucket's stream the log of all transitions.
type Record struct {
	SchemaVersion int   `json:"schemaVersion"`
	Key           Key   `json:"key"`
	State         State `json:"state"`
	// Reason is set in Dead and Cancelled.
	Reason Reason `json:"reason,omitempty"`
	// Epoch is the schedule's plan epoch under which the reminder was planned.
	Epoch int64 `json:"epoch"`
	// DueTime is when the occurrence is due; see Due. LocalTime is what the clocks
	// of its zone show then, such as 2026-11-03T09:00:00, from which DueTime is
	// worked out anew when the time zone data changes.
	DueTime   time.Time `json:"dueTime,omitzero"`
	LocalTime string    `json:"localTime,omitempty"`
	// ReleaseTime: may first run; DueTime with what jitter adds, and later where it
	// is caught up. DeadlineTime: no submission may start at or after it. LateTime:
	// an acceptance after it counts as late.
	ReleaseTime  time.Time `json:"releaseTime"`
	DeadlineTime time.Time `json:"deadlineTime"`
	LateTime     time.Time `json:"lateTime"`
	// NextAttemptTime is set in Retrying.
	NextAttemptTime time.Time `json:"nextAttemptTime,omitzero"`
	// LeaseUntilTime and Owner are set in Claimed and Sending. A lease is judged
	// by this value; it is never a TTL of the store.
	LeaseUntilTime time.Time `json:"leaseUntilTime,omitzero"`
	Owner          string    `json:"owner,omitempty"`
	// Unmarked is set in Claimed where the channel deduplicated at the claim, so
	// that a submission may follow without a Sending mark. The channel may have
	// been edited since; what a claim may have left behind must not depend on that.
	Unmarked bool `json:"unmarked,omitempty"`
	// Attempts counts submissions to the channel, never deliveries of the broker.
	Attempts int `json:"attempts,omitempty"`
	// Retries counts transitions to Retrying, Takeovers claims of an expired
	// lease, Suppressed redeliveries of a terminal reminder, Republished repairs
	// by the audit sweep.
	Retries     int `json:"retries,omitempty"`
	Takeovers   int `json:"takeovers,omitempty"`
	Suppressed  int `json:"suppressed,omitempty"`
	Republished int `json:"republished,omitempty"`
	// Unresolved: some submission may have been accepted without our knowing; of a
	// reminder that was replayed, one since the last replay. MayRepeat: one before
	// it may, and a person had the reminder sent again all the same.
	Unresolved bool `json:"unresolved,omitempty"`
	MayRepeat  bool `json:"mayRepeat,omitempty"`
	// Receipt and Diagnostic come from the last result; both are redacted.
	Receipt    string `json:"receipt,omitempty"`
	Diagnostic string `json:"diagnostic,omitempty"`
	// UpdateTime is the writer's clock at this revision; FinishTime is set in
	// terminal states, for Sent to the time of the acceptance.
	UpdateTime time.Time `json:"updateTime"`
	FinishTime time.Time `json:"finishTime,omitzero"`
	// ExpireTime: the store may forget this revision after it. It never lies
	// before the ExpireTime of an earlier revision, or that one would come back
	// to life when the later one expires.
	ExpireTime time.Time `json:"expireTime"`
	// Replays are what ReminderReplays have done to the reminder, the oldest first.
	Replays []Replay `json:"replays,omitempty"`
	// Missed is set in Missed: what the record stands for.
	Missed *Gap `json:"missed,omitempty"`
	// Previous is what the preceding revision counted for; nil in the first. A
	// fold that adds this revision and subtracts Previous is exact without state.
	Previous *Footprint `json:"previous,omitempty"`
}

// Footprint is the part of a revision that counters are folded from.
type Footprint struct {
	State       State  `json:"state"`
	Reason      Reason `json:"reason,omitempty"`
	Late        bool   `json:"late,omitempty"`
	Attempts    int    `json:"attempts,omitempty"`
	Retries     int    `json:"retries,omitempty"`
	Suppressed  int    `json:"suppressed,omitempty"`
	Republished int    `json:"republished,omitempty"`
	// Missed is how many reminders a record of Missed stands for.
	Missed int64 `json:"missed,omitempty"`
	// ReleaseTime moves when a slot is planned again with another jitter.
	ReleaseTime time.Time `json:"releaseTime"`
}

// Footprint of this revision.
func (r Record) Footprint() Footprint {
	f := Footprint{
		State: r.State, Reason: r.Reason, Late: r.Late(), Attempts: r.Attempts, Retries: r.Retries,
		Suppressed: r.Suppressed, Republished: r.Republished, ReleaseTime: r.ReleaseTime,
	}
	if r.Missed != nil {
		f.Missed = r.Missed.Reminders
	}
	return f
}

// Due is when the occurrence is due; records of the first version say it by
// ReleaseTime.
func (r Record) Due() time.Time {
	if r.DueTime.IsZero() {
		return r.ReleaseTime
	}
	return r.DueTime
}

// Late tells whether the reminder was accepted after its LateTime.
func (r Record) Late() bool { return r.State == Sent && r.FinishTime.After(r.LateTime) }

// Encode is the stored form of the record.
func (r Record) Encode() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("encode record %s: %w", r.Key, err)
	}
	return json.Marshal(r)
}

// DecodeRecord reads a stored record. It answers ErrNewerSchema or ErrMalformed.
func DecodeRecord(data []byte) (Record, error) {
	var r Record
	if err := decode(data, RecordVersion, &r); err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	if err := r.Validate(); err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	return r, nil
}

// Validate tells whether a reader can act on the record.
func (r Record) Validate() error {
	switch {
	case r.SchemaVersion != RecordVersion:
		return fmt.Errorf("schemaVersion %d: %w", r.SchemaVersion, ErrMalformed)
	case !r.State.known():
		return fmt.Errorf("state %q: %w", r.State, ErrMalformed)
	case r.ReleaseTime.IsZero() || !r.DeadlineTime.After(r.ReleaseTime):
		return fmt.Errorf("deadlineTime is not after releaseTime: %w", ErrMalformed)
	case (r.State == Missed) != (r.Missed != nil):
		return fmt.Errorf("state %s and missed do not go together: %w", r.State, ErrMalformed)
	case r.State == Missed:
		return r.Key.validateGap()
	}
	return r.Key.Validate()
}

// decode reads one JSON value of a known schema version: nothing may follow it.
// The version is read first, because a newer one may give fields other types.
func decode(data []byte, version int, into any) error {
	var head struct {
		SchemaVersion int `json:"schemaVersion"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("not a JSON object: %w", ErrMalformed)
	}
	if head.SchemaVersion > version {
		return fmt.Errorf("schemaVersion %d, this version reads up to %d: %w", head.SchemaVersion, version, ErrNewerSchema)
	}
	if head.SchemaVersion < 1 {
		return fmt.Errorf("schemaVersion %d: %w", head.SchemaVersion, ErrMalformed)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("unexpected field type: %w", ErrMalformed)
	}
	return nil
}
