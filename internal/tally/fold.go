package tally

import (
	"slices"
	"strconv"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// maxRecent is how many open dead letters the totals remember.
const maxRecent = 10

// maxMissedRuns is how many runs of missed occurrences the totals remember.
const maxMissedRuns = 5

// Fold adds one revision to the totals of its schedule, unless they include it
// already. It tells whether it did. The totals are changed in place.
func Fold(t *reminder.Totals, number uint64, r reminder.Record) bool {
	if number <= t.Applied {
		return false
	}
	t.Applied = number
	now := r.Footprint()
	add(t, now, 1)
	if r.Previous != nil {
		add(t, *r.Previous, -1)
	}
	foldEnd(t, r)
	foldDeath(t, r)
	return true
}

// foldEnd keeps when the last reminder was due and got its outcome, and the tail of
// what was missed.
func foldEnd(t *reminder.Totals, r reminder.Record) {
	if !r.State.Terminal() {
		return
	}
	due := r.Due()
	if r.Missed != nil {
		due = r.Missed.LastDueTime
		t.MissedRuns = append(t.MissedRuns, *r.Missed)
		t.MissedRuns = t.MissedRuns[max(0, len(t.MissedRuns)-maxMissedRuns):]
	}
	if due.After(t.LastDueTime) {
		t.LastDueTime = due
	}
	if r.FinishTime.After(t.LastFinishTime) {
		t.LastFinishTime = r.FinishTime
	}
}

// add counts for a footprint n times.
func add(t *reminder.Totals, f reminder.Footprint, n int64) {
	switch f.State {
	case reminder.Sent:
		t.Sent += n
		if f.Late {
			t.SentLate += n
		}
	case reminder.Cancelled:
		t.Cancelled += n
	case reminder.Discarded:
		t.Discarded += n
	case reminder.Missed:
		t.Missed += n * f.Missed
	case reminder.Dead:
		t.Dead += n
		bump(&t.ByReason, f.Reason, n)
	default:
		bump(&t.Outstanding, strconv.FormatInt(f.ReleaseTime.Unix(), 10), n)
	}
	t.Attempts += n * int64(f.Attempts)
	t.Retried += n * int64(f.Retries)
	t.Suppressed += n * int64(f.Suppressed)
	t.Republished += n * int64(f.Republished)
}

// bump changes a count and drops it at zero, so that the value stays small.
func bump[K comparable](counts *map[K]int64, key K, n int64) {
	if *counts == nil {
		*counts = map[K]int64{}
	}
	(*counts)[key] += n
	if (*counts)[key] == 0 {
		delete(*counts, key)
	}
}

// foldDeath keeps the tail of open dead letters, and counts deaths and replays.
func foldDeath(t *reminder.Totals, r reminder.Record) {
	was, is := r.Previous != nil && r.Previous.State == reminder.Dead, r.State == reminder.Dead
	if was == is {
		return
	}
	if is {
		t.DeadTotal++
		t.Recent = append(t.Recent, reminder.DeadLetterOf(r))
		t.Recent = t.Recent[max(0, len(t.Recent)-maxRecent):]
		return
	}
	t.Recent = slices.DeleteFunc(t.Recent, func(d reminder.DeadLetter) bool { return d.Key == r.Key })
	if r.State == reminder.Scheduled {
		t.Replayed++
	}
}
