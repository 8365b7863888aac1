package controllers

import (
	"context"
	"errors"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// replayOperation is one ReminderReplay at work.
type replayOperation struct {
	Options
	order delivery.ReplayOrder
	facts delivery.Facts
}

// look reads the ledger for what the object selects and for what it has done.
func (o replayOperation) look(ctx context.Context, obj *v1alpha1.ReminderReplay) (*survey, error) {
	s := newSurvey(obj)
	err := o.Broker.Ledger.Of(ctx, obj.Namespace, obj.Spec.ScheduleName, func(rev broker.Revision) error {
		s.add(rev)
		return nil
	})
	return s, in(errLedger, err)
}

// act handles one dead letter: the record first, which makes it happen once, then what
// follows from it. Where somebody else was faster, nothing is done: the survey at the
// end tells what became of it.
func (o replayOperation) act(ctx context.Context, one deadOne) (done bool, err error) {
	for range tries {
		have, revision, err := o.Broker.Ledger.Get(ctx, one.token)
		if errors.Is(err, reminder.ErrNotFound) {
			return false, nil // the store has forgotten it
		}
		if err != nil {
			return false, in(errLedger, err)
		}
		if _, handled := have.HandledBy(o.order.UID); handled || !have.FinishTime.Equal(one.record.FinishTime) {
			return false, nil // by another controller; or it has died again meanwhile
		}
		next, refusal := delivery.Replay(have, o.order, o.facts, o.Broker.Retention(), o.Now().UTC())
		if refusal != "" {
			return false, nil
		}
		revision, err = o.Broker.Ledger.Update(ctx, next, revision)
		if err == nil {
			o.log(ctx, next)
			failpoint.Hit(failpoint.R1Recorded)
			return true, o.follow(ctx, next, revision)
		}
		if !errors.Is(err, reminder.ErrConflict) {
			return false, in(errLedger, err)
		}
	}
	return false, nil
}

// follow does what follows from a record that was replayed or discarded: its dead
// letter goes, and a due job comes, in the same way as when it was planned. The
// letter first: once the job is out, another may be written.
func (o replayOperation) follow(ctx context.Context, r reminder.Record, revision uint64) error {
	if err := o.Broker.DeadLetters.Resolve(ctx, r.Key); err != nil {
		return err
	}
	failpoint.Hit(failpoint.R2Resolved)
	if r.State != reminder.Scheduled {
		return nil
	}
	var err error
	if now := o.Now().UTC(); r.ReleaseTime.After(now) {
		err = o.Broker.Queue.Release(ctx, r, revision, r.ReleaseTime, now)
	} else {
		err = o.Broker.Queue.Restore(ctx, r, revision)
	}
	failpoint.Hit(failpoint.R3Released)
	return in(errJobs, err)
}

// resume does again what may not have followed when this object's operation was cut
// off. What somebody has changed since needs nothing.
func (o replayOperation) resume(ctx context.Context, unfinished []deadOne) error {
	for _, one := range unfinished {
		have, revision, err := o.Broker.Ledger.Get(ctx, one.token)
		if errors.Is(err, reminder.ErrNotFound) {
			continue
		}
		if err != nil {
			return in(errLedger, err)
		}
		if have.State != one.record.State || !have.UpdateTime.Equal(one.record.UpdateTime) {
			continue
		}
		if err := o.follow(ctx, have, revision); err != nil {
			return err
		}
	}
	return nil
}

// log writes the audit line of one reminder: by which object, when and why.
func (o replayOperation) log(ctx context.Context, r reminder.Record) {
	entry := r.Replays[len(r.Replays)-1]
	ctrl.LoggerFrom(ctx).Info("Handled a dead letter", "key", r.Key.String(), "action", entry.Action, "by", entry.Name, "uid", entry.UID,
		"time", entry.Time.Format(time.RFC3339Nano), "why", entry.Why, "count", len(r.Replays), "reason", entry.Reason, "deadlineTime", entry.DeadlineTime.Format(time.RFC3339))
}
