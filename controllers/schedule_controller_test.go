package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func (s *site) want(records map[string]int) {
	s.t.Helper()
	if diff := cmp.Diff(records, s.records()); diff != "" {
		s.t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestAPassPlansAndARepeatedOneWritesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(3))
	r := s.schedules()
	s.pass(r)
	s.want(map[string]int{"Scheduled": 6})
	if n := s.messages(); n != 6 {
		t.Errorf("%d messages, want 6", n)
	}
	if n := s.audience(); n != 3 {
		t.Errorf("%d entries in the audience, want 2 recipients and the marker", n)
	}
	obj := s.schedule()
	if reason, _ := s.ready(); reason != v1alpha1.ReasonChannelNotFound || obj.Status.ObservedGeneration != 1 || *obj.Status.Recipients != 2 || len(obj.Status.Upcoming) != 3 {
		t.Errorf("reason %s, status %+v", reason, obj.Status)
	}
	for range 5 { // and as another process: nothing changes in the API server
		s.wait(11 * time.Second)
		s.pass(r)
		s.pass(s.another())
	}
	if after := s.schedule(); after.ResourceVersion != obj.ResourceVersion {
		t.Errorf("idle passes wrote status: %s", cmp.Diff(obj.Status, after.Status))
	}
	s.want(map[string]int{"Scheduled": 6})
}

func TestAnEditCancelsWhatItNoLongerCovers(t *testing.T) {
	t.Parallel()
	later := func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Schedule.StartTime.Time = o.Spec.Schedule.StartTime.Add(time.Minute)
	}
	cases := map[string]struct {
		how  change
		want map[string]int
	}{
		"the time: one slot goes, one is kept": {later, map[string]int{"Scheduled": 2, "Cancelled Superseded": 2}},
		"the text: nothing":                    {text("Bye"), map[string]int{"Scheduled": 4}},
		"a recipient fewer":                    {func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients = o.Spec.Recipients[:1] }, map[string]int{"Scheduled": 2, "Cancelled RecipientInactive": 2}},
		"an inactive recipient":                {func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients[0].Active = new(false) }, map[string]int{"Scheduled": 2, "Cancelled RecipientInactive": 2}},
		"suspension":                           {suspended(true), map[string]int{"Cancelled Suspended": 4}},
		"suspension with an unsupported field": {func(o *v1alpha1.ReminderSchedule) {
			o.Spec.Suspend, o.Spec.SLO = true, anObjective
		}, map[string]int{"Cancelled Suspended": 4}},
		"suspension with a time that is invalid": {func(o *v1alpha1.ReminderSchedule) { o.Spec.Suspend, o.Spec.Schedule.TimeZone = true, "Europe/Bonn" }, map[string]int{"Cancelled Suspended": 4}},
		"an unsupported field alone":             {func(o *v1alpha1.ReminderSchedule) { o.Spec.SLO = anObjective }, map[string]int{"Scheduled": 4}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(s.hourly(2))
			r := s.schedules()
			s.pass(r)
			s.wait(11 * time.Second)
			s.edit(c.how)
			s.pass(r)
			s.want(c.want)
			if n := s.messages(); n != c.want["Scheduled"] {
				t.Errorf("%d messages, want %d", n, c.want["Scheduled"])
			}
			obj := s.schedule()
			if faults := condition.Check(obj.Status.Conditions, obj.Generation); len(faults) > 0 || obj.Status.ObservedGeneration != 2 {
				t.Errorf("observed generation %d, faults %v", obj.Status.ObservedGeneration, faults)
			}
		})
	}
}

func TestResumingOpensWhatIsStillAhead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(3))
	r := s.schedules()
	s.pass(r)
	s.edit(suspended(true))
	s.pass(r)
	s.wait(90 * time.Second)
	s.edit(suspended(false))
	s.pass(r)
	s.want(map[string]int{"Cancelled Suspended": 2, "Scheduled": 4})
}

// The process died, or the broker went, after the registry was written: the next
// pass does the rest.
func TestAPassThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	r := s.schedules()
	s.pass(r)
	s.wait(11 * time.Second)
	s.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients = o.Spec.Recipients[:1] })
	obj := s.schedule()
	times, _, err := r.timesOf(t.Context(), obj)
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.gather(t.Context(), obj, times)
	if err != nil {
		t.Fatal(err)
	}
	p := planSchedule(in)
	if _, err := s.Broker.Registry.PutSchedule(t.Context(), p.entry, p.revision, 0); err != nil {
		t.Fatal(err)
	}
	broken := s.schedules() // what it says of the failure must not look like a success
	broken.Broker = s.brokenBroker()
	_, _ = broken.Reconcile(t.Context(), ctrl.Request{NamespacedName: renewal})
	if got := s.schedule().Status.ObservedGeneration; got != 1 {
		t.Errorf("status has observed generation %d, whose pass has failed", got)
	}
	s.wait(11 * time.Second)
	s.pass(s.schedules())
	s.want(map[string]int{"Scheduled": 2, "Cancelled RecipientInactive": 2})
}

// Two controllers without leader election: a slow one does no harm to what a faster
// one has done meanwhile.
func TestASlowControllerUndoesNothing(t *testing.T) {
	t.Parallel()
	slowPlan := func(t *testing.T, s *site, r *scheduleReconciler) schedulePlan {
		t.Helper()
		obj := s.schedule()
		times, _, err := r.timesOf(t.Context(), obj)
		if err != nil {
			t.Fatal(err)
		}
		in, err := r.gather(t.Context(), obj, times)
		if err != nil {
			t.Fatal(err)
		}
		return planSchedule(in)
	}
	t.Run("it does not overwrite a newer spec of the same epoch", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.create(s.hourly(2))
		slow, fast := s.schedules(), s.another()
		s.pass(fast)
		s.edit(text("second"))
		obj := s.schedule()
		p := slowPlan(t, s, slow)
		s.edit(text("third"))
		s.pass(fast)
		if _, err := slow.apply(t.Context(), obj, p); !errors.Is(err, reminder.ErrConflict) {
			t.Errorf("error %v, want a conflict", err)
		}
		if got := s.entry(); got.Body != "third" || got.Generation != 3 {
			t.Errorf("registered is generation %d: %s", got.Generation, got.Body)
		}
	})
	t.Run("it does not cancel what was resumed", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.create(s.hourly(2))
		slow, fast := s.schedules(), s.another()
		s.pass(fast)
		s.edit(suspended(true))
		p := slowPlan(t, s, slow)
		if _, err := s.Broker.Registry.PutSchedule(t.Context(), p.entry, p.revision, 0); err != nil {
			t.Fatal(err)
		}
		s.edit(suspended(false))
		s.pass(fast)
		if err := slow.cancelOutdated(t.Context(), p.entry, p.judge); !errors.Is(err, reminder.ErrConflict) {
			t.Errorf("error %v, want a conflict", err)
		}
		s.want(map[string]int{"Scheduled": 4})
	})
	t.Run("it does not retire what was made anew", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.create(s.hourly(2))
		slow, fast := s.schedules(), s.another()
		s.pass(fast)
		old, revision, err := slow.registered(t.Context(), s.schedule())
		if err != nil {
			t.Fatal(err)
		}
		if err := slow.retire(t.Context(), old, revision); err != nil { // by which the name is free
			t.Fatal(err)
		}
		old.Deleted = true
		s.remake()
		s.pass(fast)
		if err := slow.retire(t.Context(), old, revision); !errors.Is(err, reminder.ErrConflict) {
			t.Errorf("error %v, want a conflict", err)
		}
		s.want(map[string]int{"Scheduled": 4})
		if n := s.audience(); n != 3 {
			t.Errorf("%d entries in the audience of the new object, want 3", n)
		}
	})
	t.Run("it does not cancel a newer plan, whatever it believes", func(t *testing.T) {
		t.Parallel()
		newer := reminder.Record{State: reminder.Scheduled, Epoch: 8}
		for name, entry := range map[string]reminder.Schedule{
			"deleted": {Epoch: 7, Deleted: true}, "suspended": {Epoch: 7, Suspended: true}, "without the recipient": {Epoch: 7},
		} {
			if got := outdated(newer, entry, nil); got != "" {
				t.Errorf("%s: %s, want that it is not ours to judge", name, got)
			}
		}
	})
}

// remake deletes the schedule behind the controllers' back and makes it anew.
func (s *site) remake(changes ...change) {
	s.t.Helper()
	old := s.schedule()
	old.Finalizers = nil
	if err := s.api.Update(s.t.Context(), old); err != nil {
		s.t.Fatal(err)
	}
	if err := s.api.Delete(s.t.Context(), old); err != nil {
		s.t.Fatal(err)
	}
	fresh := aSchedule(old.Spec.Schedule, func(o *v1alpha1.ReminderSchedule) {
		o.UID, o.CreationTimestamp, o.Spec = "uid-2", old.CreationTimestamp, old.Spec
	})
	for _, c := range changes {
		c(fresh)
	}
	s.create(fresh)
}

// Deleted and made anew inside a second, so that times of creation tell nothing; or
// by API servers whose clocks differ.
func TestMadeAnew(t *testing.T) {
	t.Parallel()
	cases := map[string]change{
		"in the same second": func(*v1alpha1.ReminderSchedule) {},
		"by a clock that is a day slow": func(o *v1alpha1.ReminderSchedule) {
			o.CreationTimestamp.Time = o.CreationTimestamp.Add(-24 * time.Hour)
		},
		"by a clock that is ahead": func(o *v1alpha1.ReminderSchedule) {
			o.CreationTimestamp.Time = o.CreationTimestamp.Add(5 * time.Second)
		},
	}
	for name, how := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(s.hourly(2))
			r := s.schedules()
			s.pass(r)
			first, stale := s.entry(), s.schedule()
			s.remake(how)
			s.meddler = func(obj client.Object) { // a cache that is behind
				if o, ok := obj.(*v1alpha1.ReminderSchedule); ok {
					stale.DeepCopyInto(o)
				}
			}
			lagging := s.another()
			if result := s.pass(lagging); result.RequeueAfter == 0 {
				t.Error("a pass over an object that is gone does not come back")
			}
			s.meddler = func(client.Object) {}
			s.pass(r)
			second := s.entry()
			if second.UID != "uid-2" || second.Epoch <= first.Epoch || !second.EditTime.IsZero() {
				t.Errorf("registered %s, epoch %d after %d, edited %s", second.UID, second.Epoch, first.Epoch, second.EditTime)
			}
			s.meddler = func(obj client.Object) {
				if o, ok := obj.(*v1alpha1.ReminderSchedule); ok {
					stale.DeepCopyInto(o)
				}
			}
			s.pass(lagging)
			if got := s.entry(); got.UID != "uid-2" || got.Epoch != second.Epoch {
				t.Errorf("a cache that is behind has registered %s with epoch %d", got.UID, got.Epoch)
			}
			s.want(map[string]int{"Scheduled": 4})
		})
	}
}

// A conflict is over with the next pass: status does not speak of it, unless it lasts.
func TestConflictsShowInStatusOnlyWhenTheyLast(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	r := s.schedules()
	s.pass(r)
	before, stale := s.schedule(), s.schedule()
	s.edit(text("Bye"))
	s.pass(s.another())
	s.wait(11 * time.Second)
	s.meddler = func(obj client.Object) {
		if o, ok := obj.(*v1alpha1.ReminderSchedule); ok {
			version := s.schedule().ResourceVersion
			stale.DeepCopyInto(o)
			o.ResourceVersion = version // so that a write would succeed
		}
	}
	wrote := s.writes
	for range 20 {
		if result := s.pass(r); result.RequeueAfter != time.Second {
			t.Fatalf("comes back after %s, want 1s", result.RequeueAfter)
		}
		s.wait(time.Second)
	}
	if s.writes != wrote {
		t.Errorf("%d writes of status in 20 s of conflicts", s.writes-wrote)
	}
	for range 20 {
		s.pass(r)
		s.wait(time.Second)
	}
	if reason, _ := s.ready(); reason != v1alpha1.ReasonContended || s.writes == wrote {
		t.Errorf("after 40 s of conflicts the reason is %s (was %v), want Contended", reason, before.Status.Conditions)
	}
	s.meddler = func(client.Object) {}
	s.wait(11 * time.Second)
	s.pass(r)
	if reason, _ := s.ready(); reason == v1alpha1.ReasonContended {
		t.Error("the condition outlived the conflicts")
	}
}

func TestAPanicSetsAConditionAndIsCounted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(1))
	s.meddler = func(obj client.Object) {
		if _, ok := obj.(*v1alpha1.ReminderChannel); ok {
			panic("CANARY")
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic does not reach controller-runtime, which counts it")
			}
		}()
		_, _ = s.schedules().Reconcile(t.Context(), ctrl.Request{NamespacedName: renewal})
	}()
	reason, message := s.ready()
	if reason != v1alpha1.ReasonFailed || !strings.Contains(message, "panic") || strings.Contains(message, "CANARY") {
		t.Errorf("Ready is %s: %s; want Failed and what it is, without the value", reason, message)
	}
	if faults := condition.Check(s.schedule().Status.Conditions, 1); len(faults) > 0 {
		t.Errorf("conditions: %v", faults)
	}
}

func TestAPanicInParallelWorkIsAnError(t *testing.T) {
	t.Parallel()
	items := func(yield func(int) bool) {
		for i := range 1000 {
			if !yield(i) {
				return
			}
		}
	}
	err := inParallel(t.Context(), items, func(_ context.Context, i int) error {
		if i == 7 {
			panic("CANARY")
		}
		return nil
	})
	if p := (*panicked)(nil); !errors.As(err, &p) {
		t.Errorf("error %v, want that of a panic", err)
	}
}

// A Stalled schedule goes on counting, and says what it does and what not.
func TestAHeldScheduleIsHonest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2))
	r := s.schedules()
	s.pass(r)
	s.wait(11 * time.Second)
	totals := reminder.Totals{Namespace: "shop", Schedule: "renewal", Applied: 1, Sent: 1, Dead: 1, DeadTotal: 1, Outstanding: map[string]int64{"4102444800": 3}}
	if err := s.Broker.Tally.SaveTotals(t.Context(), totals, 0); err != nil {
		t.Fatal(err)
	}
	s.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.SLO = anObjective })
	s.pass(r)
	obj := s.schedule()
	reason, message := s.ready()
	if reason != v1alpha1.ReasonNotSupportedYet || !strings.Contains(message, "spec.slo") || !strings.Contains(message, "generation 1 has planned still goes out (3 reminders)") {
		t.Errorf("Ready is %s: %s", reason, message)
	}
	if obj.Status.NextDueTime != nil || len(obj.Status.Upcoming) > 0 {
		t.Errorf("it shows due times that nothing is planned for: %v", obj.Status.Upcoming)
	}
	if obj.Status.Counts.Sent != 1 || obj.Status.Counts.Dead != 1 || obj.Status.Counts.Pending != 3 {
		t.Errorf("counts %+v, want those of the ledger", obj.Status.Counts)
	}
	if faults := condition.Check(obj.Status.Conditions, 2); len(faults) > 0 {
		t.Errorf("conditions: %v", faults)
	}
}

func TestWhatIsWrongWithTheSpecIsSaidWithoutABroker(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(2, func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = cron("0 0 31 2 *") }))
	r := s.schedules()
	r.Broker = s.brokenBroker()
	s.pass(r)
	if reason, message := s.ready(); reason != v1alpha1.ReasonNeverOccurs || !strings.Contains(message, "spec.schedule.cron") {
		t.Errorf("Ready is %s: %s; want NeverOccurs, naming the field", reason, message)
	}
}

// T12: a schedule that can never occur, and one that is over, ask for no more passes.
func TestNothingToComeMeansNoMorePasses(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]v1alpha1.ScheduleSpec{
		"never occurs": cron("0 0 31 2 *"), "over": starting(ending(cron("* * * * *"), "2020-01-02T00:00:00Z"), "2020-01-01T00:00:00Z"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(s.hourly(1, func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = when }))
			r := s.schedules()
			for range 3 {
				if result := s.pass(r); result.RequeueAfter != 0 {
					t.Errorf("comes back after %s", result.RequeueAfter)
				}
				s.wait(11 * time.Second)
			}
			if s.writes != 1 {
				t.Errorf("%d writes of status, want 1", s.writes)
			}
			s.want(map[string]int{})
		})
	}
}

// M10: the one occurrence is past: the condition and an event say so.
func TestAOneOffOfThePastIsToldAndNotSent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(1, func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = at(clock("2020-01-01T00:00:00Z")) }))
	s.pass(s.schedules())
	if reason, message := s.ready(); reason != v1alpha1.ReasonFinished || !strings.Contains(message, "none fell due that could still be taken up") {
		t.Errorf("Ready is %s: %s", reason, message)
	}
	if got := s.told(); len(got) != 1 || !strings.Contains(got[0], "Warning OccurrencesMissed") {
		t.Errorf("events %q, want one that tells of the missed occurrence", got)
	}
}

// A one-off that is planned in this pass is not finished, although the counters do
// not know of it yet.
func TestAOneOffThatWasJustPlannedIsNotFinished(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(1, func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = at(s.now().Add(-time.Minute)) }))
	r := s.schedules()
	result := s.pass(r)
	if reason, _ := s.ready(); reason == v1alpha1.ReasonFinished {
		t.Error("it is Finished while its reminders wait")
	}
	if result.RequeueAfter != s.StatusInterval {
		t.Errorf("comes back after %s, want %s", result.RequeueAfter, s.StatusInterval)
	}
}

func TestT20AndT16WarningsAndTheZoneShowInStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	channel := &v1alpha1.ReminderChannel{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mail"}, Spec: v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeLog}}
	channel.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ReadyCondition, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAvailable}}
	s.create(channel, s.hourly(1, func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = cron("* 0 * * *") }))
	s.pass(s.schedules())
	if reason, message := s.ready(); reason != v1alpha1.ReasonPlanned || !strings.Contains(message, "60") {
		t.Errorf("Ready is %s: %s; want a warning of 60 occurrences", reason, message)
	}
	if got := s.schedule().Status.TimeZone; got != "UTC" {
		t.Errorf("time zone %q, want UTC", got)
	}
}

// Only another's change of status queues a pass: our own would write for ever.
func TestStatusEditedByHandQueuesAPass(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(1))
	r := s.schedules()
	before := s.schedule()
	s.pass(r)
	ours := s.schedule()
	passes := r.statusEdited().Update
	if passes(event.UpdateEvent{ObjectOld: before, ObjectNew: ours}) {
		t.Error("our own write queues a pass")
	}
	byHand := s.schedule()
	byHand.Status.PlannedThroughTime = &metav1.Time{Time: s.now().Add(1000 * time.Hour)}
	byHand.Status.Counts = &v1alpha1.ReminderCounts{Sent: 99}
	byHand.Status.FinishTime = byHand.Status.PlannedThroughTime
	if err := s.api.Status().Update(t.Context(), byHand); err != nil {
		t.Fatal(err)
	}
	if !passes(event.UpdateEvent{ObjectOld: ours, ObjectNew: s.schedule()}) {
		t.Error("a change by hand queues no pass")
	}
	label := s.schedule()
	label.Labels = map[string]string{"a": "b"}
	if passes(event.UpdateEvent{ObjectOld: s.schedule(), ObjectNew: label}) {
		t.Error("a label queues a pass")
	}
	s.wait(11 * time.Second)
	s.pass(r)
	healed := s.schedule().Status
	if healed.PlannedThroughTime.After(s.now().Add(lookAhead)) {
		t.Errorf("the cursor is still at %s", healed.PlannedThroughTime)
	}
	healed.PlannedThroughTime = ours.Status.PlannedThroughTime
	if diff := cmp.Diff(ours.Status, healed); diff != "" {
		t.Errorf("status did not heal (-before +after):\n%s", diff)
	}
}
