package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Limits and windows of the jobs stream, as internal/broker sets them.
const (
	maxAckPending = 5000
	dedupeWindow  = 2 * time.Minute
	duePrefix     = "reminders.0.due."
)

// job is a message on a due subject.
type job struct {
	sequence uint64
	tail     string // of the subject
	body     []byte
	stored   time.Time
	count    uint64
	// out: delivered, and not acknowledged. until is when it is delivered again.
	out   bool
	until time.Time
}

// timer is a message schedule.
type timer struct {
	at   time.Time
	body []byte
}

// jobs is the stream with its consumers.
type jobs struct {
	last      uint64
	due       []*job
	timers    map[string]timer
	seen      map[string]time.Time // message ids
	consumers map[string]reminder.Channel
}

func newJobs() jobs {
	return jobs{timers: map[string]timer{}, seen: map[string]time.Time{}, consumers: map[string]reminder.Channel{}}
}

func (j *jobs) store(tail string, body []byte, at time.Time) {
	j.last++
	j.due = append(j.due, &job{sequence: j.last, tail: tail, body: body, stored: at})
}

// fire turns message schedules whose time has come into due jobs, in their order.
func (j *jobs) fire(now time.Time) {
	var ripe []string
	for tail, t := range j.timers {
		if !t.at.After(now) {
			ripe = append(ripe, tail)
		}
	}
	slices.SortFunc(ripe, func(a, b string) int { return cmp.Or(j.timers[a].at.Compare(j.timers[b].at), cmp.Compare(a, b)) })
	for _, tail := range ripe {
		j.store(tail, j.timers[tail].body, now)
		delete(j.timers, tail)
	}
}

func (j *jobs) standing(tail string) bool {
	return slices.ContainsFunc(j.due, func(d *job) bool { return d.tail == tail })
}

// drop removes the messages that match.
func (j *jobs) drop(match func(tail string) bool) {
	j.due = slices.DeleteFunc(j.due, func(d *job) bool { return match(d.tail) })
	for tail := range j.timers {
		if match(tail) {
			delete(j.timers, tail)
		}
	}
}

func (j *jobs) find(sequence uint64) *job {
	i := slices.IndexFunc(j.due, func(d *job) bool { return d.sequence == sequence })
	if i < 0 {
		return nil
	}
	return j.due[i]
}

func (j *jobs) remove(sequence uint64) {
	j.due = slices.DeleteFunc(j.due, func(d *job) bool { return d.sequence == sequence })
}

// take delivers the oldest job that waits for a consumer, or tells when to look
// again; a zero time means not before a change.
func (j *jobs) take(c reminder.Channel, now time.Time) (d *job, again time.Time) {
	prefix := reminder.Escape(c.Namespace) + "." + reminder.Escape(c.Name) + "."
	pending := 0
	sooner := func(at time.Time) {
		if again.IsZero() || at.Before(again) {
			again = at
		}
	}
	for _, one := range j.due {
		switch {
		case !strings.HasPrefix(one.tail, prefix):
		case one.out && one.until.After(now):
			pending++
			sooner(one.until)
		case d == nil:
			d = one
		}
	}
	if d == nil || pending >= maxAckPending {
		for tail, t := range j.timers {
			if strings.HasPrefix(tail, prefix) {
				sooner(t.at)
			}
		}
		return nil, again
	}
	d.out, d.until = true, now.Add(c.AckWait)
	d.count++
	return d, time.Time{}
}

func (j *jobs) consumer(namespace, channel string) (reminder.Channel, bool) {
	c, ok := j.consumers[broker.ConsumerName(namespace, channel)]
	return c, ok
}
