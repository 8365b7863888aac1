package controllers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// clock reads a time of 2026-11-30, or a whole RFC 3339 one.
func clock(text string) time.Time {
	if !strings.Contains(text, "T") {
		text = "2026-11-30T" + text + "Z"
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

type change = func(*v1alpha1.ReminderSchedule)

// schedules are made at 10:00:00 unless a change says otherwise.
func aSchedule(when v1alpha1.ScheduleSpec, changes ...change) *v1alpha1.ReminderSchedule {
	obj := &v1alpha1.ReminderSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "renewal", UID: "uid-1", Generation: 1, CreationTimestamp: metav1.Time{Time: clock("10:00:00")}},
		Spec: v1alpha1.ReminderScheduleSpec{
			Schedule: when, ChannelName: "mail",
			Recipients: []v1alpha1.Recipient{{ID: "ada", Address: "ada@example.com"}},
			Message:    v1alpha1.MessageSpec{Body: "Hello"},
		},
	}
	for _, c := range changes {
		c(obj)
	}
	return obj
}

func cron(expression string) v1alpha1.ScheduleSpec { return v1alpha1.ScheduleSpec{Cron: expression} }

func at(t time.Time) v1alpha1.ScheduleSpec {
	return v1alpha1.ScheduleSpec{At: t.UTC().Format(time.RFC3339)}
}

func eachTime(d time.Duration) v1alpha1.ScheduleSpec {
	return v1alpha1.ScheduleSpec{Every: duration(d)}
}

func duration(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func createdAt(text string) change {
	return func(o *v1alpha1.ReminderSchedule) { o.CreationTimestamp.Time = clock(text) }
}

// cursor is a status whose pass has planned through a time.
func cursor(through string) change {
	return func(o *v1alpha1.ReminderSchedule) {
		o.Status.ObservedGeneration = o.Generation
		o.Status.PlannedThroughTime = &metav1.Time{Time: clock(through)}
	}
}

// edited is the next generation, of which status knows nothing yet.
func edited(how change) change {
	return func(o *v1alpha1.ReminderSchedule) {
		o.Generation++
		how(o)
	}
}

func deadline(d time.Duration) change {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Delivery = &v1alpha1.DeliverySpec{Deadline: duration(d)} }
}

func deadlineAt(clock string) change {
	return func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Delivery = &v1alpha1.DeliverySpec{DeadlineTimeOfDay: clock}
	}
}

func eligibility(rule string) change {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Delivery = &v1alpha1.DeliverySpec{Eligibility: rule} }
}

// seriesFor are the occurrences of an object without a calendar.
func seriesFor(t testing.TB, obj *v1alpha1.ReminderSchedule) []convert.Series {
	t.Helper()
	compiled, err := convert.Schedule(obj, nil)
	if err != nil {
		t.Fatal(err)
	}
	series, _ := convert.SeriesOf(obj, compiled, convert.Recipients(obj))
	return series
}

func window(d time.Duration) change {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Window: duration(d)} }
}

// anObjective is a field that this version does not act on.
var anObjective = &v1alpha1.SLOSpec{Objective: "99.9"}

// entryOf is what the registry has after a pass over an object.
func entryOf(obj *v1alpha1.ReminderSchedule, changes ...func(*reminder.Schedule)) reminder.Schedule {
	entry := convert.Entry(obj, convert.Recipients(obj))
	entry.Epoch, entry.PlanGeneration = 7, entry.Generation
	for _, c := range changes {
		c(&entry)
	}
	return entry
}

// planned is an entry whose schedule is planned through a time.
func planned(through time.Time) func(*reminder.Schedule) {
	return func(e *reminder.Schedule) { e.Cursor = reminder.Cursor{DoneTime: through, ThroughTime: through} }
}

// planOf plans with a look-ahead of 15 minutes.
func planOf(t testing.TB, in scheduleInput) schedulePlan {
	t.Helper()
	in.recipients, in.series = convert.Recipients(in.object), seriesFor(t, in.object)
	in.retention = 7 * 24 * time.Hour
	if in.lookAhead == 0 {
		in.lookAhead = 15 * time.Minute
	}
	return planSchedule(in)
}

// missed is what a plan makes of what fell due while nothing was planned.
type missed struct {
	// some: at least one occurrence is given up.
	some bool
	// taken is the due time of the latest that is taken up; zero for none.
	taken time.Time
}

func missedBy(p schedulePlan, now time.Time) missed {
	m := missed{some: p.entry.Cursor.Missed != nil}
	for one := range p.reminders {
		if !one.DueTime.After(now) {
			m.taken = later(m.taken, one.DueTime)
		}
	}
	return m
}

// slots are the due times of a plan: as time of day on 2026-11-30.
func slots(p schedulePlan) []string {
	var all []string
	for one := range p.reminders {
		text := strings.TrimSuffix(strings.TrimPrefix(one.Key.Slot, "2026-11-30T"), "Z")
		if len(all) == 0 || all[len(all)-1] != text {
			all = append(all, text)
		}
	}
	return all
}
