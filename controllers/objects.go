package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// requeue turns the errors of a pass into a wait: conflicts and an absent broker
// pass by themselves, the unexpected is an error with backoff.
func requeue(again time.Duration, errs ...error) (ctrl.Result, error) {
	err := errors.Join(errs...)
	switch {
	case err == nil:
		return ctrl.Result{RequeueAfter: again}, nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), errors.Is(err, reminder.ErrConflict):
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case errors.Is(err, reminder.ErrUnavailable), errors.Is(err, reminder.ErrLost), errors.Is(err, reminder.ErrFull):
		return ctrl.Result{RequeueAfter: 2 * time.Second}, nil
	}
	return ctrl.Result{}, err
}

// failureReason is the condition reason of a failed pass.
func failureReason(err error) string {
	switch {
	case errors.Is(err, reminder.ErrConflict):
		return v1alpha1.ReasonContended
	case errors.Is(err, reminder.ErrFull):
		return v1alpha1.ReasonLedgerFull
	case errors.Is(err, reminder.ErrLost):
		return v1alpha1.ReasonLedgerLost
	case errors.Is(err, reminder.ErrUnavailable):
		return v1alpha1.ReasonBrokerUnavailable
	}
	return v1alpha1.ReasonFailed
}

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
