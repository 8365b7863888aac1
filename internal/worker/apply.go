package worker

import (
	"context"
	"errors"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// apply carries a decision out: the record first, then what follows from it,
// then the acknowledgement. Each step repeats safely.
func (w *Worker) apply(ctx context.Context, j job, d delivery.Decision) error {
	switch d.Action {
	case delivery.Wait:
		return j.Nak(d.At.Sub(w.Now()))
	case delivery.Reschedule:
		return w.reschedule(ctx, j, d.At)
	case delivery.Submit:
		return w.submit(ctx, j, d.Record)
	}
	if err := w.save(ctx, &j, d.Record); err != nil {
		return err
	}
	if d.Action == delivery.Suppress {
		w.Log.Info("Suppressed a redelivered reminder", "key", j.record.Key.String(), "state", j.record.State)
	}
	failpoint.Hit(failpoint.W5Recorded)
	if d.Action == delivery.Retry {
		return w.reschedule(ctx, j, d.At)
	}
	return w.finish(ctx, j)
}

// save writes the next revision and keeps it as the job's.
func (w *Worker) save(ctx context.Context, j *job, next reminder.Record) error {
	revision, err := w.Ledger.Update(ctx, next, j.revision)
	if err != nil {
		return err
	}
	j.record, j.revision = next, revision
	return nil
}

func (w *Worker) reschedule(ctx context.Context, j job, at time.Time) error {
	if err := w.Queue.Release(ctx, j.record, j.revision, at, w.Now()); err != nil {
		return err
	}
	return w.ack(ctx, j)
}

// finish puts a dead reminder among the dead letters, then acknowledges.
func (w *Worker) finish(ctx context.Context, j job) error {
	if j.record.State == reminder.Dead {
		if err := w.DeadLetters.Publish(ctx, reminder.DeadLetterOf(j.record)); err != nil {
			return err
		}
		failpoint.Hit(failpoint.W6DeadLetter)
	}
	w.Log.Info("Reminder settled", "key", j.record.Key.String(), "state", j.record.State, "reason", j.record.Reason, "attempts", j.record.Attempts)
	return w.ack(ctx, j)
}

// ack confirms the job. A lost confirmation is harmless: the record is terminal
// or rescheduled, so that the redelivery changes nothing.
func (w *Worker) ack(ctx context.Context, j job) error {
	failpoint.Hit(failpoint.W7AckSent)
	if err := j.Ack(ctx); err != nil {
		w.Log.Warn("Acknowledging failed", "key", j.record.Key.String(), "error", err)
	}
	failpoint.Hit(failpoint.W8Acked)
	return nil
}

// submit claims the reminder and hands it to the channel.
func (w *Worker) submit(ctx context.Context, j job, claim reminder.Record) error {
	if err := w.save(ctx, &j, claim); err != nil {
		return err
	}
	failpoint.Hit(failpoint.W1Claimed)
	message, err := w.render(j)
	if err != nil {
		return w.settle(ctx, j, delivery.Refuse(j.record, reminder.InvalidMessage, err.Error(), j.policy, w.Now()))
	}
	if ctx.Err() != nil {
		return w.release(ctx, j)
	}
	if !j.policy.Dedupes {
		if err := w.save(ctx, &j, delivery.MarkSending(j.record, j.policy, w.Now())); err != nil {
			return err
		}
		failpoint.Hit(failpoint.W2Sending)
	}
	if w.lapsed(j) {
		return w.release(ctx, j)
	}
	result := w.send(ctx, j, message)
	failpoint.Hit(failpoint.W4Answered)
	err = w.settle(ctx, j, delivery.Decide(j.record, result, j.policy, w.Now()))
	if errors.Is(err, reminder.ErrConflict) {
		return w.late(ctx, j, result)
	}
	return err
}

// lapsed tells whether lease or deadline have passed since the claim, such as in
// a process that was stopped meanwhile.
func (w *Worker) lapsed(j job) bool {
	now := w.Now()
	return !now.Before(j.record.DeadlineTime) || !now.Before(j.record.LeaseUntilTime)
}

// send makes one submission, which ends before the channel's timeout and before
// the deadline.
func (w *Worker) send(ctx context.Context, j job, m reminder.Message) reminder.Result {
	ctx, cancel := context.WithTimeout(ctx, min(j.channel.SendTimeout, j.record.DeadlineTime.Sub(w.Now())))
	defer cancel()
	failpoint.Hit(failpoint.W3InCall)
	return j.channel.sender.Send(ctx, m)
}

// settle persists a decision about a claim of ours, trying again while the broker
// is away and the lease lasts: what the channel said is worth recording also
// while the worker is stopping.
func (w *Worker) settle(ctx context.Context, j job, d delivery.Decision) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.channel.Lease)
	defer cancel()
	for {
		err := w.apply(ctx, j, d)
		if !errors.Is(err, reminder.ErrUnavailable) || !sleep(ctx, pauseConflict) {
			return err
		}
	}
}

// late handles the outcome of a claim that was lost meanwhile: an acceptance is
// the truth and upgrades the record, anything else is dropped.
func (w *Worker) late(ctx context.Context, j job, result reminder.Result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.channel.Lease)
	defer cancel()
	for {
		err := w.upgrade(ctx, j, result)
		if again := errors.Is(err, reminder.ErrUnavailable) || errors.Is(err, reminder.ErrConflict); !again || !sleep(ctx, pauseConflict) {
			return err
		}
	}
}

func (w *Worker) upgrade(ctx context.Context, j job, result reminder.Result) error {
	record, revision, err := w.Ledger.Get(ctx, j.Token)
	if err != nil {
		return err
	}
	j.record, j.revision = record, revision
	next, better := delivery.Upgrade(record, result, j.policy, w.Now())
	if !better {
		w.Log.Info("Dropped the outcome of a lost claim", "key", record.Key.String(), "outcome", result.Outcome, "state", record.State)
		return j.Nak(pauseConflict)
	}
	if err := w.save(ctx, &j, next); err != nil {
		return err
	}
	w.Log.Info("Upgraded a reminder after a late acceptance", "key", record.Key.String(), "from", record.State)
	if record.State == reminder.Dead {
		if err := w.DeadLetters.Resolve(ctx, record.Key); err != nil {
			return err
		}
	}
	return w.ack(ctx, j)
}

// release gives a claim back that was not used, so that another worker need not
// wait for the end of the lease.
func (w *Worker) release(ctx context.Context, j job) error {
	return w.settle(ctx, j, delivery.Release(j.record, w.Now()))
}

// sleep waits unless ctx ends first, and tells whether it did.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
