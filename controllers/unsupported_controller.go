package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

// +kubebuilder:rbac:groups=reminders.dev,resources=reminderreplays,verbs=get;list;watch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderreplays/status,verbs=get;update;patch

// unsupportedReconciler says of a kind that this version does not act on it, so
// that nobody believes that an accepted object does something.
type unsupportedReconciler struct {
	client client.Client
	status *condition.Writer
	fresh  func() client.Object
	// parts are the generation and conditions of an object's status.
	parts   func(client.Object) (*int64, *[]metav1.Condition)
	message string
}

// Reconcile marks one object as Stalled.
func (r *unsupportedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := r.fresh()
	if err := r.client.Get(ctx, req.NamespacedName, obj); err != nil {
		r.status.Forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := obj.DeepCopyObject().(client.Object)
	observed, conditions := r.parts(obj)
	*observed = obj.GetGeneration()
	condition.Summarise(conditions, obj.GetGeneration(), condition.Stalled(v1alpha1.ReasonNotSupportedYet, r.message))
	wait, err := r.status.Write(ctx, obj, before, condition.Differs(before, obj))
	return requeue(wait, err)
}

func setUpReplays(_ context.Context, mgr ctrl.Manager, o Options) error {
	return setUpUnsupported(mgr, o, &unsupportedReconciler{
		fresh: func() client.Object { return &v1alpha1.ReminderReplay{} },
		parts: func(obj client.Object) (*int64, *[]metav1.Condition) {
			s := &obj.(*v1alpha1.ReminderReplay).Status
			return &s.ObservedGeneration, &s.Conditions
		},
		message: "this version does not act on ReminderReplays; dead letters stay as they are",
	})
}

func setUpUnsupported(mgr ctrl.Manager, o Options, r *unsupportedReconciler) error {
	r.client, r.status = o.Client, &condition.Writer{Client: o.Client, Interval: o.StatusInterval, Now: o.Now}
	return ctrl.NewControllerManagedBy(mgr).
		For(r.fresh(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(r)
}
