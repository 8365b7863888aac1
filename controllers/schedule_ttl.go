package controllers

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// +kubebuilder:rbac:groups=reminders.dev,resources=reminderschedules,verbs=delete

// expire deletes a schedule that has ended, has no open dead letter, and whose
// ttlAfterFinished has passed; or it answers when it will. Counters lag behind, so
// that the ledger is asked. Only the object that was judged is deleted: an edit
// meanwhile, which may give it occurrences again, makes the API server refuse.
func (r *scheduleReconciler) expire(ctx context.Context, obj *v1alpha1.ReminderSchedule) (time.Duration, error) {
	ttl, limited := convert.TTLAfterFinished(obj)
	ended := obj.Status.FinishTime
	if !limited || ended == nil || obj.Spec.Suspend {
		return 0, nil
	}
	if now := r.Now(); now.Before(ended.Add(ttl)) {
		return until(ended.Add(ttl), now), nil
	}
	if obj.Status.Counts.Dead > 0 {
		return 0, nil // the counters tell when that changes
	}
	if settled, err := r.settled(ctx, obj); err != nil || !settled {
		return r.StatusInterval, err
	}
	uid, version := obj.UID, obj.ResourceVersion
	err := r.Client.Delete(ctx, obj, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("delete schedule %s, which has ended: %w", client.ObjectKeyFromObject(obj), err)
	}
	ctrl.LoggerFrom(ctx).Info("Deleted a schedule that has ended", "finishTime", ended.UTC().Format(time.RFC3339), "ttlAfterFinished", ttl.String())
	return 0, nil
}

// settled tells whether every reminder of a schedule has an outcome, and none is a
// dead letter.
func (r *scheduleReconciler) settled(ctx context.Context, obj *v1alpha1.ReminderSchedule) (bool, error) {
	settled := true
	err := r.Broker.Ledger.Of(ctx, obj.Namespace, obj.Name, func(rev broker.Revision) error {
		settled = settled && rev.Err == nil && rev.Record.State.Terminal() && rev.Record.State != reminder.Dead
		return nil
	})
	return settled, in(errLedger, err)
}
