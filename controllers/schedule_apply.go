package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// apply carries a plan out in this order: the registry, so that workers judge by
// the new spec; the audience; what the new spec no longer covers; then record
// and message of each new reminder. A crash in between leaves less done, and the
// next pass does the rest. It answers how many of the planned reminders have no
// outcome yet.
func (r *scheduleReconciler) apply(ctx context.Context, obj *v1alpha1.ReminderSchedule, p schedulePlan) (int64, error) {
	// Workers that still judge by the older entry do not mind a newer epoch; those that
	// judge by the new one must find it.
	err := inParallel(ctx, slices.Values(p.adopted), func(ctx context.Context, one delivery.Planned) error {
		_, _, err := r.replan(ctx, one, r.Now().UTC())
		return in(errLedger, err)
	})
	if err != nil {
		return 0, err
	}
	revision, err := r.register(ctx, p)
	if err != nil {
		return 0, err
	}
	if err := r.Broker.Audience.Replace(ctx, obj.Namespace, obj.Name, p.entry.AudienceHash, p.recipients); err != nil {
		return 0, err
	}
	if p.withdraw {
		if err := r.Broker.Queue.WithdrawSchedule(ctx, obj.Namespace, obj.Name); err != nil {
			return 0, in(errJobs, err)
		}
	}
	if p.settle {
		if err := r.cancelOutdated(ctx, p.entry, p.judge); err != nil {
			return 0, err
		}
	}
	var open atomic.Int64
	err = inParallel(ctx, p.reminders, func(ctx context.Context, one delivery.Planned) error {
		unsettled, err := r.planOne(ctx, one)
		if unsettled {
			open.Add(1)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	failpoint.HitIn(failpoint.C4Planned, obj.Name)
	if p.entry.Cursor.Open() {
		p.entry.Cursor = p.entry.Cursor.Close()
		if _, err := r.Broker.Registry.PutSchedule(ctx, p.entry, revision, 0); err != nil {
			return 0, err
		}
	}
	r.keepProgress(obj, p.done)
	return open.Load(), nil
}

// register writes the entry, so that workers judge by the new spec and another pass
// knows what this one has begun; and then the records of what is given up. It
// answers the entry's revision.
func (r *scheduleReconciler) register(ctx context.Context, p schedulePlan) (uint64, error) {
	revision := p.revision
	if p.write {
		var err error
		if revision, err = r.Broker.Registry.PutSchedule(ctx, p.entry, p.revision, 0); err != nil {
			return 0, err
		}
		failpoint.HitIn(failpoint.C1Registered, p.entry.Name)
	}
	for _, run := range p.gaps {
		now := r.Now().UTC()
		_, err := r.Broker.Ledger.Create(ctx, delivery.Missed(run.key, run.epoch, run.gap, r.Broker.Retention(), now))
		if err != nil && !errors.Is(err, reminder.ErrExists) {
			return 0, in(errLedger, err)
		}
	}
	return revision, nil
}

// planOne writes the record, then the message: a crash in between leaves a
// record without a message, which the next pass or the audit sweep repairs; the
// other way round a worker would find a job without a record. It tells whether the
// reminder has no outcome yet.
func (r *scheduleReconciler) planOne(ctx context.Context, p delivery.Planned) (open bool, err error) {
	now := r.Now().UTC()
	record := delivery.Plan(p, r.Broker.Retention(), now)
	revision, err := r.Broker.Ledger.Create(ctx, record)
	if errors.Is(err, reminder.ErrExists) {
		record, revision, err = r.replan(ctx, p, now)
	}
	if err != nil || record.State != reminder.Scheduled {
		return err == nil && !record.State.Terminal(), in(errLedger, err)
	}
	failpoint.HitIn(failpoint.C2Recorded, p.Key.Schedule)
	if record.ReleaseTime.After(now) {
		err = r.Broker.Queue.Release(ctx, record, revision, record.ReleaseTime, now)
	} else {
		err = r.Broker.Queue.Restore(ctx, record, revision)
	}
	failpoint.HitIn(failpoint.C3Released, p.Key.Schedule)
	return true, in(errJobs, err)
}

// replan handles a slot that has a record already, which workers, the audit sweep
// and another controller may be changing.
func (r *scheduleReconciler) replan(ctx context.Context, p delivery.Planned, now time.Time) (reminder.Record, uint64, error) {
	for range tries {
		have, revision, err := r.Broker.Ledger.Get(ctx, p.Key.Token())
		if errors.Is(err, reminder.ErrNotFound) {
			continue // a follower that is behind has answered
		}
		if err != nil {
			return have, 0, err
		}
		next, changed := delivery.Replan(have, p, r.Broker.Retention(), now)
		if !changed {
			return have, revision, nil
		}
		revision, err = r.Broker.Ledger.Update(ctx, next, revision)
		if !errors.Is(err, reminder.ErrConflict) {
			return next, revision, err
		}
	}
	return reminder.Record{}, 0, fmt.Errorf("plan %s again: %w", p.Key, reminder.ErrConflict)
}

// hold is the pass over a schedule that cannot be planned as it is written. What
// was planned before stands, spec.suspend is obeyed all the same, and status goes
// on counting.
func (r *scheduleReconciler) hold(ctx context.Context, obj *v1alpha1.ReminderSchedule, s condition.Summary) (report, error) {
	if r.Broker.Ready() != nil {
		return report{summary: s, again: r.StatusInterval}, nil // what is wrong with the spec comes first
	}
	entry, revision, err := r.registered(ctx, obj)
	if err != nil {
		return report{}, err
	}
	if entry.UID == string(obj.UID) && !entry.Deleted && obj.Spec.Suspend {
		if entry, err = r.suspend(ctx, obj, entry, revision); err != nil {
			return report{}, err
		}
	}
	if s.Reason() == v1alpha1.ReasonNeverOccurs {
		if err := r.drop(ctx, obj, entry); err != nil {
			return report{}, err
		}
	}
	return r.describeHeld(ctx, obj, entry, s)
}

// drop cancels what an entry has planned for later where the same spec has no
// occurrence any more, because its calendar has changed. Nothing is taken for planned
// then, so that all of it is planned again once the calendar has changed back.
func (r *scheduleReconciler) drop(ctx context.Context, obj *v1alpha1.ReminderSchedule, entry reminder.Schedule) error {
	if entry.UID != string(obj.UID) || entry.Deleted || entry.Suspended || entry.PlanHash != convert.Entry(obj, nil).PlanHash {
		return nil
	}
	r.keepProgress(obj, progress{})
	now, none := r.Now(), &slotSet{through: entry.Cursor.ThroughTime}
	return r.cancelOutdated(ctx, entry, func(rec reminder.Record) reminder.Reason {
		if rec.Epoch == entry.Epoch && none.gone(rec, now) {
			return reminder.Superseded
		}
		return ""
	})
}

// suspend stops what an entry has planned, without another change of it. It is done
// once by each process, because one that was cut off may have left something.
func (r *scheduleReconciler) suspend(ctx context.Context, obj *v1alpha1.ReminderSchedule, entry reminder.Schedule, revision uint64) (reminder.Schedule, error) {
	held := progress{uid: entry.UID, generation: obj.Generation, epoch: -1} // of no plan
	if entry.Suspended && r.progressOf(obj) == held {
		return entry, nil
	}
	if !entry.Suspended {
		entry.Suspended = true
		if _, err := r.Broker.Registry.PutSchedule(ctx, entry, revision, 0); err != nil {
			return entry, err
		}
	}
	if err := r.Broker.Queue.WithdrawSchedule(ctx, entry.Namespace, entry.Name); err != nil {
		return entry, in(errJobs, err)
	}
	if err := r.cancelOutdated(ctx, entry, judge(entry, nil, nil, r.Now())); err != nil {
		return entry, err
	}
	r.keepProgress(obj, held)
	return entry, nil
}

// finalize cancels what has not been claimed and lets the object go.
func (r *scheduleReconciler) finalize(ctx context.Context, obj *v1alpha1.ReminderSchedule) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(obj, Finalizer) {
		return ctrl.Result{}, nil
	}
	const left = "reminders that are planned are cancelled once NATS answers"
	if err := r.cleanUp(ctx, obj); err != nil && !r.letGo(ctx, obj, err, left) {
		if conflict(err) {
			return requeue(0, err)
		}
		_, statusErr := r.writeStatus(ctx, obj, obj.DeepCopy(), r.blocked(err))
		return requeue(0, err, statusErr)
	}
	if err := removeFinalizer(ctx, r.Client, obj); err != nil {
		return requeue(0, err)
	}
	failpoint.HitIn(failpoint.C6Finalized, obj.Name)
	r.forget(client.ObjectKeyFromObject(obj))
	return ctrl.Result{}, nil
}

func (r *scheduleReconciler) cleanUp(ctx context.Context, obj *v1alpha1.ReminderSchedule) error {
	if err := r.Broker.Ready(); err != nil {
		return err
	}
	entry, revision, err := r.registered(ctx, obj)
	if err != nil {
		return err
	}
	if entry.Epoch == 0 {
		if obj.Status.PlannedThroughTime == nil {
			return nil // never planned
		}
		// The registry was lost: workers must learn that the schedule is deleted.
		entry = convert.Entry(obj, nil)
		entry.Epoch = r.Now().Unix()
	}
	if entry.UID != string(obj.UID) {
		// Either our cache is behind, and another object of that name is registered;
		// or an older object went without a cleanup, and this one was never registered.
		if mine, err := r.isLive(ctx, obj); err != nil || !mine {
			return err
		}
	}
	return r.retire(ctx, entry, revision)
}
