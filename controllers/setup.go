package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

// concurrentSchedules is how many schedules are reconciled at once.
const concurrentSchedules = 8

// byChannel is the field index of schedules by the channel they name.
const byChannel = "spec.channelName"

// byCalendar is the field index of schedules by the calendar they name.
const byCalendar = "spec.schedule.calendarName"

// SetUp registers all controllers with a manager.
func SetUp(ctx context.Context, mgr ctrl.Manager, o Options) error {
	o.started, o.calendars = o.Now(), &calendarCache{}
	for name, set := range map[string]func(context.Context, ctrl.Manager, Options) error{
		"schedules": setUpSchedules, "channels": setUpChannels, "calendars": setUpCalendars, "replays": setUpReplays,
	} {
		if err := set(ctx, mgr, o); err != nil {
			return fmt.Errorf("set up the controller of %s: %w", name, err)
		}
	}
	return nil
}

func setUpSchedules(ctx context.Context, mgr ctrl.Manager, o Options) error {
	r := &scheduleReconciler{
		Options: o,
		status:  &condition.Writer{Client: o.Client, Interval: o.StatusInterval, Now: o.Now},
		done:    map[types.NamespacedName]progress{},
		reduced: map[types.NamespacedName]reduction{},
	}
	for field, index := range map[string]client.IndexerFunc{byChannel: channelName, byCalendar: calendarName} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.ReminderSchedule{}, field, index); err != nil {
			return err
		}
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.ReminderSchedule{}, builder.WithPredicates(predicate.Or(r.watchEdits(), r.statusEdited()))).
		Watches(&v1alpha1.ReminderChannel{}, handler.EnqueueRequestsFromMapFunc(o.schedulesOf), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}, readyChanged())).
		Watches(&v1alpha1.BusinessCalendar{}, handler.EnqueueRequestsFromMapFunc(o.schedulesOfCalendar), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(o.schedulesOfCalendar), builder.OnlyMetadata, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(source.TypedChannel(o.Changed, r.onChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrentSchedules}).
		Complete(r)
}

// channelName and calendarName are what schedules are indexed by.
func channelName(obj client.Object) []string {
	return []string{obj.(*v1alpha1.ReminderSchedule).Spec.ChannelName}
}

func calendarName(obj client.Object) []string {
	if name := obj.(*v1alpha1.ReminderSchedule).Spec.Schedule.CalendarName; name != "" {
		return []string{name}
	}
	return nil
}

// onChanged queues a schedule whose counters have changed for when its status may
// be written again; more changes until then cost nothing.
func (r *scheduleReconciler) onChanged() handler.TypedEventHandler[types.NamespacedName, reconcile.Request] {
	return handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(_ context.Context, e event.TypedGenericEvent[types.NamespacedName], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			q.AddAfter(reconcile.Request{NamespacedName: e.Object}, r.status.Wait(e.Object))
		},
	}
}

// statusEdited passes changes of a status that are not our own, so that they heal;
// our own must not queue a pass, or status would be written for ever.
func (r *scheduleReconciler) statusEdited() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.ReminderSchedule), e.ObjectNew.(*v1alpha1.ReminderSchedule)
			return condition.Differs(was.Status, is.Status) && !r.status.Ours(is)
		},
	}
}

// readyChanged passes changes of a channel that its schedules report on.
func readyChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.ReminderChannel), e.ObjectNew.(*v1alpha1.ReminderChannel)
		return was.Generation != is.Generation || !is.DeletionTimestamp.IsZero() || readyReason(was.Status.Conditions) != readyReason(is.Status.Conditions)
	}}
}

// schedulesOf are the schedules that name a channel.
func (o Options) schedulesOf(ctx context.Context, channel client.Object) []reconcile.Request {
	var list v1alpha1.ReminderScheduleList
	if err := o.Client.List(ctx, &list, client.InNamespace(channel.GetNamespace()), client.MatchingFields{byChannel: channel.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the schedules of a channel failed", "channel", channel.GetName())
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

func setUpChannels(_ context.Context, mgr ctrl.Manager, o Options) error {
	r := &channelReconciler{Options: o, status: &condition.Writer{Client: o.Client, Interval: o.StatusInterval, Now: o.Now}}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.ReminderChannel{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(channelOfDeployment)).
		Complete(r)
}

// channelOfDeployment is the channel that a worker Deployment was made for.
func channelOfDeployment(_ context.Context, d client.Object) []reconcile.Request {
	labels := d.GetLabels()
	if labels[labelName] != WorkerName {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: labels[LabelChannelNamespace], Name: labels[LabelChannel]}}}
}
