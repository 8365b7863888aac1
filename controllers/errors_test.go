package controllers

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var kind = schema.GroupResource{Group: "reminders.dev", Resource: "reminderschedules"}

func TestFailuresHaveAReasonAndAWait(t *testing.T) {
	t.Parallel()
	wrapped := func(err error) error { return fmt.Errorf("write: %w", err) }
	const backoff = -1 // the error is returned, and the queue backs off
	cases := map[string]struct {
		err    error
		reason string
		wait   time.Duration
	}{
		"somebody else was faster in NATS":       {wrapped(reminder.ErrConflict), v1alpha1.ReasonContended, time.Second},
		"somebody else was faster in Kubernetes": {apierrors.NewConflict(kind, "renewal", nil), v1alpha1.ReasonContended, time.Second},
		"the object is gone":                     {apierrors.NewNotFound(kind, "renewal"), v1alpha1.ReasonFailed, time.Second},
		"the broker is away":                     {wrapped(reminder.ErrUnavailable), v1alpha1.ReasonBrokerUnavailable, 2 * time.Second},
		"the ledger is away":                     {in(errLedger, wrapped(reminder.ErrUnavailable)), v1alpha1.ReasonBrokerUnavailable, 2 * time.Second},
		"the ledger is full":                     {in(errLedger, wrapped(reminder.ErrFull)), v1alpha1.ReasonLedgerFull, 2 * time.Second},
		"the jobs stream is full":                {in(errJobs, wrapped(reminder.ErrFull)), v1alpha1.ReasonStreamFull, 2 * time.Second},
		"another bucket is full":                 {wrapped(reminder.ErrFull), v1alpha1.ReasonStreamFull, 2 * time.Second},
		"the ledger is lost":                     {in(errLedger, wrapped(reminder.ErrLost)), v1alpha1.ReasonLedgerLost, 2 * time.Second},
		"the jobs stream is lost":                {in(errJobs, wrapped(reminder.ErrLost)), v1alpha1.ReasonProgressing, 2 * time.Second},
		"another bucket is lost":                 {wrapped(reminder.ErrLost), v1alpha1.ReasonProgressing, 2 * time.Second},
		"a server that is too old":               {errors.New("NATS server 2.10.0 is too old"), v1alpha1.ReasonFailed, backoff},
		"what nobody has thought of":             {wrapped(reminder.ErrMalformed), v1alpha1.ReasonFailed, backoff},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := failureReason(c.err); got != c.reason {
				t.Errorf("reason %s, want %s", got, c.reason)
			}
			result, err := requeue(time.Hour, nil, c.err)
			if c.wait == backoff {
				if !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				return
			}
			if err != nil || result.RequeueAfter != c.wait {
				t.Errorf("comes back after %s with error %v, want %s and none", result.RequeueAfter, err, c.wait)
			}
		})
	}
	if result, err := requeue(time.Hour, nil, nil); err != nil || result.RequeueAfter != time.Hour {
		t.Errorf("without an error it comes back after %s, error %v; want 1h", result.RequeueAfter, err)
	}
	if in(errLedger, nil) != nil {
		t.Error("no error became one")
	}
}

func TestConflictsArePassingUntilTheyLast(t *testing.T) {
	t.Parallel()
	var c conflicts
	name := types.NamespacedName{Namespace: "shop", Name: "renewal"}
	now := clock("12:00:00")
	step := func(err error, after time.Duration) bool {
		now = now.Add(after)
		return c.passing(name, err, now)
	}
	if !step(reminder.ErrConflict, 0) || !step(reminder.ErrConflict, 29*time.Second) {
		t.Error("a conflict is not passing within half a minute")
	}
	if step(reminder.ErrConflict, time.Second) {
		t.Error("a conflict is still passing after half a minute")
	}
	if step(nil, time.Second) || step(reminder.ErrUnavailable, time.Second) {
		t.Error("something else counts as a conflict")
	}
	if !step(reminder.ErrConflict, time.Hour) {
		t.Error("what is long over is still counted")
	}
	if other := (types.NamespacedName{Namespace: "shop", Name: "other"}); !c.passing(other, reminder.ErrConflict, now.Add(time.Hour)) {
		t.Error("another object's conflicts are counted")
	}
}

func TestTheFirstErrorEndsParallelWork(t *testing.T) {
	t.Parallel()
	sent, done := 0, make(chan struct{}, 1<<16)
	items := func(yield func(int) bool) {
		for sent < 1<<16 && yield(sent) {
			sent++
		}
	}
	failure := errors.New("the first")
	err := inParallel(t.Context(), items, func(_ context.Context, i int) error {
		done <- struct{}{}
		if i == 100 {
			return failure
		}
		return nil
	})
	if !errors.Is(err, failure) || len(done) == 1<<16 {
		t.Errorf("error %v after %d items", err, len(done))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := inParallel(ctx, items, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that the context has ended", err)
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b, want time.Duration }{
		"neither":          {0, 0, 0},
		"one":              {time.Second, 0, time.Second},
		"the other":        {0, time.Second, time.Second},
		"the smaller":      {time.Minute, time.Second, time.Second},
		"the smaller, too": {time.Second, time.Minute, time.Second},
	} {
		if got := soonest(c.a, c.b); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	now := clock("12:00:00")
	for name, c := range map[string]struct {
		t    time.Time
		want time.Duration
	}{
		"never":  {time.Time{}, 0},
		"past":   {now.Add(-time.Hour), time.Second},
		"now":    {now, time.Second},
		"ahead":  {now.Add(time.Minute), time.Minute},
		"nearly": {now.Add(time.Millisecond), time.Second},
	} {
		if got := until(c.t, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
