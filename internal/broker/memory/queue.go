package memory

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Queue is as broker.Queue.
type Queue struct{ *Broker }

// EnsureConsumer creates the consumer of a channel.
func (q Queue) EnsureConsumer(_ context.Context, c reminder.Channel) error {
	_, unlock := q.lock()
	defer unlock()
	q.jobs.consumers[broker.ConsumerName(c.Namespace, c.Name)] = c
	q.tell()
	return nil
}

// Release makes a due job appear at a time.
func (q Queue) Release(_ context.Context, r reminder.Record, revision uint64, at, now time.Time) error {
	body, err := reminder.JobOf(r, revision).Encode()
	if err != nil {
		return err
	}
	clock, unlock := q.lock()
	defer unlock()
	if at.After(now) {
		q.jobs.timers[r.Key.Subject()] = timer{at, body}
		q.jobs.fire(clock)
		q.tell()
		return nil
	}
	id := r.Key.Token() + "/" + strconv.FormatUint(revision, 10)
	if seen, known := q.jobs.seen[id]; known && clock.Before(seen.Add(dedupeWindow)) {
		return nil
	}
	q.jobs.seen[id] = clock
	q.jobs.store(r.Key.Subject(), body, clock)
	q.tell()
	return nil
}

// Standing tells whether a message stands for the reminder.
func (q Queue) Standing(_ context.Context, key reminder.Key) (bool, error) {
	_, unlock := q.lock()
	defer unlock()
	_, timed := q.jobs.timers[key.Subject()]
	return timed || q.jobs.standing(key.Subject()), nil
}

// Restore publishes a due job unless one waits or is in flight.
func (q Queue) Restore(_ context.Context, r reminder.Record, revision uint64) error {
	body, err := reminder.JobOf(r, revision).Encode()
	if err != nil {
		return err
	}
	now, unlock := q.lock()
	defer unlock()
	if !q.jobs.standing(r.Key.Subject()) {
		q.jobs.store(r.Key.Subject(), body, now)
		q.tell()
	}
	return nil
}

// Withdraw removes the messages of one reminder.
func (q Queue) Withdraw(_ context.Context, key reminder.Key) error {
	q.drop(func(tail string) bool { return tail == key.Subject() })
	return nil
}

// WithdrawSchedule removes the messages of all reminders of a schedule.
func (q Queue) WithdrawSchedule(_ context.Context, namespace, schedule string) error {
	q.drop(func(tail string) bool {
		part := strings.Split(tail, ".")
		return part[0] == reminder.Escape(namespace) && part[2] == reminder.Escape(schedule)
	})
	return nil
}

// Lose removes every message: what a purge by hand does.
func (q Queue) Lose() { q.drop(func(string) bool { return true }) }

func (q Queue) drop(match func(string) bool) {
	_, unlock := q.lock()
	defer unlock()
	q.jobs.drop(match)
	q.tell()
}

// Peek answers reminder.ErrNotFound: here nobody takes a job out of turn.
func (q Queue) Peek(_ context.Context, namespace, _, schedule string, _ uint64) (broker.Delivery, error) {
	return broker.Delivery{}, fmt.Errorf("look ahead for %s/%s: %w", namespace, schedule, reminder.ErrNotFound)
}

// Fetch calls fn with due jobs of a channel as they come, until there were as many as
// limit, or ctx ends.
func (q Queue) Fetch(ctx context.Context, namespace, channel string, limit int, fn func(broker.Delivery)) error {
	for n := 0; n < limit && ctx.Err() == nil; {
		changed := q.Changed()
		msg, again, err := q.Take(namespace, channel)
		if err != nil {
			return err
		}
		if msg != nil {
			fn(broker.DeliveryOf(msg, time.Minute))
			n++
			continue
		}
		Await(ctx, changed, again)
	}
	return ctx.Err()
}

// Await waits for a change, for a time (zero: for none) or for the end of ctx.
func Await(ctx context.Context, changed <-chan struct{}, at time.Time) {
	var ripe <-chan time.Time
	if !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		ripe = timer.C
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-ripe:
	}
}

// Take delivers one due job of a channel; nil where none waits, with the time of
// the next one, if that is known. It answers reminder.ErrLost without a consumer.
func (q Queue) Take(namespace, channel string) (*Msg, time.Time, error) {
	now, unlock := q.lock()
	defer unlock()
	c, ok := q.jobs.consumer(namespace, channel)
	if !ok {
		return nil, time.Time{}, fmt.Errorf("consume channel %s/%s: %w", namespace, channel, reminder.ErrLost)
	}
	d, again := q.jobs.take(c, now)
	if d == nil {
		return nil, again, nil
	}
	return &Msg{broker: q.Broker, job: *d, wait: c.AckWait}, time.Time{}, nil
}
