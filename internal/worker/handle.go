package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Pauses before a job is tried again that could not be handled now. They cost
// the reminder nothing: only submissions count.
const (
	pauseConflict    = 100 * time.Millisecond
	pauseUnavailable = 2 * time.Second
	pauseNewer       = 30 * time.Second
)

// job is one delivered due job with what was read for it.
type job struct {
	broker.Delivery
	record   reminder.Record
	revision uint64
	schedule reminder.Schedule
	policy   delivery.Policy
	channel  *open
	receiver reminder.Recipient
}

// handle takes one due job to its acknowledgement, or gives it back. A panic is
// a bug of ours or a poisonous reminder: it must not take the others down.
func (w *Worker) handle(ctx context.Context, d broker.Delivery) {
	w.inFlight.Add(1)
	defer w.inFlight.Add(-1)
	defer w.extend(d)()
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("Handling a due job panicked", "token", d.Token, "panic", fmt.Sprintf("%T", p))
			w.pause(d, pauseUnavailable)
		}
	}()
	failpoint.Hit(failpoint.W0Fetched)
	err := w.work(ctx, d)
	switch {
	case err == nil:
	case errors.Is(err, reminder.ErrNewerSchema):
		w.Log.Warn("Held what a newer version wrote", "token", d.Token, "error", err)
		w.pause(d, pauseNewer)
	case errors.Is(err, reminder.ErrMalformed):
		w.reject(ctx, d, err)
	case errors.Is(err, reminder.ErrConflict):
		w.pause(d, pauseConflict)
	default:
		w.Log.Warn("Handling a due job failed", "token", d.Token, "error", err)
		w.pause(d, pauseUnavailable)
	}
}

// extend tells the broker that the job is in hand, for as long as it is.
func (w *Worker) extend(d broker.Delivery) (stop func()) {
	every := w.channel.Load().AckWait / 3
	var timer *time.Timer
	timer = time.AfterFunc(every, func() {
		if d.Working() == nil {
			timer.Reset(every)
		}
	})
	return func() { timer.Stop() }
}

func (w *Worker) work(ctx context.Context, d broker.Delivery) error {
	j, err := w.read(ctx, d)
	if err != nil {
		return err
	}
	facts, err := w.facts(ctx, &j)
	if err != nil {
		return w.expired(ctx, j, err)
	}
	return w.apply(ctx, j, delivery.Admit(j.record, facts, j.policy, w.owner, w.now(d)))
}

// now is the later of our clock and the broker's time of the job, so that a
// clock that is slow does not hold up what the broker has released.
func (w *Worker) now(d broker.Delivery) time.Time {
	now := w.Now()
	if d.StoreTime.After(now) {
		return d.StoreTime
	}
	return now
}

// read finds the record that the job is a hint for.
func (w *Worker) read(ctx context.Context, d broker.Delivery) (job, error) {
	if d.Malformed {
		return job{}, fmt.Errorf("subject names no reminder: %w", reminder.ErrMalformed)
	}
	envelope, err := reminder.DecodeJob(d.Body)
	if err != nil {
		return job{}, err
	}
	if envelope.Key.Token() != d.Token || envelope.Key.Channel != w.Channel {
		return job{}, fmt.Errorf("job and subject name different reminders: %w", reminder.ErrMalformed)
	}
	record, revision, err := w.Ledger.Get(ctx, d.Token)
	if errors.Is(err, reminder.ErrNotFound) && d.Count > missingTries {
		return job{}, fmt.Errorf("the ledger has no record of it: %w", reminder.ErrMalformed)
	}
	if err != nil {
		return job{}, err
	}
	return job{Delivery: d, record: record, revision: revision, channel: w.channel.Load()}, nil
}

// missingTries is how often a job without a record is given back before it is
// rejected: a follower that answers the read may be behind.
const missingTries = 5

// reject ends a job that nobody can read. If the ledger holds a record of it, the
// audit sweep publishes a good one.
func (w *Worker) reject(ctx context.Context, d broker.Delivery, cause error) {
	letter := unreadable(w.Namespace, w.Channel, d, cause, w.Now())
	if err := w.DeadLetters.Publish(ctx, letter); err != nil {
		w.Log.Warn("Publishing a dead letter failed", "token", d.Token, "error", err)
		w.pause(d, pauseUnavailable)
		return
	}
	w.Log.Error("Rejected an unreadable due job", "token", d.Token, "sequence", d.Sequence, "error", cause)
	if err := d.Drop(); err != nil {
		w.Log.Warn("Dropping a due job failed", "token", d.Token, "error", err)
	}
}

// expired ends a reminder whose facts could not be read until its deadline;
// before that it is given back.
func (w *Worker) expired(ctx context.Context, j job, cause error) error {
	now := w.now(j.Delivery)
	if !errors.Is(cause, errUnproven) || now.Before(j.record.DeadlineTime) || j.record.State.Terminal() {
		return cause
	}
	j.policy = delivery.Policy{Retry: reminder.Retry{Attempts: 1}, Dedupes: j.channel.Dedupes, Lease: j.channel.Lease, Retention: w.Retention}
	return w.apply(ctx, j, delivery.Admit(j.record, delivery.Facts{Epoch: j.record.Epoch}, j.policy, w.owner, now))
}

func (w *Worker) pause(d broker.Delivery, delay time.Duration) {
	if err := d.Nak(delay); err != nil {
		w.Log.Warn("Giving a job back failed", "token", d.Token, "error", err)
	}
}
