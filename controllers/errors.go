package controllers

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// errLedger and errJobs mark in which of the broker's stores an operation failed:
// a full or lost ledger is another matter than a full or lost jobs stream.
var (
	errLedger = errors.New("ledger")
	errJobs   = errors.New("jobs stream")
)

// in marks an error with where it happened.
func in(where, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", where, err)
}

// requeue turns the errors of a pass into a wait: conflicts and an absent broker
// pass by themselves, the unexpected is an error with backoff.
func requeue(again time.Duration, errs ...error) (ctrl.Result, error) {
	err := errors.Join(errs...)
	switch {
	case err == nil:
		return ctrl.Result{RequeueAfter: again}, nil
	case conflict(err), apierrors.IsNotFound(err):
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case errors.Is(err, reminder.ErrUnavailable), errors.Is(err, reminder.ErrLost), errors.Is(err, reminder.ErrFull):
		return ctrl.Result{RequeueAfter: 2 * time.Second}, nil
	}
	return ctrl.Result{}, err
}

// conflict tells whether somebody else was faster, or our cache is behind.
func conflict(err error) bool {
	return apierrors.IsConflict(err) || errors.Is(err, reminder.ErrConflict)
}

// failed is what status says of a pass that failed.
func failed(err error) condition.Summary {
	if p, ok := errors.AsType[*panicked](err); ok {
		return condition.Stalled(v1alpha1.ReasonFailed, p.Error()+"; this is a bug of the operator")
	}
	return condition.Waiting(failureReason(err), err.Error())
}

// failureReason is the condition reason of a failed pass. What is lost, other than
// the ledger, the leader makes anew within seconds.
func failureReason(err error) string {
	switch {
	case conflict(err):
		return v1alpha1.ReasonContended
	case errors.Is(err, reminder.ErrFull) && errors.Is(err, errLedger):
		return v1alpha1.ReasonLedgerFull
	case errors.Is(err, reminder.ErrFull): // where a limit of the account is reached, the registry is the first to say so
		return v1alpha1.ReasonStreamFull
	case errors.Is(err, reminder.ErrLost) && errors.Is(err, errLedger):
		return v1alpha1.ReasonLedgerLost
	case errors.Is(err, reminder.ErrLost):
		return v1alpha1.ReasonProgressing
	case errors.Is(err, reminder.ErrUnavailable):
		return v1alpha1.ReasonBrokerUnavailable
	}
	return v1alpha1.ReasonFailed
}

// contendedAfter is for how long conflicts must follow each other before status
// speaks of them: ordinary ones are over with the next pass.
const contendedAfter = 30 * time.Second

// conflicts remembers since when each object meets nothing but conflicts.
type conflicts struct {
	mu    sync.Mutex
	since map[types.NamespacedName]time.Time
}

// passing tells whether an error is a conflict that will pass by itself, as far
// as one can know.
func (c *conflicts) passing(name types.NamespacedName, err error, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !conflict(err) {
		delete(c.since, name)
		return false
	}
	if c.since == nil {
		c.since = map[types.NamespacedName]time.Time{}
	}
	if _, ok := c.since[name]; !ok {
		c.since[name] = now
	}
	return now.Sub(c.since[name]) < contendedAfter
}

// panicked is a pass that ended in a panic. What was thrown may hold anything, so
// that only its type is shown.
type panicked struct{ kind string }

func (p *panicked) Error() string { return "panic in a pass: " + p.kind }

// guarded calls fn and turns a panic into an error, so that status can say so.
func guarded(ctx context.Context, fn func() error) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = &panicked{kind: fmt.Sprintf("%T", thrown)}
			ctrl.LoggerFrom(ctx).Error(err, "A pass panicked", "stack", string(debug.Stack()))
		}
	}()
	return fn()
}

// rethrow panics again, so that controller-runtime counts it in its metric.
func rethrow(err error) {
	if p, ok := errors.AsType[*panicked](err); ok {
		panic(p)
	}
}
