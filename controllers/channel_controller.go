package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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
	status    *condition.Writer
	conflicts conflicts
}

// Reconcile makes one pass over a channel.
func (r *channelReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &v1alpha1.ReminderChannel{}
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
	var found report
	err := guarded(ctx, func() (err error) {
		found, err = r.pass(ctx, obj)
		return err
	})
	if r.conflicts.passing(req.NamespacedName, err, r.Now()) {
		return requeue(0, err) // not worth a word in status
	}
	if err != nil {
		before.Status.DeepCopyInto(&obj.Status)
		found = report{summary: failed(err)}
	} else {
		obj.Status.ObservedGeneration = obj.Generation
	}
	wait, statusErr := r.writeStatus(ctx, obj, before, found.summary)
	rethrow(err)
	return requeue(soonest(found.again, wait), err, statusErr)
}

func (r *channelReconciler) writeStatus(ctx context.Context, obj, before *v1alpha1.ReminderChannel, s condition.Summary) (time.Duration, error) {
	condition.Summarise(&obj.Status.Conditions, obj.Generation, s)
	changed := condition.Differs(before.Status, obj.Status)
	wait, err := r.status.Write(ctx, obj, before, changed)
	if err == nil && changed && wait == 0 {
		r.transition(obj, before.Status.Conditions, s)
	}
	return wait, err
}

func (r *channelReconciler) forget(name types.NamespacedName) {
	r.status.Forget(name)
	r.conflicts.passing(name, nil, time.Time{})
}

// pass applies the channel and describes what has become of it.
func (r *channelReconciler) pass(ctx context.Context, obj *v1alpha1.ReminderChannel) (report, error) {
	if fields := convert.UnsupportedChannel(obj); len(fields) > 0 {
		s := condition.Stalled(v1alpha1.ReasonNotSupportedYet, "this version does not act on "+convert.Listed(fields)+"; remove it, and until then the channel stays as its last supported spec had it")
		return r.describeHeld(ctx, obj, s), nil
	}
	if err := r.Broker.Ready(); err != nil {
		return report{}, err
	}
	missing, err := r.realize(ctx, obj)
	if err != nil {
		return report{}, err
	}
	found, err := r.describe(ctx, obj)
	if missing.text != "" {
		found = report{summary: condition.Waiting(missing.reason, missing.text), again: r.StatusInterval}
	}
	return found, err
}

// lack is what a channel waits for before workers are started: the reason of its
// condition, and the message; none when text is empty.
type lack struct{ reason, text string }

// realize makes the channel so: first what workers read, then the consumer, then
// the workers themselves. It answers what of others is missing.
func (r *channelReconciler) realize(ctx context.Context, obj *v1alpha1.ReminderChannel) (lack, error) {
	if err := r.register(ctx, obj); err != nil {
		return lack{}, err
	}
	if err := r.Broker.Queue.EnsureConsumer(ctx, convert.Channel(obj)); err != nil {
		return lack{}, in(errJobs, err)
	}
	if missing, err := r.missing(ctx, obj); err != nil || missing.text != "" {
		return missing, err
	}
	if err := r.applyObject(ctx, workerDeployment(obj, r.Namespace, r.Worker)); err != nil {
		return lack{}, err
	}
	if convert.SecretName(obj) == "" && obj.Status.ObservedGeneration != obj.Generation {
		return lack{}, r.remove(ctx, obj, &corev1.Secret{}) // of an earlier spec
	}
	return lack{}, nil
}

// missing answers what workers need and others have to make.
func (r *channelReconciler) missing(ctx context.Context, obj *v1alpha1.ReminderChannel) (lack, error) {
	text, err := r.mirrorSecret(ctx, obj)
	if err != nil || text != "" {
		return lack{v1alpha1.ReasonSecretUnavailable, text}, err
	}
	text, err = r.checkStream(ctx, obj)
	return lack{v1alpha1.ReasonStreamUnavailable, text}, err
}

// register writes the channel's entry unless a newer one is there.
func (r *channelReconciler) register(ctx context.Context, obj *v1alpha1.ReminderChannel) error {
	want := convert.Channel(obj)
	have, revision, err := r.Broker.Registry.Channel(ctx, want.Namespace, want.Name)
	if errors.Is(err, reminder.ErrNotFound) {
		have, revision = reminder.Channel{}, 0
	} else if err != nil {
		return err
	}
	stale := have.UID == want.UID && have.Generation > want.Generation
	if have.UID != "" && have.UID != want.UID {
		mine, err := r.isLive(ctx, obj)
		if err != nil {
			return err
		}
		stale = !mine
	}
	if stale {
		return fmt.Errorf("there is a newer spec of channel %s than the cache has: %w", want.Name, reminder.ErrConflict)
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
		return fmt.Sprintf("Secret %s does not exist in this namespace; create it with %s", name, keysOf(obj)), nil
	}
	if err != nil {
		return "", fmt.Errorf("read Secret %s/%s: %w", obj.Namespace, name, err)
	}
	if err := channel.CheckSecret(reminder.ChannelType(obj.Spec.Type), original.Data); err != nil {
		return fmt.Sprintf("Secret %s: %s", name, err), nil
	}
	return "", r.applyObject(ctx, secretCopy(obj, r.Namespace, original))
}

// keysOf names the keys that the channel's Secret must have, in words.
func keysOf(obj *v1alpha1.ReminderChannel) string {
	required := channel.RequiredKeys(reminder.ChannelType(obj.Spec.Type))
	if len(required) == 1 {
		return "the key " + required[0]
	}
	return "the keys " + strings.Join(required, " and ")
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
		return report{}, in(errJobs, err)
	}
	live, err := r.Broker.Registry.Workers(ctx, obj.Namespace, obj.Name)
	if err != nil {
		return report{}, err
	}
	s := &obj.Status
	s.DeploymentName = workerName(obj.Namespace, obj.Name)
	s.Workers, s.DesiredWorkers = int32(min(len(live), 1<<20)), convert.Replicas(obj)
	work := foldReports(live)
	work.describe(s, backlog)
	describeWorkers(s, obj.Generation)
	again := channelCheck
	if s.Workers != s.DesiredWorkers || s.Backlog > 0 || s.InFlight > 0 || work.paused > 0 {
		again = r.StatusInterval
	}
	return report{summary: work.summary(), again: again}, nil
}

// describeHeld describes a channel whose spec is not acted on, as far as the broker
// answers. The workers of its last supported spec may go on.
func (r *channelReconciler) describeHeld(ctx context.Context, obj *v1alpha1.ReminderChannel, s condition.Summary) report {
	if _, err := r.describe(ctx, obj); err != nil {
		describeWorkers(&obj.Status, obj.Generation)
	}
	return report{summary: s, again: channelCheck}
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
	left := "its consumer in NATS and its Deployment " + workerName(obj.Namespace, obj.Name) + " may be left"
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
	r.forget(client.ObjectKeyFromObject(obj))
	return ctrl.Result{}, nil
}

func (r *channelReconciler) cleanUp(ctx context.Context, obj *v1alpha1.ReminderChannel) error {
	for _, object := range []client.Object{&appsv1.Deployment{}, &corev1.Secret{}} {
		if err := r.remove(ctx, obj, object); err != nil {
			return err
		}
	}
	if err := r.Broker.Ready(); err != nil {
		return err
	}
	if err := r.Broker.Queue.RemoveConsumer(ctx, obj.Namespace, obj.Name); err != nil {
		return in(errJobs, err)
	}
	return r.Broker.Registry.ForgetChannel(ctx, obj.Namespace, obj.Name)
}

// remove deletes what was made for a channel in the operator's namespace.
func (r *channelReconciler) remove(ctx context.Context, obj *v1alpha1.ReminderChannel, made client.Object) error {
	made.SetNamespace(r.Namespace)
	made.SetName(workerName(obj.Namespace, obj.Name))
	if err := r.Client.Delete(ctx, made); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %s: %w", made, made.GetName(), err)
	}
	return nil
}
