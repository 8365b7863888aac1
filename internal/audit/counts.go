package audit

import (
	"maps"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Counts are the counters of one schedule, as the ledger, the tally or status has them.
type Counts struct {
	Sent, SentLate, Cancelled, Dead, Discarded, DeadTotal, Replayed int64
	Retried, Suppressed, Republished, Attempts, Missed              int64
	// ByReason counts the dead, Outstanding those without an outcome by the Unix second of their release.
	ByReason    map[reminder.Reason]int64
	Outstanding map[int64]int64
}

// CountsOf are the counters of a tally.
func CountsOf(t reminder.Totals) Counts {
	c := Counts{
		Sent: t.Sent, SentLate: t.SentLate, Cancelled: t.Cancelled, Dead: t.Dead, Discarded: t.Discarded, DeadTotal: t.DeadTotal, Replayed: t.Replayed,
		Retried: t.Retried, Suppressed: t.Suppressed, Republished: t.Republished, Attempts: t.Attempts, Missed: t.Missed,
		ByReason: maps.Clone(t.ByReason), Outstanding: map[int64]int64{},
	}
	for second, n := range t.Outstanding {
		at, err := strconv.ParseInt(second, 10, 64)
		if err != nil {
			at = 0 // no reminder is released then: it will differ
		}
		c.Outstanding[at] += n
	}
	return c
}

func newCounts() Counts {
	return Counts{ByReason: map[reminder.Reason]int64{}, Outstanding: map[int64]int64{}}
}

func (c *Counts) clone() Counts {
	own := *c
	own.ByReason, own.Outstanding = maps.Clone(c.ByReason), maps.Clone(c.Outstanding)
	if own.ByReason == nil {
		own.ByReason = map[reminder.Reason]int64{}
	}
	return own
}

// add counts a revision n times.
func (c *Counts) add(f reminder.Footprint, n int64) {
	switch f.State {
	case reminder.Sent:
		c.Sent += n
		if f.Late {
			c.SentLate += n
		}
	case reminder.Cancelled:
		c.Cancelled += n
	case reminder.Discarded:
		c.Discarded += n
	case reminder.Missed:
		c.Missed += n * f.Missed
	case reminder.Dead:
		c.Dead += n
		c.ByReason[f.Reason] += n
	default:
		c.Outstanding[f.ReleaseTime.Unix()] += n
	}
	c.Attempts += n * int64(f.Attempts)
	c.Retried += n * int64(f.Retries)
	c.Suppressed += n * int64(f.Suppressed)
	c.Republished += n * int64(f.Republished)
}

// step counts what a change of the ledger changes, n times: 1 does it, -1 takes it back.
func (c *Counts) step(s change, n int64) {
	c.add(s.is, n)
	if s.was != nil {
		c.add(*s.was, -n)
	}
	was, is := s.was != nil && s.was.State == reminder.Dead, s.is.State == reminder.Dead
	switch {
	case is && !was:
		c.DeadTotal += n
	case was && s.is.State == reminder.Scheduled:
		c.Replayed += n
	}
}

// Pending is the number of reminders without an outcome, due or not yet.
func (c *Counts) Pending() (n int64) {
	for _, waiting := range c.Outstanding {
		n += waiting
	}
	return n
}

// Due is the number of reminders that have fallen due by a time and were not cancelled.
func (c *Counts) Due(by time.Time) int64 {
	due := c.Sent + c.Dead + c.Discarded + c.Missed
	for second, waiting := range c.Outstanding {
		if second <= by.Unix() {
			due += waiting
		}
	}
	return due
}

// named is a counter with its name.
type named struct {
	name string
	n    int64
}

// lifetime are the counters that only grow when records expire, in a fixed order.
func (c *Counts) lifetime() []named {
	return []named{
		{"sent", c.Sent}, {"sentLate", c.SentLate}, {"cancelled", c.Cancelled}, {"dead", c.Dead}, {"discarded", c.Discarded},
		{"deadTotal", c.DeadTotal}, {"replayed", c.Replayed}, {"retried", c.Retried}, {"suppressed", c.Suppressed},
		{"republished", c.Republished}, {"attempts", c.Attempts}, {"missed", c.Missed},
	}
}
