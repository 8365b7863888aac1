package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// apply carries a plan out in this order: the registry, so that workers judge by
// the new spec; the audience; what the new spec no longer covers; then record
// and message of each new reminder. A crash in between leaves less done, and the
// next pass does the rest.
func (r *scheduleReconciler) apply(ctx context.Context, obj *v1alpha1.ReminderSchedule, p schedulePlan) error {
	if p.write {
		if err := r.register(ctx, p.entry); err != nil {
			return err
		}
		failpoint.Hit(failpoint.C1Registered)
	}
	if err := r.Broker.Audience.Replace(ctx, obj.Namespace, obj.Name, p.entry.AudienceHash, p.recipients); err != nil {
		return err
	}
	if p.withdraw {
		if err := r.Broker.Queue.WithdrawSchedule(ctx, obj.Namespace, obj.Name); err != nil {
			return err
		}
	}
	if p.settle {
		if err := r.cancelOutdated(ctx, p.entry, p.recipients); err != nil {
			return err
		}
	}
	if err := r.planAll(ctx, p); err != nil {
		return err
	}
	failpoint.Hit(failpoint.C4Planned)
	r.keepProgress(obj, progress{uid: p.entry.UID, generation: p.entry.Generation, epoch: p.entry.Epoch, stream: p.stream, through: p.through})
	return nil
}

// register writes the entry unless somebody else has written meanwhile.
func (r *scheduleReconciler) register(ctx context.Context, entry reminder.Schedule) error {
	have, revision, err := r.Broker.Registry.Schedule(ctx, entry.Namespace, entry.Name)
	if errors.Is(err, reminder.ErrNotFound) {
		revision = 0
	} else if err != nil {
		return err
	}
	if have.Epoch > entry.Epoch {
		return fmt.Errorf("register %s/%s: %w", entry.Namespace, entry.Name, reminder.ErrConflict)
	}
	return r.Broker.Registry.PutSchedule(ctx, entry, revision, 0)
}

// cancelOutdated cancels the reminders that the entry no longer covers and that
// nobody has claimed. What is claimed is left: its outcome stands.
func (r *scheduleReconciler) cancelOutdated(ctx context.Context, entry reminder.Schedule, recipients []reminder.Recipient) error {
	active := map[string]bool{}
	for _, person := range recipients {
		active[person.ID] = person.Active
	}
	now := r.Now().UTC()
	return r.Broker.Ledger.Of(ctx, entry.Namespace, entry.Name, func(rev broker.Revision) error {
		if rev.Err != nil || rev.Record.State.Terminal() {
			return nil
		}
		reason := outdated(rev.Record, entry, active)
		if reason == "" {
			return nil
		}
		return r.cancel(ctx, rev, reason, now)
	})
}

func (r *scheduleReconciler) cancel(ctx context.Context, rev broker.Revision, reason reminder.Reason, now time.Time) error {
	next, ok := delivery.Cancel(rev.Record, reason, r.Broker.Retention(), now)
	if !ok {
		return nil
	}
	if next.State == reminder.Dead {
		if err := r.Broker.DeadLetters.Publish(ctx, reminder.DeadLetterOf(next)); err != nil {
			return err
		}
	}
	if _, err := r.Broker.Ledger.Update(ctx, next, rev.Number); err != nil {
		return errors.Join(err, r.Broker.DeadLetters.Resolve(ctx, next.Key))
	}
	return r.Broker.Queue.Withdraw(ctx, rev.Record.Key)
}

// planners is how many reminders of one pass are planned at once.
const planners = 32

// planAll plans each reminder; the first error ends it.
func (r *scheduleReconciler) planAll(ctx context.Context, p schedulePlan) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan delivery.Planned)
	var all sync.WaitGroup
	for range planners {
		all.Go(func() {
			for one := range work {
				if err := r.planOne(ctx, one); err != nil {
					cancel(err)
				}
			}
		})
	}
	for one := range p.reminders {
		if ctx.Err() != nil {
			break
		}
		work <- one
	}
	close(work)
	all.Wait()
	return context.Cause(ctx)
}

// planOne writes the record, then the message: a crash in between leaves a
// record without a message, which the next pass or the audit sweep repairs; the
// other way round a worker would find a job without a record.
func (r *scheduleReconciler) planOne(ctx context.Context, p delivery.Planned) error {
	now := r.Now().UTC()
	record := delivery.Plan(p, r.Broker.Retention(), now)
	revision, err := r.Broker.Ledger.Create(ctx, record)
	if errors.Is(err, reminder.ErrExists) {
		record, revision, err = r.replan(ctx, p, now)
	}
	if err != nil || record.State != reminder.Scheduled {
		return err
	}
	failpoint.Hit(failpoint.C2Recorded)
	if record.ReleaseTime.After(now) {
		err = r.Broker.Queue.Release(ctx, record, revision, record.ReleaseTime, now)
	} else {
		err = r.Broker.Queue.Restore(ctx, record, revision)
	}
	failpoint.Hit(failpoint.C3Released)
	return err
}

// replan handles a slot that has a record already.
func (r *scheduleReconciler) replan(ctx context.Context, p delivery.Planned, now time.Time) (reminder.Record, uint64, error) {
	have, revision, err := r.Broker.Ledger.Get(ctx, p.Key.Token())
	if err != nil {
		return have, 0, err
	}
	next, changed := delivery.Replan(have, p, r.Broker.Retention(), now)
	if !changed {
		return have, revision, nil
	}
	revision, err = r.Broker.Ledger.Update(ctx, next, revision)
	return next, revision, err
}

// cleanupPatience is how long a deletion waits for an absent broker before it
// lets go: what is left then is marked as deleted when the broker is back.
const cleanupPatience = 2 * time.Minute

// finalize cancels what has not been claimed and lets the object go.
func (r *scheduleReconciler) finalize(ctx context.Context, obj *v1alpha1.ReminderSchedule) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(obj, Finalizer) {
		return ctrl.Result{}, nil
	}
	err := r.cleanUp(ctx, obj)
	if err != nil {
		if !errors.Is(err, reminder.ErrUnavailable) || r.Now().Sub(obj.DeletionTimestamp.Time) < cleanupPatience {
			return requeue(0, err)
		}
		r.Events.Eventf(obj, nil, corev1.EventTypeWarning, v1alpha1.ReasonBrokerUnavailable, "Delete",
			"Deleted without cleaning up in NATS, which has been away for %s; reminders planned already are cancelled when it is back", cleanupPatience)
	}
	if err := removeFinalizer(ctx, r.Client, obj); err != nil {
		return requeue(0, err)
	}
	failpoint.Hit(failpoint.C6Finalized)
	r.forget(client.ObjectKeyFromObject(obj))
	return ctrl.Result{}, nil
}

func (r *scheduleReconciler) cleanUp(ctx context.Context, obj *v1alpha1.ReminderSchedule) error {
	if err := r.Broker.Ready(); err != nil {
		return err
	}
	entry, revision, err := r.Broker.Registry.Schedule(ctx, obj.Namespace, obj.Name)
	if errors.Is(err, reminder.ErrNotFound) {
		return nil // never planned
	}
	if err != nil || entry.UID != string(obj.UID) {
		return err // another object of that name is registered already
	}
	return retire(ctx, r, entry, revision)
}

// retire marks an entry as deleted and cancels what is left of it. The entry is
// kept as long as records are, so that a worker which holds one can tell a
// deleted schedule from a lost registry.
func retire(ctx context.Context, r *scheduleReconciler, entry reminder.Schedule, revision uint64) error {
	if !entry.Deleted {
		entry.Deleted = true
		if err := r.Broker.Registry.PutSchedule(ctx, entry, revision, r.Broker.Retention()); err != nil {
			return err
		}
	}
	if err := r.Broker.Queue.WithdrawSchedule(ctx, entry.Namespace, entry.Name); err != nil {
		return err
	}
	if err := r.cancelOutdated(ctx, entry, nil); err != nil {
		return err
	}
	return r.Broker.Audience.Forget(ctx, entry.Namespace, entry.Name)
}
