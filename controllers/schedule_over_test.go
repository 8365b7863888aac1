package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
)

// A schedule that no occurrence of a recipient wakes is looked at when it may be over.
func TestAScheduleForNobodyBecomesFinishedByItself(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*v1alpha1.ReminderSchedule, time.Time){
		"dates that are past, up to endTime": func(o *v1alpha1.ReminderSchedule, end time.Time) {
			o.Spec.Schedule = v1alpha1.ScheduleSpec{Anchor: &v1alpha1.AnchorSpec{Attribute: "renews", Time: "09:00"}, EndTime: &metav1.Time{Time: end}}
			o.Spec.Recipients[0].Attributes = map[string]string{"renews": "2020-01-01"}
		},
		"one time, for nobody": func(o *v1alpha1.ReminderSchedule, end time.Time) {
			o.Spec.Schedule = at(end)
			o.Spec.Recipients[0].Active, o.Spec.Recipients[1].Active = new(false), new(false)
		},
		"some times, for nobody": func(o *v1alpha1.ReminderSchedule, _ time.Time) {
			o.Spec.Recipients[0].Active, o.Spec.Recipients[1].Active = new(false), new(false)
		},
	}
	for name, spec := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(s.hourly(3, func(o *v1alpha1.ReminderSchedule) { spec(o, s.now().Add(5*time.Minute).Truncate(time.Second)) }))
			r := s.schedules()
			for passes := 0; s.schedule().Status.FinishTime == nil; passes++ {
				wait := s.pass(r).RequeueAfter
				if finished := s.schedule().Status.FinishTime != nil; !finished && wait == 0 || passes > 10 {
					t.Fatalf("after %d passes it waits %s and is not finished", passes+1, wait)
				}
				s.wait(wait)
			}
			if reason, _ := s.ready(); reason != v1alpha1.ReasonFinished {
				t.Errorf("Ready says %s", reason)
			}
		})
	}
}
