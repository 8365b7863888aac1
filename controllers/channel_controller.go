package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// +kubebuilder:rbac:groups=reminders.dev,resources=reminderchannels,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderchannels/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderchannels/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=apps,namespace=system,resources=deployments,verbs=get;list;watch;create;patch;delete

// fieldOwner is the operator's name in server-side apply.
const fieldOwner = client.FieldOwner("reminder-operator")

// channelCheck is how often a channel is looked at without an event: it heals a
// consumer that was removed or changed by hand, copies a rotated Secret and
// refreshes the backlog.
const channelCheck = 30 * time.Second

// channelReconciler turns ReminderChannels into a registry entry, a durable
// consumer and a worker Deployment.
type channelReconciler struct {
	Options
	status *condition.Writer
}

// Reconcile makes one pass over a channel.
func (r *channelReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	obj := &v1alpha1.ReminderChannel{}
	if err := r.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		r.status.Forget(req.NamespacedName)
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
	obj.Status.ObservedGeneration = obj.Generation
	condition.Summarise(&obj.Status.Conditions, obj.Generation, found.summary)
	wait, statusErr := r.status.Write(ctx, obj, before, condition.Differs(before.Status, obj.Status))
	return requeue(soonest(found.again, wait), err, statusErr)
}

// pass applies the channel: first what workers read, then the consumer, then
// the workers themselves.
func (r *channelReconciler) pass(ctx context.Context, obj *v1alpha1.ReminderChannel) (report, error) {
	if fields := convert.UnsupportedChannel(obj); len(fields) > 0 {
		return report{summary: condition.Stalled(v1alpha1.ReasonNotSupportedYet, "this version does not act on "+convert.Listed(fields)+"; remove it, and nothing is sent until then")}, nil
	}
	if err := r.Broker.Ready(); err != nil {
		return report{}, err
	}
	if err := r.register(ctx, convert.Channel(obj)); err != nil {
		return report{}, err
	}
	if err := r.Broker.Queue.EnsureConsumer(ctx, convert.Channel(obj)); err != nil {
		return report{}, err
	}
	missing, err := r.mirrorSecret(ctx, obj)
	if err != nil {
		return report{}, err
	}
	if missing != "" {
		return report{summary: condition.Waiting(v1alpha1.ReasonSecretUnavailable, missing), again: r.StatusInterval}, nil
	}
	if err := r.applyObject(ctx, workerDeployment(obj, r.Namespace, r.Worker)); err != nil {
		return report{}, err
	}
	return r.describe(ctx, obj)
}

// register writes the channel's entry unless a newer one is there.
func (r *channelReconciler) register(ctx context.Context, want reminder.Channel) error {
	have, revision, err := r.Broker.Registry.Channel(ctx, want.Namespace, want.Name)
	if err != nil && !errors.Is(err, reminder.ErrNotFound) {
		return err
	}
	if have.UID == want.UID && have.Generation > want.Generation || have.UID != want.UID && have.CreateTime.After(want.CreateTime) {
		return fmt.Errorf("registry has a newer spec of channel %s: %w", want.Name, reminder.ErrConflict)
	}
	if sameEntry(have, want) {
		return nil
	}
	return r.Broker.Registry.PutChannel(ctx, want, revision)
}

// mirrorSecret copies the channel's Secret to where its workers can mount it. It
// answers what is missing, in words; empty when all is there.
func (r *channelReconciler) mirrorSecret(ctx context.Context, obj *v1alpha1.ReminderChannel) (string, error) {
	name := convert.SecretName(obj)
	if name == "" {
		return "", nil
	}
	original := &corev1.Secret{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: name}, original)
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("Secret %s does not exist in this namespace; create it with the key signingKey", name), nil
	}
	if err != nil {
		return "", fmt.Errorf("read Secret %s/%s: %w", obj.Namespace, name, err)
	}
	if err := channel.CheckSecret(original.Data); err != nil {
		return fmt.Sprintf("Secret %s: %s", name, err), nil
	}
	return "", r.applyObject(ctx, secretCopy(obj, r.Namespace, original))
}

// applyObject makes the object so, and owns the fields that it names.
func (r *channelReconciler) applyObject(ctx context.Context, obj client.Object) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return fmt.Errorf("convert %s: %w", obj.GetName(), err)
	}
	delete(fields, "status")
	u := &unstructured.Unstructured{Object: fields}
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), fieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s %s/%s: %w", u.GetKind(), obj.GetNamespace(), obj.GetName(), err)
	}
	return nil
}

// describe reads what the workers and the consumer say of themselves.
func (r *channelReconciler) describe(ctx context.Context, obj *v1alpha1.ReminderChannel) (report, error) {
	backlog, err := r.Broker.Queue.Backlog(ctx, obj.Namespace, obj.Name)
	if err != nil {
		return report{}, err
	}
	live, err := r.Broker.Registry.Workers(ctx, obj.Namespace, obj.Name)
	if err != nil {
		return report{}, err
	}
	s := &obj.Status
	s.DeploymentName = workerName(obj.Namespace, obj.Name)
	s.Backlog, s.InFlight = backlog.Waiting, backlog.InFlight
	s.Workers, s.DesiredWorkers = int32(min(len(live), 1<<20)), convert.Replicas(obj)
	describeWorkers(s, obj.Generation)
	again := channelCheck
	if s.Workers != s.DesiredWorkers || s.Backlog > 0 {
		again = r.StatusInterval
	}
	return report{summary: condition.Ready(v1alpha1.ReasonAvailable, "registered; its consumer and its worker Deployment are in place"), again: again}, nil
}

func describeWorkers(s *v1alpha1.ReminderChannelStatus, generation int64) {
	status, reason, message := metav1.ConditionTrue, v1alpha1.ReasonWorkersReady, "as many workers as wanted are live"
	switch {
	case s.DesiredWorkers == 0:
		status, reason, message = metav1.ConditionFalse, v1alpha1.ReasonScaledToZero, "spec.workers.replicas is 0"
	case s.Workers == 0:
		status, reason, message = metav1.ConditionFalse, v1alpha1.ReasonNoWorkers, "no worker is live; due reminders wait up to their deadline"
	case s.Workers < s.DesiredWorkers:
		reason, message = v1alpha1.ReasonWorkersStarting, "fewer workers than wanted are live"
	}
	condition.Set(&s.Conditions, generation, v1alpha1.WorkersAvailableCondition, status, reason, message)
}

// finalize removes what was made for the channel. Reminders that wait for it end
// at their deadline.
func (r *channelReconciler) finalize(ctx context.Context, obj *v1alpha1.ReminderChannel) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(obj, Finalizer) {
		return ctrl.Result{}, nil
	}
	err := r.cleanUp(ctx, obj)
	if err != nil && (!errors.Is(err, reminder.ErrUnavailable) || r.Now().Sub(obj.DeletionTimestamp.Time) < cleanupPatience) {
		return requeue(0, err)
	}
	if err != nil {
		r.Events.Eventf(obj, nil, corev1.EventTypeWarning, v1alpha1.ReasonBrokerUnavailable, "Delete",
			"Deleted without removing the consumer %s in NATS, which has been away for %s", obj.Name, cleanupPatience)
	}
	return requeue(0, removeFinalizer(ctx, r.Client, obj))
}

func (r *channelReconciler) cleanUp(ctx context.Context, obj *v1alpha1.ReminderChannel) error {
	made := metav1.ObjectMeta{Namespace: r.Namespace, Name: workerName(obj.Namespace, obj.Name)}
	for _, object := range []client.Object{&appsv1.Deployment{ObjectMeta: made}, &corev1.Secret{ObjectMeta: made}} {
		if err := r.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %T %s: %w", object, made.Name, err)
		}
	}
	if err := r.Broker.Ready(); err != nil {
		return err
	}
	if err := r.Broker.Queue.RemoveConsumer(ctx, obj.Namespace, obj.Name); err != nil {
		return err
	}
	return r.Broker.Registry.ForgetChannel(ctx, obj.Namespace, obj.Name)
}
