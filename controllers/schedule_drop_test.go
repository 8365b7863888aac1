package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
)

// A schedule may have no occurrence left because its calendar has changed: what is
// planned must not go out then, and must when the calendar has changed back.
func TestAHolidayThatDropsTheOnlyOccurrenceCancelsIt(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*v1alpha1.ScheduleSpec, time.Time){
		"dropped by Skip":            func(s *v1alpha1.ScheduleSpec, _ time.Time) { s.OnNonBusinessDay = v1alpha1.BusinessDaySkip },
		"moved by Next past its end": func(s *v1alpha1.ScheduleSpec, due time.Time) { s.EndTime = &metav1.Time{Time: due.Add(time.Hour)} },
		"moved by Previous before it": func(s *v1alpha1.ScheduleSpec, due time.Time) {
			s.OnNonBusinessDay, s.StartTime = v1alpha1.BusinessDayPrevious, &metav1.Time{Time: due.Add(-time.Hour)}
		},
	}
	for name, policy := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, aCalendar("office", v1alpha1.BusinessCalendarSpec{Weekend: []v1alpha1.Weekday{}}))
			s.calendars = &calendarCache{}
			due := s.now().Add(5 * time.Minute).Truncate(time.Second)
			s.create(s.hourly(1, func(o *v1alpha1.ReminderSchedule) {
				o.Spec.Schedule = v1alpha1.ScheduleSpec{At: due.Format("2006-01-02T15:04:05"), CalendarName: "office"}
				policy(&o.Spec.Schedule, due)
			}))
			r := s.schedules()
			for _, step := range []struct {
				holidays []v1alpha1.Holiday
				records  map[string]int
				messages int
				reason   string
			}{
				{nil, map[string]int{"Scheduled": 2}, 2, v1alpha1.ReasonChannelNotFound},
				{[]v1alpha1.Holiday{{Date: due.Format(time.DateOnly)}}, map[string]int{"Cancelled Superseded": 2}, 0, v1alpha1.ReasonNeverOccurs},
				{nil, map[string]int{"Scheduled": 2}, 2, v1alpha1.ReasonChannelNotFound},
			} {
				office := &v1alpha1.BusinessCalendar{}
				if err := s.api.Get(t.Context(), client.ObjectKey{Namespace: renewal.Namespace, Name: "office"}, office); err != nil {
					t.Fatal(err)
				}
				office.Spec.Holidays = step.holidays
				if err := s.api.Update(t.Context(), office); err != nil {
					t.Fatal(err)
				}
				s.wait(s.StatusInterval)
				s.pass(r)
				if diff := cmp.Diff(step.records, s.records()); diff != "" || s.messages() != step.messages {
					t.Errorf("with the holidays %v: %d messages, records %s", step.holidays, s.messages(), diff)
				}
				if reason, message := s.ready(); reason != step.reason {
					t.Errorf("with the holidays %v: Ready says %s: %s, want %s", step.holidays, reason, message, step.reason)
				}
			}
		})
	}
}
