package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// submit claims the reminder and hands it to the channel.
func (w *Worker) submit(ctx context.Context, j job, claim reminder.Record) error {
	switch {
	case j.turn.may == "":
		return &movedDeadlineError{j.record.DeadlineTime}
	case !w.desk.still(j.turn):
		return w.giveWay(j)
	}
	if err := w.save(ctx, &j, claim); err != nil {
		return err
	}
	failpoint.HitIn(failpoint.W1Claimed, claim.Key.Schedule)
	message, err := w.render(j)
	if err != nil {
		return w.settle(ctx, j, delivery.Refuse(j.record, reminder.InvalidMessage, err.Error(), j.policy, j.now()))
	}
	if !j.policy.Dedupes && ctx.Err() == nil && !j.lapsed() { // a mark that nothing follows parks it
		if err := w.mark(ctx, &j); err != nil {
			return err
		}
		failpoint.Hit(failpoint.W2Sending)
	}
	if ctx.Err() != nil || j.lapsed() {
		return w.release(ctx, j)
	}
	result := w.told(j, w.send(ctx, j, message))
	failpoint.Hit(failpoint.W4Answered)
	err = w.settle(ctx, j, w.decide(ctx, j, result))
	if errors.Is(err, reminder.ErrConflict) {
		return w.late(ctx, j, result)
	}
	return err
}

// mark writes that a submission is about to begin. It insists, because a mark
// that was stored without our knowing parks a reminder that nobody has sent.
func (w *Worker) mark(ctx context.Context, j *job) error {
	next := delivery.MarkSending(j.record, j.policy, j.now())
	return w.insist(ctx, *j, lasting, func(ctx context.Context) error { return w.save(ctx, j, next) })
}

// lapsed tells whether the deadline has passed since the claim, such as in a process
// that was stopped meanwhile, or whether the submission could outlast the lease:
// what another worker then hears of the channel must be its last word.
func (j job) lapsed() bool {
	now := j.now()
	return !now.Before(j.record.DeadlineTime) || !now.Add(j.channel.SendTimeout).Before(j.record.LeaseUntilTime)
}

// send makes one submission, which ends before the channel's timeout and before
// the deadline. A sender that panics may have sent.
func (w *Worker) send(ctx context.Context, j job, m reminder.Message) (result reminder.Result) {
	ctx, cancel := context.WithTimeout(ctx, min(j.channel.SendTimeout, j.record.DeadlineTime.Sub(j.now())))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("Sending panicked", "key", m.Key.String(), "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			result = reminder.Result{Outcome: reminder.Unknown, Diagnostic: "the sender panicked"}
		}
	}()
	failpoint.Hit(failpoint.W3InCall)
	return j.channel.sender.Send(ctx, m)
}

// settle persists a decision about a claim of ours: what the channel said is worth
// recording also while the broker is away or the worker is stopping.
func (w *Worker) settle(ctx context.Context, j job, d delivery.Decision) error {
	return w.insist(ctx, j, lasting, func(ctx context.Context) error { return w.apply(ctx, j, d) })
}

// release gives a claim back that was not used, so that another worker need not
// wait for the end of the lease.
func (w *Worker) release(ctx context.Context, j job) error {
	return w.settle(ctx, j, delivery.Release(j.record, j.now()))
}

// late handles the outcome of a claim that was lost meanwhile: an acceptance is
// the truth and upgrades the record, anything else is dropped.
func (w *Worker) late(ctx context.Context, j job, result reminder.Result) error {
	contended := func(err error) bool { return lasting(err) && !errors.Is(err, reminder.ErrConflict) }
	return w.insist(ctx, j, contended, func(ctx context.Context) error { return w.upgrade(ctx, j, result) })
}

func (w *Worker) upgrade(ctx context.Context, j job, result reminder.Result) error {
	var err error
	if j.record, j.revision, err = w.Ledger.Get(ctx, j.Token); err != nil {
		return err
	}
	found := j.record.State
	next, better := delivery.Upgrade(j.record, result, j.policy, j.now())
	switch {
	case better:
		if err := w.save(ctx, &j, next); err != nil {
			return err
		}
		w.Log.Info("Upgraded a reminder after a late acceptance", "key", j.record.Key.String(), "from", found)
	case found != reminder.Sent || result.Outcome != reminder.Accepted:
		w.Log.Info("Dropped the outcome of a lost claim", "key", j.record.Key.String(), "outcome", result.Outcome, "state", found)
		return j.Nak(pauseConflict)
	}
	if j.record.Previous != nil && j.record.Previous.State == reminder.Dead {
		if err := w.DeadLetters.Resolve(ctx, j.record.Key); err != nil {
			return err
		}
	}
	w.ack(ctx, j)
	return nil
}

// insist repeats what must not be left undone, as long as a lease lasts, until it
// succeeds or fails for good. It goes on while the worker is stopping.
func (w *Worker) insist(ctx context.Context, j job, final func(error) bool, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.channel.Lease)
	defer cancel()
	for {
		err := do(ctx)
		if err == nil || final(err) || !sleep(ctx, pauseConflict) {
			return err
		}
	}
}

// lasting tells errors that trying again does not change.
func lasting(err error) bool {
	for _, kind := range []error{reminder.ErrConflict, reminder.ErrNotFound, reminder.ErrMalformed, reminder.ErrNewerSchema} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
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
