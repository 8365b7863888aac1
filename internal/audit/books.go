package audit

import (
	"errors"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Books are the ledger of one schedule up to a cut: what has become of each reminder, and how it came to that.
type Books struct {
	Namespace, Schedule string

	since   time.Time // of changes
	entries map[string]*entry
	counts  Counts
	changes []change
	faults  []Finding
	last    uint64
}

// entry is the latest revision of a reminder.
type entry struct {
	key reminder.Key
	is  reminder.Footprint
	// wake is when a message must stand for it; zero with an outcome. written is the store's clock.
	deadline, wake, finish, written time.Time
	gap                             *reminder.Gap
}

// change is one revision with what it changed.
type change struct {
	number  uint64
	written time.Time
	was     *reminder.Footprint // nil for the first revision
	is      reminder.Footprint
}

// NewBooks are the empty books of a schedule. What was written since a time is remembered step by step, so that what
// lags behind the ledger can be compared.
func NewBooks(namespace, schedule string, since time.Time) *Books {
	return &Books{Namespace: namespace, Schedule: schedule, since: since, entries: map[string]*entry{}, counts: newCounts()}
}

// Last is the number of the newest revision.
func (b *Books) Last() uint64 { return b.last }

// Has tells whether there is any record.
func (b *Books) Has() bool { return len(b.entries) > 0 }

// Spoil notes a revision that cannot be read.
func (b *Books) Spoil(number uint64, token string, err error) {
	b.last = number
	detail := "revision cannot be read"
	if errors.Is(err, reminder.ErrNewerSchema) {
		detail = "revision was written by a newer version; use its plugin"
	}
	b.faults = append(b.faults, Finding{Kind: Unreadable, Key: token, Detail: detail})
}

// Add takes the next revision of a record and when the store wrote it.
func (b *Books) Add(number uint64, token string, r reminder.Record, written time.Time) {
	b.last = number
	was := r.Previous
	if before := b.entries[token]; before != nil {
		if r.Previous == nil || !sameFootprint(*r.Previous, before.is) {
			b.faults = append(b.faults, Finding{Kind: Trace, Key: r.Key.String(), Detail: "revision to " + string(r.State) + " does not follow the one before it, to " + string(before.is.State)})
		}
		was = &before.is
	}
	if token != r.Key.Token() {
		b.faults = append(b.faults, Finding{Kind: Trace, Key: r.Key.String(), Detail: "record lies under the name of another"})
	}
	step := change{number: number, written: written, was: was, is: r.Footprint()}
	b.counts.step(step, 1)
	if !written.Before(b.since) {
		b.changes = append(b.changes, step)
	}
	b.entries[token] = &entry{key: r.Key, is: step.is, deadline: r.DeadlineTime, wake: wake(r), finish: r.FinishTime, written: written, gap: r.Missed}
}

func sameFootprint(a, b reminder.Footprint) bool {
	same := a.ReleaseTime.Equal(b.ReleaseTime)
	a.ReleaseTime, b.ReleaseTime = time.Time{}, time.Time{}
	return same && a == b
}

// wake is the time from which a message must stand for a record; zero where none need.
func wake(r reminder.Record) time.Time {
	switch r.State {
	case reminder.Retrying:
		return r.NextAttemptTime
	case reminder.Claimed, reminder.Sending:
		return r.LeaseUntilTime
	case reminder.Scheduled:
		return r.ReleaseTime
	default:
		return time.Time{}
	}
}
