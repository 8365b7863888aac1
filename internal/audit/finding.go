package audit

import (
	"cmp"
	"slices"
	"time"
)

// Kind says what a difference is.
type Kind string

// Kinds that are lost reminders.
const (
	// NoRecord: it fell due, its time was planned, and the ledger has no record of it.
	NoRecord Kind = "NoRecord"
	// NotPlanned: it fell due, and nothing was planned up to its time.
	NotPlanned Kind = "NotPlanned"
	// NoOutcome: its deadline has passed, and it has no outcome.
	NoOutcome Kind = "NoOutcome"
	// NoMessage: its time has come, and no message stands for it that would bring it to a worker.
	NoMessage Kind = "NoMessage"
	// NotAccepted: the ledger says Sent, and the receiver's log does not have it.
	NotAccepted Kind = "NotAccepted"
)

// Kinds of other differences.
const (
	// Duplicate: the receiver's log has it more than once.
	Duplicate Kind = "Duplicate"
	// AcceptedUnsent: the receiver's log has it, and the ledger does not say Sent.
	AcceptedUnsent Kind = "AcceptedUnsent"
	// NoDeadLetter: the ledger says Dead, and the dead letter is missing.
	NoDeadLetter Kind = "NoDeadLetter"
	// StrayDeadLetter: there is a dead letter, and the ledger does not say Dead.
	StrayDeadLetter Kind = "StrayDeadLetter"
	// StrayMessage: there is a due job, and the ledger has no record for it.
	StrayMessage Kind = "StrayMessage"
	// Trace: a revision does not follow the one before it.
	Trace Kind = "Trace"
	// Unreadable: a revision cannot be read.
	Unreadable Kind = "Unreadable"
	// Tally: a counter of the tally is not what the ledger comes to.
	Tally Kind = "Tally"
	// Status: a number in status is not what the tally says, nor what it said of late.
	Status Kind = "Status"
)

// Lost tells whether such a difference is a lost reminder.
func (k Kind) Lost() bool {
	return k == NoRecord || k == NotPlanned || k == NoOutcome || k == NoMessage || k == NotAccepted
}

// Counter tells whether such a difference is one of counters.
func (k Kind) Counter() bool { return k == Tally || k == Status }

// Finding is one difference.
type Finding struct {
	Kind Kind `json:"kind"`
	// Key is the reminder's, or the name of a counter.
	Key    string `json:"key"`
	Detail string `json:"detail"`
}

func sortFindings(all []Finding) {
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Detail, b.Detail))
	})
}

// Range is a range of due times: behind From and up to Through.
type Range struct {
	From    time.Time `json:"from"`
	Through time.Time `json:"through"`
}

// What Report.Counters can say.
const (
	// Exact: every counter is what the ledger comes to.
	Exact = "exact"
	// Consistent: the ledger has forgotten records, as it should; those that wait are counted exactly, and no other
	// counter is below what the ledger still has.
	Consistent = "consistent"
	// Differing: a counter is wrong.
	Differing = "differing"
)

// MaxFindings is how many differences a report names; the others are counted.
const MaxFindings = 100

// Report is what comparing the sources of a schedule came to.
type Report struct {
	Namespace string `json:"namespace"`
	Schedule  string `json:"schedule"`
	// Due, Sent, Dead, Discarded, Cancelled, Missed and Pending are what the ledger has: reminders by their latest record.
	Due       int64 `json:"due"`
	Sent      int64 `json:"sent"`
	Dead      int64 `json:"dead"`
	Discarded int64 `json:"discarded"`
	Cancelled int64 `json:"cancelled"`
	Missed    int64 `json:"missed"`
	Pending   int64 `json:"pending"`
	Lost      int64 `json:"lost"`
	// Duplicates is nil where there was no log of a receiver to compare with.
	Duplicates *int64 `json:"duplicates"`
	Counters   string `json:"counters"`
	// Proven are the due times for which each reminder of the schedule itself was looked for in the ledger; nil for none,
	// and then Unproven says why.
	Proven   *Range `json:"proven"`
	Unproven string `json:"unproven,omitempty"`
	// Findings are the differences, at most [MaxFindings]; Differences counts all.
	Findings    []Finding `json:"findings"`
	Differences int64     `json:"differences"`
}

// Equal tells whether there is no difference.
func (r Report) Equal() bool { return r.Differences == 0 }
