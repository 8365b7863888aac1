package worker

import (
	"context"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/limit"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// dispatch hands jobs to handlers as their turn comes, until ctx ends.
func (w *Worker) dispatch(ctx, work context.Context) error {
	if err := w.awaitChannel(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		t, wait := w.desk.next()
		if t != nil {
			signal(w.freed)
			w.running.Go(func() { w.handle(work, t) })
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-w.desk.changed:
		case <-timer.C:
		}
	}
	return ctx.Err()
}

// told tells the desk the outcome of a submission. It answers the result as the
// reminder is to be judged by it.
func (w *Worker) told(j job, result reminder.Result) reminder.Result {
	s := w.desk.told(j.turn, result)
	switch pause := s.after; {
	case s.began():
		w.Log.Warn("The channel was paused", "channel", w.Channel, "cause", pause.Cause, "until", pause.UntilTime, "diagnostic", pause.Diagnostic)
	case s.ended():
		w.Log.Info("The channel goes on", "channel", w.Channel, "paused", w.Now().Sub(s.before.SinceTime))
	}
	for _, t := range s.back {
		w.pause(t.Delivery, giveBackFor(*s.after, t.deadline, w.Now()))
	}
	if j.turn.may == limit.Probe && result.Fault == reminder.FaultGone {
		// It was known before: the reminder only went to see.
		result.Outcome, result.Reason, result.Fault = reminder.Transient, "", reminder.FaultChannel
	}
	if s.after != nil && result.Fault == reminder.FaultChannel {
		result.RetryAfter = max(s.after.UntilTime.Sub(w.Now()), time.Second)
	}
	return result
}

// giveWay gives a job back because the channel was paused since its turn came.
func (w *Worker) giveWay(j job) error {
	p := w.desk.pause()
	if p == nil {
		return j.Nak(pauseConflict)
	}
	return j.Nak(giveBackFor(*p, j.record.DeadlineTime, w.Now()))
}
