package controllers

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

func setUpCalendars(_ context.Context, mgr ctrl.Manager, o Options) error {
	r := &calendarReconciler{Options: o, status: &condition.Writer{Client: o.Client, Interval: o.StatusInterval, Now: o.Now}}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.BusinessCalendar{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, r.statusEdited()))).
		Watches(&v1alpha1.BusinessCalendar{}, handler.EnqueueRequestsFromMapFunc(o.calendarsOf), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(o.calendarsOf), builder.OnlyMetadata, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Complete(r)
}

// statusEdited passes changes of a status that are not our own, so that they heal.
func (r *calendarReconciler) statusEdited() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.BusinessCalendar), e.ObjectNew.(*v1alpha1.BusinessCalendar)
			return condition.Differs(was.Status, is.Status) && !r.status.Ours(is)
		},
	}
}

// calendarsOf are the calendars that a calendar or a ConfigMap is a part of.
func (o Options) calendarsOf(ctx context.Context, changed client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range o.calendarsWith(ctx, changed) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: changed.GetNamespace(), Name: name}})
	}
	return requests
}

// schedulesOfCalendar are the schedules whose calendar a calendar or a ConfigMap is a part of.
func (o Options) schedulesOfCalendar(ctx context.Context, changed client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range o.calendarsWith(ctx, changed) {
		var list v1alpha1.ReminderScheduleList
		err := o.Client.List(ctx, &list, client.InNamespace(changed.GetNamespace()), client.MatchingFields{byCalendar: name}, client.UnsafeDisableDeepCopy)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Listing the schedules of a calendar failed", "calendar", name)
			continue
		}
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// calendarsWith are the names of the calendars that a calendar or a ConfigMap is a part of.
func (o Options) calendarsWith(ctx context.Context, changed client.Object) []string {
	if _, ok := changed.(*v1alpha1.BusinessCalendar); ok {
		return o.calendarsUsing(ctx, changed.GetNamespace(), changed.GetName())
	}
	return o.calendarsReading(ctx, changed.GetNamespace(), changed.GetName())
}

// calendarsUsing are the names of the calendar that has changed, and of those that include it, directly or not; in order.
// It need not exist.
func (o Options) calendarsUsing(ctx context.Context, namespace, name string) []string {
	return including(o.calendarsIn(ctx, namespace), name)
}

// calendarsReading are the names of the calendars that name a ConfigMap, and of those that include them; in order.
func (o Options) calendarsReading(ctx context.Context, namespace, configMap string) []string {
	all := o.calendarsIn(ctx, namespace)
	var names []string
	for _, one := range all {
		if source := one.Spec.ICalendar; source != nil && source.ConfigMapRef.Name == configMap {
			names = append(names, one.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return including(all, names...)
}

// calendarsIn are the calendars of a namespace, as the cache holds them: for reading only. When they cannot be listed,
// which a cache does not refuse once it runs, there are none.
func (o Options) calendarsIn(ctx context.Context, namespace string) []v1alpha1.BusinessCalendar {
	var list v1alpha1.BusinessCalendarList
	if err := o.Client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the calendars of a namespace failed", "namespace", namespace)
	}
	return list.Items
}

// including are some names, and those of the calendars that include one of them, directly or not; in order.
func including(all []v1alpha1.BusinessCalendar, names ...string) []string {
	includedBy := map[string][]string{}
	for _, one := range all {
		for _, included := range one.Spec.Include {
			includedBy[included] = append(includedBy[included], one.Name)
		}
	}
	found := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if !found[name] {
			found[name] = true
			names = append(names, includedBy[name]...)
		}
	}
	return slices.Sorted(maps.Keys(found))
}
