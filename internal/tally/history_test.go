package tally_test

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var (
	release = time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC)
	states  = []reminder.State{
		reminder.Scheduled, reminder.Claimed, reminder.Sending, reminder.Retrying,
		reminder.Sent, reminder.Dead, reminder.Cancelled, reminder.Discarded,
	}
	reasons = []reminder.Reason{reminder.DeadlineReached, reminder.PermanentFailure, reminder.ReconciliationRequired}
)

// numbered is one revision of the ledger.
type numbered struct {
	number uint64
	record reminder.Record
}

func first(schedule, recipient string) reminder.Record {
	return reminder.Record{
		SchemaVersion: 1, State: reminder.Scheduled, Epoch: 1, ReleaseTime: release, DeadlineTime: release.Add(time.Hour), LateTime: release.Add(time.Minute),
		Key:        reminder.Key{Namespace: "shop", Schedule: schedule, Slot: reminder.SlotOf(release), Recipient: recipient, Channel: "mail"},
		UpdateTime: release, ExpireTime: release.Add(24 * time.Hour),
	}
}

// choices is where a history takes its chances from: rapid, or a seeded source.
type choices interface {
	// upTo is a number from 0 to n-1.
	upTo(n int) int
}

type drawn struct{ *rapid.T }

func (d drawn) upTo(n int) int { return rapid.IntRange(0, n-1).Draw(d.T, "choice") }

// next is any revision that could follow: more than the policy allows, because a
// fold must be exact whatever the policy is.
func next(c choices, r reminder.Record) reminder.Record {
	previous := r.Footprint()
	r.Previous = &previous
	r.State, r.Reason, r.FinishTime = states[c.upTo(len(states))], "", time.Time{}
	if r.State.Terminal() {
		r.FinishTime = release.Add(time.Duration(c.upTo(2)*2) * time.Minute) // some are late
	}
	if r.State == reminder.Dead {
		r.Reason = reasons[c.upTo(len(reasons))]
	}
	r.Attempts += c.upTo(2)
	r.Retries += c.upTo(2)
	r.Suppressed += c.upTo(2)
	r.Republished += c.upTo(2)
	if c.upTo(4) == 0 {
		r.ReleaseTime = release.Add(time.Duration(c.upTo(3)) * time.Second)
	}
	return r
}

// recount counts one schedule from its whole history, by looking at the last
// revision of each reminder, and at each two neighbours for what happened.
func recount(schedule string, history []numbered) reminder.Totals {
	t := reminder.Totals{Namespace: "shop", Schedule: schedule}
	last := map[reminder.Key]reminder.Record{}
	for _, n := range history {
		r := n.record
		if r.Key.Schedule != schedule {
			continue
		}
		was, is := last[r.Key].State, r.State
		if is == reminder.Dead && was != reminder.Dead {
			t.DeadTotal++
		}
		if was == reminder.Dead && is == reminder.Scheduled {
			t.Replayed++
		}
		if r.State.Terminal() && r.Due().After(t.LastDueTime) {
			t.LastDueTime = r.Due()
		}
		if r.FinishTime.After(t.LastFinishTime) {
			t.LastFinishTime = r.FinishTime
		}
		t.Applied, last[r.Key] = n.number, r
	}
	for _, r := range last {
		count(&t, r)
	}
	return t
}

func count(t *reminder.Totals, r reminder.Record) {
	t.Attempts += int64(r.Attempts)
	t.Retried += int64(r.Retries)
	t.Suppressed += int64(r.Suppressed)
	t.Republished += int64(r.Republished)
	switch r.State {
	case reminder.Sent:
		if t.Sent++; r.Late() {
			t.SentLate++
		}
	case reminder.Dead:
		t.Dead++
		if t.ByReason == nil {
			t.ByReason = map[reminder.Reason]int64{}
		}
		t.ByReason[r.Reason]++
	case reminder.Cancelled:
		t.Cancelled++
	case reminder.Discarded:
		t.Discarded++
	default:
		if t.Outstanding == nil {
			t.Outstanding = map[string]int64{}
		}
		t.Outstanding[strconv.FormatInt(r.ReleaseTime.Unix(), 10)]++
	}
}

// newestDead are the keys that Recent must hold and those that it may hold: the
// open dead letters, by the time of their death, and what came after.
func newestDead(schedule string, history []numbered) (must, may []reminder.Key) {
	death := map[reminder.Key]uint64{}
	var deaths []uint64
	for _, n := range history {
		switch key := n.record.Key; {
		case key.Schedule != schedule:
		case n.record.State != reminder.Dead:
			delete(death, key)
		case death[key] == 0:
			death[key] = n.number
			deaths = append(deaths, n.number)
		}
	}
	for key, number := range death {
		may = append(may, key)
		if after := len(deaths) - 1 - slices.Index(deaths, number); after < 10 {
			must = append(must, key)
		}
	}
	byDeath := func(a, b reminder.Key) int { return cmp.Compare(death[a], death[b]) }
	slices.SortFunc(must, byDeath)
	slices.SortFunc(may, byDeath)
	return must, may
}
