package worker

import (
	"context"
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
		return j.Nak(d.At.Sub(j.now()))
	case delivery.Reschedule:
		// By a message schedule in any case: published at once, a job for the same
		// revision could be taken for a duplicate of the one in hand.
		return w.reschedule(ctx, j, d.At, d.At.Add(-1))
	case delivery.Submit:
		return w.submit(ctx, j, d.Record)
	case delivery.Suppress:
		return w.suppress(ctx, j, d.Record)
	case delivery.Settle, delivery.Retry, delivery.Ask: // Ask never comes here
	}
	if err := w.save(ctx, &j, d.Record); err != nil {
		return err
	}
	failpoint.Hit(failpoint.W5Recorded)
	if d.Action == delivery.Retry {
		return w.reschedule(ctx, j, d.At, j.now())
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

func (w *Worker) reschedule(ctx context.Context, j job, at, now time.Time) error {
	if err := w.Queue.Release(ctx, j.record, j.revision, at, now); err != nil {
		return err
	}
	w.ack(ctx, j)
	return nil
}

// suppress counts a redelivery. The dead letter comes first: who wrote the record
// may not have come to it, and nothing is counted until it is there.
func (w *Worker) suppress(ctx context.Context, j job, next reminder.Record) error {
	if err := w.bury(ctx, j.record); err != nil {
		return err
	}
	if err := w.save(ctx, &j, next); err != nil {
		return err
	}
	failpoint.Hit(failpoint.W5Recorded)
	w.Log.Info("Suppressed a redelivered reminder", "key", j.record.Key.String(), "state", j.record.State)
	w.ack(ctx, j)
	return nil
}

// finish puts a dead reminder among the dead letters, then acknowledges.
func (w *Worker) finish(ctx context.Context, j job) error {
	if err := w.bury(ctx, j.record); err != nil {
		return err
	}
	w.Log.Info("Reminder settled", "key", j.record.Key.String(), "state", j.record.State, "reason", j.record.Reason, "attempts", j.record.Attempts)
	w.ack(ctx, j)
	return nil
}

// bury publishes the dead letter of a reminder, if it is dead.
func (w *Worker) bury(ctx context.Context, r reminder.Record) error {
	if r.State != reminder.Dead {
		return nil
	}
	if err := w.DeadLetters.Publish(ctx, reminder.DeadLetterOf(r)); err != nil {
		return err
	}
	failpoint.Hit(failpoint.W6DeadLetter)
	return nil
}

// ack confirms the job. A lost confirmation is harmless: the record is terminal
// or rescheduled, so that the redelivery changes nothing.
func (w *Worker) ack(ctx context.Context, j job) {
	failpoint.Hit(failpoint.W7AckSent)
	if err := j.Ack(ctx); err != nil {
		w.Log.Warn("Acknowledging failed", "key", j.record.Key.String(), "error", err)
	}
	failpoint.Hit(failpoint.W8Acked)
}
