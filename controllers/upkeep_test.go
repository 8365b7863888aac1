package controllers

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
)

func (s *site) upkeep() *Upkeep {
	return &Upkeep{Options: s.Options, Announce: func(string, string) {}, OrphansEvery: time.Second, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// lose deletes the schedule as somebody does who removes the finalizer by hand.
func (s *site) lose() {
	s.t.Helper()
	obj := s.schedule()
	obj.Finalizers = nil
	if err := s.api.Update(s.t.Context(), obj); err != nil {
		s.t.Fatal(err)
	}
	if err := s.api.Delete(s.t.Context(), obj); err != nil {
		s.t.Fatal(err)
	}
}

func TestOrphansAreRetired(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	s.pass(s.schedules())
	u := s.upkeep()
	if err := u.retireOrphans(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(map[string]int{"Scheduled": 4})
	s.lose()
	for range 3 { // the repetitions change nothing
		if err := u.retireOrphans(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.want(map[string]int{"Cancelled ScheduleDeleted": 4})
		if !s.entry().Deleted || s.messages() != 0 || s.audience() != 0 {
			t.Errorf("entry %+v, %d messages, %d in the audience", s.entry(), s.messages(), s.audience())
		}
	}
	if len(u.retired) != 1 {
		t.Errorf("%d entries are known to be done, want 1", len(u.retired))
	}
}

func TestOrphansAreSoughtPastTheCache(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	s.pass(s.schedules())
	s.meddler = func(obj client.Object) { // the cache knows of another object under the name
		obj.SetUID("uid-9")
	}
	if err := s.upkeep().retireOrphans(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(map[string]int{"Scheduled": 4})
}

// The object is gone, and another of its name is there that is not registered, such
// as one that is not supported.
func TestAnOrphanIsRetiredBesideANewObjectOfItsName(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	r := s.schedules()
	s.pass(r)
	s.remake(func(o *v1alpha1.ReminderSchedule) { o.Spec.SLO = anObjective })
	s.pass(r)
	if err := s.upkeep().retireOrphans(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(map[string]int{"Cancelled ScheduleDeleted": 4})
	s.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.SLO = nil })
	s.wait(11 * time.Second)
	s.pass(r)
	s.want(map[string]int{"Scheduled": 4})
	if err := s.upkeep().retireOrphans(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(map[string]int{"Scheduled": 4})
}

// A retirement that was cut off after its first step is finished, so that no
// address stays in the bucket.
func TestARetirementThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	r := s.schedules()
	s.pass(r)
	entry, revision, err := r.registered(t.Context(), s.schedule())
	if err != nil {
		t.Fatal(err)
	}
	entry.Deleted = true
	if _, err := s.Broker.Registry.PutSchedule(t.Context(), entry, revision, time.Hour); err != nil {
		t.Fatal(err)
	}
	s.lose()
	if err := s.upkeep().retireOrphans(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(map[string]int{"Cancelled ScheduleDeleted": 4})
	if n := s.audience(); n != 0 {
		t.Errorf("%d in the audience", n)
	}
}

// All schedules are planned again when the jobs stream was made anew.
func TestRenewAnnouncesAllSchedules(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(1))
	u := s.upkeep()
	told := make(chan string, 10)
	u.Announce = func(namespace, name string) { told <- namespace + "/" + name }
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = u.Renew(ctx) })
	time.AfterFunc(1500*time.Millisecond, func() {
		brokertest.DeleteStream(t, s.url, brokertest.JobsStream)
		if err := s.Broker.Ensure(ctx); err != nil {
			t.Error(err)
		}
	})
	select {
	case name := <-told:
		if name != "shop/renewal" {
			t.Errorf("announced %s", name)
		}
	case <-time.After(20 * time.Second):
		t.Error("nothing was announced")
	}
}
