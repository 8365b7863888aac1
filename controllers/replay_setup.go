package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

// concurrentReplays is how many ReminderReplays are worked on at once: one that reads
// a large ledger must not hold up the pace of others.
const concurrentReplays = 4

// bySchedule is the field index of ReminderReplays by the schedule they name.
const bySchedule = "spec.scheduleName"

func setUpReplays(ctx context.Context, mgr ctrl.Manager, o Options) error {
	r := newReplayReconciler(o)
	err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.ReminderReplay{}, bySchedule, func(obj client.Object) []string {
		return []string{obj.(*v1alpha1.ReminderReplay).Spec.ScheduleName}
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.ReminderReplay{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.ReminderSchedule{}, handler.EnqueueRequestsFromMapFunc(o.replaysOf), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrentReplays}).
		Complete(r)
}

func newReplayReconciler(o Options) *replayReconciler {
	return &replayReconciler{
		Options: o, status: &condition.Writer{Client: o.Client, Interval: o.StatusInterval, Now: o.Now},
		running: map[types.NamespacedName]*replayProgress{},
	}
}

// replaysOf are the ReminderReplays that name a schedule and have not ended.
func (o Options) replaysOf(ctx context.Context, schedule client.Object) []reconcile.Request {
	var list v1alpha1.ReminderReplayList
	if err := o.Client.List(ctx, &list, client.InNamespace(schedule.GetNamespace()), client.MatchingFields{bySchedule: schedule.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the replays of a schedule failed", "schedule", schedule.GetName())
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Status.CompletionTime == nil {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
