package controllers

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// A schedule has ended by its spec, never because nobody is to be reminded just now.
func TestOver(t *testing.T) {
	t.Parallel()
	nobody := func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients[0].Active = new(false) }
	byDate := v1alpha1.ScheduleSpec{Anchor: &v1alpha1.AnchorSpec{Attribute: "renews", Time: "09:00"}}
	past := func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Recipients[0].Attributes = map[string]string{"renews": "2020-01-01"}
	}
	cases := map[string]struct {
		object *v1alpha1.ReminderSchedule
		want   bool
	}{
		"it goes on":                              {aSchedule(cron("0 * * * *")), false},
		"it goes on, for nobody":                  {aSchedule(cron("0 * * * *"), nobody), false},
		"it has an end, for nobody":               {aSchedule(ending(cron("0 * * * *"), "2040-01-01T00:00:00Z"), nobody), false},
		"its end is past":                         {aSchedule(ending(cron("0 * * * *"), "11:30:00")), true},
		"nothing falls before its end":            {aSchedule(ending(cron("0 * * * *"), "12:59:00")), true},
		"its one time is past":                    {aSchedule(at(clock("11:00:00"))), true},
		"its one time is ahead, for nobody":       {aSchedule(at(clock("18:00:00")), nobody), false},
		"all dates are past: others may come":     {aSchedule(byDate, past), false},
		"all dates are past, and its end is":      {aSchedule(ending(byDate, "11:30:00"), past), true},
		"suspended, whatever it would be":         {aSchedule(at(clock("11:00:00")), suspended(true)), false},
		"all dates are past, and its end is not":  {aSchedule(ending(byDate, "2040-01-01T00:00:00Z"), past), false},
		"the rule counts to its end":              {aSchedule(starting(v1alpha1.ScheduleSpec{RRule: "FREQ=DAILY;COUNT=2"}, "2026-11-01T09:00:00Z")), true},
		"the rule has not counted to its end yet": {aSchedule(starting(v1alpha1.ScheduleSpec{RRule: "FREQ=DAILY;COUNT=99"}, "2026-11-01T09:00:00Z")), false},
	}
	for name, c := range cases {
		times := scheduleTimes{compiled: compiled(t, c.object), recipients: convert.Recipients(c.object)}
		times.series, times.excluded = convert.SeriesOf(c.object, times.compiled, times.recipients)
		if got := times.over(c.object, clock("12:30:00")); got != c.want {
			t.Errorf("%s: over is %v, want %v", name, got, c.want)
		}
	}
}

// ttlAfterFinished deletes what has ended, and nothing else: not a schedule for nobody,
// not one with a reminder without an outcome or with a dead letter, not one that is
// held since.
func TestTTLAfterFinished(t *testing.T) {
	t.Parallel()
	end := func(state reminder.State) func(*site) {
		return func(s *site) { s.end(state) }
	}
	cases := map[string]struct {
		between func(*site)
		gone    bool
	}{
		"all were sent":      {end(reminder.Sent), true},
		"all were cancelled": {end(reminder.Cancelled), true},
		"one is dead":        {end(reminder.Dead), false},
		"one is in flight":   {end(reminder.Claimed), false},
		"nobody is to be reminded any more": {func(s *site) {
			s.edit(func(o *v1alpha1.ReminderSchedule) {
				o.Spec.Recipients = o.Spec.Recipients[:1]
				o.Spec.Recipients[0].Active = new(false)
				o.Spec.Schedule.EndTime.Time = o.Spec.Schedule.EndTime.AddDate(9, 0, 0)
			})
		}, false},
		"its spec cannot be planned any more": {func(s *site) {
			s.end(reminder.Sent)
			s.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.TTLAfterFinished = duration(5 * time.Minute) })
			s.pass(s.schedules())
			if s.schedule().Status.FinishTime == nil {
				s.t.Error("it has not finished")
			}
			s.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.SLO = anObjective })
			s.wait(10 * time.Minute)
		}, false},
		"it is suspended": {func(s *site) { s.end(reminder.Sent); s.edit(suspended(true)) }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(s.hourly(1, func(o *v1alpha1.ReminderSchedule) { o.Spec.TTLAfterFinished = duration(30 * time.Second) }))
			r := s.schedules()
			s.pass(r)
			s.wait(2 * time.Minute)
			c.between(s)
			for range 4 {
				s.wait(11 * time.Second)
				if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: renewal}); err != nil {
					t.Fatal(err)
				}
			}
			obj := &v1alpha1.ReminderSchedule{}
			err := s.api.Get(t.Context(), renewal, obj)
			if gone := apierrors.IsNotFound(err) || err == nil && !obj.DeletionTimestamp.IsZero(); gone != c.gone {
				t.Errorf("deleted is %v, want %v; finished at %v", gone, c.gone, obj.Status.FinishTime)
			}
		})
	}
}

// end brings all reminders of the schedule into a state, without the counters.
func (s *site) end(state reminder.State) {
	s.t.Helper()
	for _, rev := range s.revisions() {
		r := rev.Record
		previous := r.Footprint()
		r.Previous, r.State, r.FinishTime, r.UpdateTime = &previous, state, s.now(), s.now()
		if state == reminder.Claimed {
			r.FinishTime = time.Time{}
		}
		if _, err := s.Broker.Ledger.Update(s.t.Context(), r, rev.Number); err != nil {
			s.t.Fatal(err)
		}
	}
}
