package integration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// moved are the schedules whose occurrence a holiday moves or drops, before it is
// taken back again.
var moved = []string{"by-holiday", "by-file", "by-include", "by-holiday-skip", "by-holiday-anchor", "by-holiday-once", "by-holiday-once-skip"}

// calendarOf is a calendar without a weekend where the spec names none, so that the
// tests say the same on any day.
func calendarOf(name string, spec v1alpha1.BusinessCalendarSpec) *v1alpha1.BusinessCalendar {
	if spec.Weekend == nil {
		spec.Weekend = []v1alpha1.Weekday{}
	}
	return &v1alpha1.BusinessCalendar{ObjectMeta: metav1.ObjectMeta{Namespace: system.Tenant, Name: name}, Spec: spec}
}

// events is a ConfigMap with an iCalendar file of one day.
func events(day time.Time) *corev1.ConfigMap {
	text := "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Party\nDTSTART;VALUE=DATE:" + day.Format("20060102") + "\nEND:VEVENT\nEND:VCALENDAR\n"
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system.Tenant, Name: "events"}, Data: map[string]string{"calendar.ics": text}}
}

// by is a schedule for two recipients that is due in Tokyo at a time, by a calendar.
func by(name, calendar string, due time.Time, policy v1alpha1.BusinessDayPolicy) *v1alpha1.ReminderSchedule {
	return times(name, "mail", 2, v1alpha1.ScheduleSpec{Cron: daily(in(due, tokyo)), TimeZone: tokyo, CalendarName: calendar, OnNonBusinessDay: policy})
}

// makeCalendars makes calendars with schedules by them.
func (v *trial) makeCalendars(t *testing.T, due time.Time) {
	local := in(due, tokyo)
	today := []v1alpha1.Holiday{{Date: local.Format(time.DateOnly)}}
	v.Create(t, events(local.AddDate(0, 0, 40)),
		calendarOf("holiday", v1alpha1.BusinessCalendarSpec{}), calendarOf("gone", v1alpha1.BusinessCalendarSpec{}), calendarOf("again", v1alpha1.BusinessCalendarSpec{}),
		calendarOf("shut", v1alpha1.BusinessCalendarSpec{Holidays: today}),
		calendarOf("weekend", v1alpha1.BusinessCalendarSpec{Weekend: []v1alpha1.Weekday{v1alpha1.Weekday(local.Weekday().String())}}),
		calendarOf("file", v1alpha1.BusinessCalendarSpec{ICalendar: &v1alpha1.ICalendarSource{ConfigMapRef: v1alpha1.ConfigMapKeyRef{Name: "events"}}}),
		calendarOf("inner", v1alpha1.BusinessCalendarSpec{}), calendarOf("include", v1alpha1.BusinessCalendarSpec{Include: []string{"inner"}}))
	anchored := by("by-holiday-anchor", "holiday", due, v1alpha1.BusinessDayNext)
	anchored.Spec.Schedule.Cron, anchored.Spec.Schedule.Anchor = "", &v1alpha1.AnchorSpec{Attribute: "renewal", Time: local.Format("15:04")}
	for i := range anchored.Spec.Recipients {
		anchored.Spec.Recipients[i].Attributes["renewal"] = local.Format(time.DateOnly)
	}
	once, skipped := by("by-holiday-once", "holiday", due, v1alpha1.BusinessDayNext), by("by-holiday-once-skip", "holiday", due, v1alpha1.BusinessDaySkip)
	once.Spec.Schedule.Cron, once.Spec.Schedule.At = "", local.Format("2006-01-02T15:04:05")
	skipped.Spec.Schedule.Cron, skipped.Spec.Schedule.At = "", local.Format("2006-01-02T15:04:05")
	v.Create(t, anchored, once, skipped,
		by("by-holiday", "holiday", due, v1alpha1.BusinessDayNext), by("by-holiday-skip", "holiday", due, v1alpha1.BusinessDaySkip),
		by("by-file", "file", due, v1alpha1.BusinessDayNext), by("by-include", "include", due, v1alpha1.BusinessDayNext),
		by("by-gone", "gone", due, v1alpha1.BusinessDayNext), by("by-again", "again", due, v1alpha1.BusinessDayNext),
		by("by-shut", "shut", due, v1alpha1.BusinessDaySkip), by("by-weekend", "weekend", due, v1alpha1.BusinessDayNext), by("by-late", "late", due, v1alpha1.BusinessDayNext))
}

// calendars changes the calendars of schedules that are planned, and takes that back
// before they are due.
func (v *trial) calendars(t *testing.T, due time.Time) {
	v.makeCalendars(t, due)
	for _, name := range moved {
		v.planned(t, name, 2)
		v.nextIs(t, name, due)
	}
	v.declare(t, in(due, tokyo))
	for _, name := range moved {
		v.became(t, name, outcome{superseded: 2})
		if name != "by-holiday-once-skip" { // it never occurs then
			v.nextIs(t, name, due.Add(24*time.Hour))
		}
	}
	v.declare(t, in(due, tokyo).AddDate(0, 0, 40))
	for _, name := range moved {
		v.planned(t, name, 2)
		v.nextIs(t, name, due)
	}
	v.calendarsComeAndGo(t)
	if time.Now().After(due) {
		t.Fatal("the machine is too slow for this test: what was to be moved ahead of its time is due")
	}
}

// declare makes a day the only holiday of the calendars that schedules in moved use.
func (v *trial) declare(t *testing.T, day time.Time) {
	t.Helper()
	for _, name := range []string{"holiday", "inner"} {
		alter(t, v, calendarOf(name, v1alpha1.BusinessCalendarSpec{}), func(o *v1alpha1.BusinessCalendar) {
			o.Spec.Holidays = []v1alpha1.Holiday{{Date: day.Format(time.DateOnly), Name: "Strike"}}
		})
	}
	alter(t, v, events(day), func(o *corev1.ConfigMap) { o.Data = events(day).Data })
}

// nextIs waits until status says that the next occurrence is due then.
func (v *trial) nextIs(t *testing.T, schedule string, due time.Time) {
	t.Helper()
	v.WaitStatus(t, schedule, "next due "+due.Format(time.RFC3339), func(s v1alpha1.ReminderScheduleStatus) bool {
		return s.NextDueTime != nil && s.NextDueTime.Time.Equal(due) && s.Upcoming[0].Time.Equal(due)
	})
}

// calendarsComeAndGo deletes the calendars of planned schedules, and makes one anew
// and one that a schedule has waited for.
func (v *trial) calendarsComeAndGo(t *testing.T) {
	for _, name := range []string{"gone", "again"} {
		v.planned(t, "by-"+name, 2)
		if err := v.Client.Delete(t.Context(), calendarOf(name, v1alpha1.BusinessCalendarSpec{})); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"gone", "again", "late"} {
		v.WaitReason(t, "by-"+name, v1alpha1.ReasonCalendarNotFound)
	}
	v.became(t, "by-late", outcome{})
	v.Create(t, calendarOf("late", v1alpha1.BusinessCalendarSpec{}), calendarOf("again", v1alpha1.BusinessCalendarSpec{}))
	for _, name := range []string{"late", "again"} {
		v.WaitReason(t, "by-"+name, v1alpha1.ReasonPlanned)
		v.planned(t, "by-"+name, 2)
	}
	v.planned(t, "by-gone", 2)
}

// calendarsEnd looks at what was sent by calendars.
func (v *trial) calendarsEnd(t *testing.T, due time.Time) {
	for _, name := range append([]string{"by-gone", "by-again", "by-late"}, moved...) {
		v.ends(t, name, outcome{sent: 2})
	}
	v.WaitReason(t, "by-gone", v1alpha1.ReasonCalendarNotFound)
	v.Create(t, calendarOf("gone", v1alpha1.BusinessCalendarSpec{}))
	v.WaitReason(t, "by-gone", v1alpha1.ReasonPlanned)
	for _, name := range []string{"by-shut", "by-weekend"} {
		v.ends(t, name, outcome{})
		v.nextIs(t, name, due.Add(24*time.Hour))
	}
	for _, name := range []string{"by-holiday-once", "by-holiday-once-skip"} {
		v.WaitReason(t, name, v1alpha1.ReasonFinished)
	}
}
