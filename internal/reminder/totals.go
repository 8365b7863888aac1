package reminder

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// TotalsVersion is the schemaVersion of totals that this version writes and the
// newest that it reads.
const TotalsVersion = 1

// Totals are the counters of one schedule, folded from the ledger. They include
// every revision of the schedule's reminders up to Applied, each once.
type Totals struct {
	SchemaVersion int    `json:"schemaVersion"`
	Namespace     string `json:"namespace"`
	Schedule      string `json:"schedule"`
	// Applied is the newest ledger revision that is included.
	Applied uint64 `json:"applied"`
	// Sent, SentLate (part of Sent), Cancelled, Dead (open) and Discarded count
	// reminders in that state; Retried, Suppressed, Republished and Attempts count
	// what happened to them; DeadTotal counts every time one became dead.
	Sent        int64 `json:"sent"`
	SentLate    int64 `json:"sentLate"`
	Cancelled   int64 `json:"cancelled"`
	Dead        int64 `json:"dead"`
	Discarded   int64 `json:"discarded"`
	DeadTotal   int64 `json:"deadTotal"`
	Replayed    int64 `json:"replayed"`
	Retried     int64 `json:"retried"`
	Suppressed  int64 `json:"suppressed"`
	Republished int64 `json:"republished"`
	Attempts    int64 `json:"attempts"`
	// Missed counts reminders that fell due while nothing was planned and were not
	// taken up; MissedRuns are the newest runs of them, newest last, at most 5.
	Missed     int64 `json:"missed,omitempty"`
	MissedRuns []Gap `json:"missedRuns,omitempty"`
	// ByReason counts the open dead letters.
	ByReason map[Reason]int64 `json:"byReason,omitempty"`
	// Outstanding counts reminders without an outcome by the Unix second of their
	// release, in decimal.
	Outstanding map[string]int64 `json:"outstanding,omitempty"`
	// LastDueTime is the latest due time among reminders with an outcome, and
	// LastFinishTime when the last one got its outcome.
	LastDueTime    time.Time `json:"lastDueTime,omitzero"`
	LastFinishTime time.Time `json:"lastFinishTime,omitzero"`
	// Recent holds the newest open dead letters, newest last, at most 10.
	Recent []DeadLetter `json:"recent,omitempty"`
}

// Pending is the number of reminders without an outcome, due or not yet.
func (t Totals) Pending() int64 {
	var n int64
	for _, count := range t.Outstanding {
		n += count
	}
	return n
}

// Due is the number of reminders that have fallen due by now and were not
// cancelled: those with an outcome, those that still wait for one, and those that
// were missed.
func (t Totals) Due(now time.Time) int64 {
	due := t.Sent + t.Dead + t.Discarded + t.Missed
	for second, count := range t.Outstanding {
		if !releaseOf(second).After(now) {
			due += count
		}
	}
	return due
}

// OldestDue is the earliest release among due reminders without an outcome;
// false when there is none.
func (t Totals) OldestDue(now time.Time) (time.Time, bool) {
	var oldest time.Time
	for second, count := range t.Outstanding {
		at := releaseOf(second)
		if count > 0 && !at.After(now) && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	return oldest, !oldest.IsZero()
}

func releaseOf(second string) time.Time {
	n, err := strconv.ParseInt(second, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// Encode is the stored form of the totals.
func (t Totals) Encode() ([]byte, error) {
	t.SchemaVersion = TotalsVersion
	return json.Marshal(t)
}

// DecodeTotals reads stored totals. It answers ErrNewerSchema or ErrMalformed.
func DecodeTotals(data []byte) (Totals, error) {
	var t Totals
	if err := decode(data, TotalsVersion, &t); err != nil {
		return Totals{}, fmt.Errorf("decode totals: %w", err)
	}
	return t, nil
}
