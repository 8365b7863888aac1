package controllers

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// remove deletes the schedule as a user does; its finalizer keeps it.
func (s *site) remove() {
	s.t.Helper()
	if err := s.api.Delete(s.t.Context(), s.schedule()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) gone() bool {
	s.t.Helper()
	err := s.api.Get(s.t.Context(), renewal, &v1alpha1.ReminderSchedule{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	return err != nil
}

func TestADeletionCancelsAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	r := s.schedules()
	s.pass(r)
	s.remove()
	s.pass(r)
	if !s.gone() || s.messages() != 0 || s.audience() != 0 || !s.entry().Deleted {
		t.Errorf("gone is %v, %d messages, %d in the audience, entry %+v", s.gone(), s.messages(), s.audience(), s.entry())
	}
	s.want(map[string]int{"Cancelled ScheduleDeleted": 4})
	s.pass(r) // of an object that is gone
}

// O4: what is in the way of a cleanup holds a deletion up for a bounded time,
// whatever it is.
func TestADeletionEndsInBoundedTime(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*site, *scheduleReconciler){
		"the broker is away": func(s *site, r *scheduleReconciler) { r.Broker = s.brokenBroker() },
		"a stream is lost":   func(s *site, _ *scheduleReconciler) { brokertest.DeleteStream(s.t, s.url, "KV_reminders-registry") },
		"a stream is unsafe": func(s *site, _ *scheduleReconciler) {
			brokertest.DeleteStream(s.t, s.url, brokertest.JobsStream)
			brokertest.MakeUnsafe(s.t, s.url, brokertest.JobsStream)
			if err := s.Broker.Ensure(s.t.Context()); err == nil {
				s.t.Fatal("the broker accepts an unsafe stream")
			}
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(s.hourly(2))
			r := s.schedules()
			s.pass(r)
			s.remove()
			spoil(s, r)
			for range 5 {
				result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: renewal})
				if s.gone() || err == nil && result.RequeueAfter == 0 {
					t.Fatalf("gone is %v at %s, comes back after %s", s.gone(), s.now(), result.RequeueAfter)
				}
				s.wait(10 * time.Second)
			}
			if _, message := s.ready(); !strings.Contains(message, "the deletion waits, at most 1m0s") {
				t.Errorf("status says %q, want what the deletion waits for", message)
			}
			s.told()
			s.wait(s.CleanupPatience)
			s.pass(r)
			if !s.gone() {
				t.Error("it is still there")
			}
			if got := s.told(); len(got) != 1 || !strings.Contains(got[0], "Warning") || !strings.Contains(got[0], "1m0s") {
				t.Errorf("events %q, want one that says so", got)
			}
		})
	}
}

// A controller that has just started gives the broker as much time as any other,
// however long ago the object was deleted.
func TestAControllerThatHasJustStartedDoesNotLetGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	s.pass(s.schedules())
	s.remove()
	s.wait(time.Hour)
	r := s.schedules()
	r.started = s.now()
	connected := r.Broker
	r.Broker = s.brokenBroker() // has not connected yet
	s.pass(r)
	if s.gone() {
		t.Fatal("it was let go at once")
	}
	s.wait(2 * time.Second)
	r.Broker = connected
	s.pass(r)
	s.want(map[string]int{"Cancelled ScheduleDeleted": 4})
	if !s.gone() {
		t.Error("it is still there")
	}
}

// The registry speaks of another object than the one that is deleted.
func TestADeletionMeetsAnotherEntry(t *testing.T) {
	t.Parallel()
	t.Run("of an older object that went without a cleanup: it is retired", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.create(s.hourly(2))
		r := s.schedules()
		s.pass(r)
		s.remake(func(o *v1alpha1.ReminderSchedule) { // never registered, and kept by the finalizer
			o.Spec.SLO, o.Finalizers = anObjective, []string{Finalizer}
		})
		s.pass(r)
		s.want(map[string]int{"Scheduled": 4})
		s.remove()
		s.pass(r)
		s.want(map[string]int{"Cancelled ScheduleDeleted": 4})
	})
	t.Run("of a newer object, which the cache does not know yet: it is left", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.create(s.hourly(2, func(o *v1alpha1.ReminderSchedule) { o.Finalizers = []string{Finalizer} }))
		r := s.schedules()
		s.pass(r)
		s.remove()
		stale := s.schedule()
		s.pass(s.another())
		fresh := aSchedule(stale.Spec.Schedule, func(o *v1alpha1.ReminderSchedule) {
			o.UID, o.CreationTimestamp, o.Spec = "uid-2", stale.CreationTimestamp, stale.Spec
		})
		s.create(fresh)
		s.pass(s.another())
		s.meddler = func(obj client.Object) {
			if o, ok := obj.(*v1alpha1.ReminderSchedule); ok {
				stale.DeepCopyInto(o)
			}
		}
		s.pass(r)
		s.meddler = func(client.Object) {}
		s.want(map[string]int{"Scheduled": 4})
		if s.gone() || s.entry().Deleted || s.audience() != 3 {
			t.Errorf("gone is %v, entry %+v, %d in the audience", s.gone(), s.entry(), s.audience())
		}
	})
	t.Run("of nobody, because the registry was lost: workers learn of the deletion all the same", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.create(s.hourly(2))
		r := s.schedules()
		s.pass(r)
		brokertest.Purge(t, s.url, "KV_reminders-registry")
		s.remove()
		s.pass(r)
		s.want(map[string]int{"Cancelled ScheduleDeleted": 4})
		if !s.entry().Deleted {
			t.Error("the registry does not say that the schedule was deleted")
		}
	})
	t.Run("of nobody, because it was never planned: nothing to do", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.create(s.hourly(2, func(o *v1alpha1.ReminderSchedule) { o.Spec.SLO = anObjective }))
		r := s.schedules()
		s.pass(r)
		s.remove()
		s.pass(r)
		if _, _, err := s.Broker.Registry.Schedule(t.Context(), "shop", "renewal"); !errors.Is(err, reminder.ErrNotFound) || !s.gone() {
			t.Errorf("gone is %v, registry %v", s.gone(), err)
		}
	})
}

// A record that may have been accepted is not cancelled: a person must find out.
func TestADeletionParksWhatMayHaveBeenAccepted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(1))
	r := s.schedules()
	s.pass(r)
	var key reminder.Key
	for one := range planOf(t, scheduleInput{object: s.schedule(), now: s.now()}).reminders {
		key = one.Key
	}
	record, revision, err := s.Broker.Ledger.Get(t.Context(), key.Token())
	if err != nil {
		t.Fatal(err)
	}
	record.State, record.Unresolved, record.NextAttemptTime = reminder.Retrying, true, record.ReleaseTime.Add(time.Minute)
	if _, err := s.Broker.Ledger.Update(t.Context(), record, revision); err != nil {
		t.Fatal(err)
	}
	s.remove()
	s.pass(r)
	s.want(map[string]int{"Cancelled ScheduleDeleted": 1, "Dead ReconciliationRequired": 1})
	if letters := brokertest.Messages(t, s.url, brokertest.DeadStream); len(letters) != 1 || !strings.Contains(keys(letters)[0], ".reconcile.") {
		t.Errorf("dead letters %v, want one for reconcile", keys(letters))
	}
}

func TestLastEditLooksAtAllButStatus(t *testing.T) {
	t.Parallel()
	entry := func(at, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Time: &metav1.Time{Time: clock(at)}, Subresource: subresource}
	}
	cases := map[string]struct {
		fields []metav1.ManagedFieldsEntry
		want   time.Time
	}{
		"nobody":                    {nil, time.Time{}},
		"an entry without a time":   {[]metav1.ManagedFieldsEntry{{}}, time.Time{}},
		"the latest of several":     {[]metav1.ManagedFieldsEntry{entry("11:00:00", ""), entry("12:00:00", ""), entry("10:00:00", "")}, clock("12:00:00")},
		"status does not count":     {[]metav1.ManagedFieldsEntry{entry("11:00:00", ""), entry("12:00:00", "status")}, clock("11:00:00")},
		"status alone is as nobody": {[]metav1.ManagedFieldsEntry{entry("12:00:00", "status")}, time.Time{}},
	}
	for name, c := range cases {
		obj := &metav1.PartialObjectMetadata{}
		obj.ManagedFields = c.fields
		if got := lastEdit(obj); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
