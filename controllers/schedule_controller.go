package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// +kubebuilder:rbac:groups=reminders.dev,resources=reminderschedules,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderschedules/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderschedules/finalizers,verbs=update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// scheduleReconciler turns ReminderSchedules into planned reminders.
type scheduleReconciler struct {
	Options
	status *condition.Writer

	mu   sync.Mutex
	done map[types.NamespacedName]progress
}

// Reconcile makes one pass over a schedule.
func (r *scheduleReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	obj := &v1alpha1.ReminderSchedule{}
	if err := r.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, obj)
	}
	if err := addFinalizer(ctx, r.Client, obj); err != nil {
		return requeue(0, err)
	}
	before := obj.DeepCopy()
	found, err := r.pass(ctx, obj)
	if err != nil {
		found = report{summary: condition.Waiting(failureReason(err), err.Error())}
	}
	wait, statusErr := r.writeStatus(ctx, obj, before, found)
	return requeue(soonest(found.again, wait), err, statusErr)
}

// pass gathers, plans and applies. It writes to status what it found, and the
// caller stores it.
func (r *scheduleReconciler) pass(ctx context.Context, obj *v1alpha1.ReminderSchedule) (report, error) {
	channel, err := r.channelOf(ctx, obj)
	if err != nil {
		return report{}, err
	}
	if s := objections(obj, channel); s != nil {
		return report{summary: *s}, nil
	}
	compiled, err := convert.Schedule(obj)
	if err != nil {
		return invalid(err), nil
	}
	if err := r.Broker.Ready(); err != nil {
		return report{}, err
	}
	plan, err := r.plan(ctx, obj, compiled)
	if err != nil {
		return report{}, err
	}
	if err := r.apply(ctx, obj, plan); err != nil {
		return report{}, err
	}
	r.announce(obj, plan)
	return r.describe(ctx, obj, compiled, channel, plan)
}

func (r *scheduleReconciler) plan(ctx context.Context, obj *v1alpha1.ReminderSchedule, compiled *schedule.Schedule) (schedulePlan, error) {
	entry, _, err := r.Broker.Registry.Schedule(ctx, obj.Namespace, obj.Name)
	if err != nil && !errors.Is(err, reminder.ErrNotFound) {
		return schedulePlan{}, err
	}
	if stale(entry, obj) {
		return schedulePlan{}, fmt.Errorf("registry has a newer spec of %s: %w", obj.Name, reminder.ErrConflict)
	}
	return planSchedule(scheduleInput{
		object: obj, compiled: compiled, entry: entry, done: r.progressOf(obj), stream: r.Broker.Incarnation(),
		lookAhead: r.LookAhead, now: r.Now().UTC(),
	}), nil
}

func invalid(err error) report {
	reason := v1alpha1.ReasonInvalidSpec
	if errors.Is(err, convert.ErrNeverOccurs) {
		reason = v1alpha1.ReasonNeverOccurs
	}
	return report{summary: condition.Stalled(reason, err.Error())}
}

func (r *scheduleReconciler) writeStatus(ctx context.Context, obj, before *v1alpha1.ReminderSchedule, found report) (time.Duration, error) {
	obj.Status.ObservedGeneration = obj.Generation
	condition.Summarise(&obj.Status.Conditions, obj.Generation, found.summary)
	changed := condition.Differs(before.Status, obj.Status)
	wait, err := r.status.Write(ctx, obj, before, changed)
	if err == nil && changed && wait == 0 {
		failpoint.Hit(failpoint.C5Status)
		r.transition(obj, before, found.summary)
	}
	return wait, err
}

// transition tells people about a change of Ready that they can act on.
func (r *scheduleReconciler) transition(obj, before *v1alpha1.ReminderSchedule, s condition.Summary) {
	if was := readyReason(before.Status.Conditions); was == s.Reason() || was == "" && s.IsReady() {
		return
	}
	kind := corev1.EventTypeNormal
	if !s.IsReady() {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(obj, nil, kind, s.Reason(), "Reconcile", "%s", s.Message())
}

func (r *scheduleReconciler) progressOf(obj *v1alpha1.ReminderSchedule) progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[client.ObjectKeyFromObject(obj)]
}

func (r *scheduleReconciler) keepProgress(obj *v1alpha1.ReminderSchedule, p progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[client.ObjectKeyFromObject(obj)] = p
}

func (r *scheduleReconciler) forget(name types.NamespacedName) {
	r.mu.Lock()
	delete(r.done, name)
	r.mu.Unlock()
	r.status.Forget(name)
}
