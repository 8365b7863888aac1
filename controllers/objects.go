package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

func addFinalizer(ctx context.Context, c client.Client, obj client.Object) error {
	before := obj.DeepCopyObject().(client.Object)
	if !controllerutil.AddFinalizer(obj, Finalizer) {
		return nil
	}
	if err := c.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add finalizer to %s: %w", client.ObjectKeyFromObject(obj), err)
	}
	return nil
}

func removeFinalizer(ctx context.Context, c client.Client, obj client.Object) error {
	before := obj.DeepCopyObject().(client.Object)
	controllerutil.RemoveFinalizer(obj, Finalizer)
	err := c.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove finalizer from %s: %w", client.ObjectKeyFromObject(obj), err)
	}
	return nil
}

// live reads the metadata of an object past the cache; nil when there is none of
// that name.
func (o Options) live(ctx context.Context, obj client.Object) (*metav1.PartialObjectMetadata, error) {
	kind, err := o.Client.GroupVersionKindFor(obj)
	if err != nil {
		return nil, fmt.Errorf("find the kind of %T: %w", obj, err)
	}
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(kind)
	name := client.ObjectKeyFromObject(obj)
	if err := o.Reader.Get(ctx, name, found); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read %s %s past the cache: %w", kind.Kind, name, err)
	}
	return found, nil
}

// isLive tells whether an object that the cache shows is the one that the API
// server has under its name. Times of creation cannot tell: they are whole
// seconds, and of several API servers' clocks.
func (o Options) isLive(ctx context.Context, obj client.Object) (bool, error) {
	now, err := o.live(ctx, obj)
	return now != nil && now.UID == obj.GetUID(), err
}

// lastEdit is when somebody last set a field of an object otherwise than of its
// status, in whole seconds; zero when that is not known. A label counts too. An edit
// that only takes fields away leaves no time (metadata.managedFields has the fields
// that somebody owns), so that the spec can have changed later, too.
func lastEdit(obj metav1.Object) time.Time {
	var last time.Time
	for _, entry := range obj.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.UTC()
		}
	}
	return last
}

// reduction is an edit that only took fields away: the generation that it made, and
// when it was seen.
type reduction struct {
	generation int64
	at         time.Time
}

// watchEdits passes edits, and remembers of those whose time the API server does not
// note that they are made now.
func (r *scheduleReconciler) watchEdits() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		edited := e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration()
		if edited && lastEdit(e.ObjectNew).Equal(lastEdit(e.ObjectOld)) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reduced[client.ObjectKeyFromObject(e.ObjectNew)] = reduction{e.ObjectNew.GetGeneration(), r.Now().UTC()}
		}
		return edited
	}}
}

// editOf is when an object became what it is, as far as that can be known.
func (r *scheduleReconciler) editOf(live *metav1.PartialObjectMetadata) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seen := r.reduced[client.ObjectKeyFromObject(live)]; seen.generation == live.Generation {
		return seen.at
	}
	return lastEdit(live)
}

// letGo tells whether a deletion has waited long enough for a cleanup that fails
// again and again; then it says what is left. A process that has just started
// waits as long as any other.
func (o Options) letGo(ctx context.Context, obj client.Object, cause error, left string) bool {
	since := later(obj.GetDeletionTimestamp().Time, o.started)
	if o.Now().Sub(since) < o.CleanupPatience {
		return false
	}
	// The event is refused where the namespace is being deleted; so it is logged too.
	o.Events.Eventf(obj, nil, corev1.EventTypeWarning, failureReason(cause), "Delete", "Deleted although cleaning up has failed for %s; %s", o.CleanupPatience, left)
	ctrl.LoggerFrom(ctx).Error(cause, "Deleted an object without cleaning up", "left", left)
	return true
}

// blocked is what status says of a deletion that waits for a cleanup.
func (o Options) blocked(cause error) condition.Summary {
	return condition.Waiting(failureReason(cause), fmt.Sprintf("the deletion waits, at most %s, for a cleanup that fails: %s", o.CleanupPatience, cause))
}

// transition tells people about a change of Ready that they can act on.
func (o Options) transition(obj client.Object, was []metav1.Condition, s condition.Summary) {
	if before := readyReason(was); before == s.Reason() || before == "" && s.IsReady() {
		return
	}
	kind := corev1.EventTypeNormal
	if !s.IsReady() {
		kind = corev1.EventTypeWarning
	}
	o.Events.Eventf(obj, nil, kind, s.Reason(), "Reconcile", "%s", s.Message())
}

// readyReason is the reason of the condition Ready; empty when it is missing.
func readyReason(conditions []metav1.Condition) string {
	for _, c := range conditions {
		if c.Type == v1alpha1.ReadyCondition {
			return c.Reason
		}
	}
	return ""
}
