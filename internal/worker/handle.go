package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
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

// errUnreadable: the job cannot be read by anyone, now or later.
var errUnreadable = errors.New("unreadable due job")

// job is one delivered due job with what was read for it.
type job struct {
	broker.Delivery
	turn     *turn
	clock    func() time.Time
	record   reminder.Record
	revision uint64
	schedule reminder.Schedule
	policy   delivery.Policy
	channel  *open
	receiver reminder.Recipient
}

// now is the clock of everything that is decided about the job.
func (j job) now() time.Time { return j.clock() }

// handle takes one due job to its acknowledgement, or gives it back. A panic is
// a bug of ours or a poisonous reminder: it must not take the others down.
func (w *Worker) handle(ctx context.Context, t *turn) {
	d := t.Delivery
	defer signal(w.scouted)
	defer w.extend(d)()
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("Handling a due job panicked", "token", d.Token, "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			w.pause(d, pauseUnavailable)
		}
	}()
	defer func() {
		if t != nil {
			w.desk.done(t)
		}
	}()
	failpoint.Hit(failpoint.W0Fetched)
	err := w.work(ctx, t)
	if moved, ok := errors.AsType[*movedDeadlineError](err); ok {
		w.desk.again(t, moved.to)
		t = nil // it is in line again
		return
	}
	switch {
	case err == nil:
	case errors.Is(err, reminder.ErrNewerSchema):
		w.Log.Warn("Held what a newer version wrote", "token", d.Token, "error", err)
		w.pause(d, pauseNewer)
	case errors.Is(err, errUnreadable):
		w.reject(ctx, d, err)
	case errors.Is(err, reminder.ErrConflict):
		w.pause(d, pauseConflict)
	default:
		w.Log.Warn("Handling a due job failed", "token", d.Token, "error", err)
		w.pause(d, pauseUnavailable)
	}
}

// extend tells the broker that the job is in hand, for as long as it is; also
// again after the broker was away.
func (w *Worker) extend(d broker.Delivery) (stop func()) {
	tick := time.NewTicker(w.channel.Load().AckWait / 3)
	done, end := context.WithCancel(context.Background())
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-done.Done():
				return
			case <-tick.C:
			}
			if done.Err() != nil {
				return // not one more, after a pause
			}
			_ = d.Working() // the next one may get through
		}
	}()
	return end
}

func (w *Worker) work(ctx context.Context, t *turn) error {
	j, err := w.read(ctx, t.Delivery)
	if err != nil {
		return err
	}
	j.turn = t
	if t.Ahead && j.record.State.Terminal() {
		return nil // whoever ended it removes the job, or the consumer delivers it again
	}
	facts, err := w.facts(ctx, &j)
	if err != nil {
		return w.expired(ctx, j, err)
	}
	facts.Paused = w.desk.pause()
	return w.apply(ctx, j, w.admit(ctx, j, facts))
}

// movedDeadlineError: the envelope of a job was past its deadline, its record is not.
type movedDeadlineError struct{ to time.Time }

// Error names the time.
func (m *movedDeadlineError) Error() string {
	return "the deadline is " + m.to.UTC().Format(time.RFC3339)
}

// clockOf is our clock, put forward to the broker's time of the job where it is
// behind: a slow clock neither holds up what the broker has released, nor sends
// after the deadline, nor schedules retries in the past.
func (w *Worker) clockOf(d broker.Delivery) func() time.Time {
	behind := max(d.StoreTime.Sub(w.Now()), 0)
	return func() time.Time { return w.Now().Add(behind) }
}

// read finds the record that the job is a hint for.
func (w *Worker) read(ctx context.Context, d broker.Delivery) (job, error) {
	if d.Malformed {
		return job{}, fmt.Errorf("%w: the subject names no reminder", errUnreadable)
	}
	envelope, err := reminder.DecodeJob(d.Body)
	if errors.Is(err, reminder.ErrMalformed) {
		return job{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if err != nil {
		return job{}, err
	}
	if envelope.Key.Token() != d.Token || envelope.Key.Channel != w.Channel {
		return job{}, fmt.Errorf("%w: job and subject name different reminders", errUnreadable)
	}
	record, revision, err := w.Ledger.Get(ctx, d.Token)
	switch {
	case errors.Is(err, reminder.ErrNotFound) && d.Count > missingTries:
		return job{}, fmt.Errorf("%w: the ledger has no record of it", errUnreadable)
	case errors.Is(err, reminder.ErrMalformed):
		return job{}, fmt.Errorf("%w: its record is unreadable: %w", errUnreadable, err)
	case err != nil:
		return job{}, err
	}
	return job{Delivery: d, clock: w.clockOf(d), record: record, revision: revision, channel: w.channel.Load()}, nil
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
	if err := d.Drop(ctx); err != nil {
		w.Log.Warn("Dropping a due job failed", "token", d.Token, "error", err)
	}
}

// expired ends a reminder whose facts could not be read until its deadline;
// before that it is given back.
func (w *Worker) expired(ctx context.Context, j job, cause error) error {
	now := j.now()
	if !errors.Is(cause, errUnproven) || now.Before(j.record.DeadlineTime) {
		return cause
	}
	j.policy = delivery.Policy{Retention: w.Retention, Lease: j.channel.Lease, Reconciles: j.channel.ReconcileURL != ""}
	return w.apply(ctx, j, w.admit(ctx, j, delivery.Facts{Epoch: j.record.Epoch, Paused: w.desk.pause()}))
}

func (w *Worker) pause(d broker.Delivery, delay time.Duration) {
	if err := d.Nak(delay); err != nil {
		w.Log.Warn("Giving a job back failed", "token", d.Token, "error", err)
	}
}
