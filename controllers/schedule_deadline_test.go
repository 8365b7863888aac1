package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// Each recipient's deadline is a time of its own day, also where the clocks change.
func TestADeadlineAtATimeOfDay(t *testing.T) {
	t.Parallel()
	byClock := with(cron("0 9 * * *"), func(s *v1alpha1.ScheduleSpec) {
		s.TimeZoneFrom, s.TimeZone = v1alpha1.TimeZoneFromRecipient, "Europe/Berlin"
	})
	obj := aSchedule(byClock, deadlineAt("17:00"), people(v1alpha1.Recipient{ID: "none"}, v1alpha1.Recipient{ID: "tokyo", TimeZone: "Asia/Tokyo"}, v1alpha1.Recipient{ID: "york", TimeZone: "America/New_York"}))
	var got []string
	for _, one := range plannedBy(planOf(t, scheduleInput{object: obj, entry: entryOf(obj), lookAhead: 24 * time.Hour, now: clock("18:00:00")})) {
		got = append(got, one.Key.Recipient+" "+one.ReleaseTime.Format(time.RFC3339)+" "+one.DeadlineTime.Format(time.RFC3339))
	}
	want := []string{
		"tokyo 2026-12-01T00:00:00Z 2026-12-01T08:00:00Z", "none 2026-12-01T08:00:00Z 2026-12-01T16:00:00Z", "york 2026-12-01T14:00:00Z 2026-12-01T22:00:00Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
}

// What is missed is taken up until the time of day comes, and not a second longer.
func TestCatchUpEndsAtTheTimeOfDay(t *testing.T) {
	t.Parallel()
	obj := aSchedule(cron("0 * * * *"), deadlineAt("12:00"), func(o *v1alpha1.ReminderSchedule) {
		o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: v1alpha1.CatchUpAll, Window: duration(24 * time.Hour), Limit: new(int32(100))}
	})
	for now, want := range map[string][]string{
		"11:59:59": {"09:00:00", "10:00:00", "11:00:00", "12:00:00"},
		"12:00:00": {"12:00:00"},
		"12:30:00": {"12:00:00"},
	} {
		plan := planOf(t, scheduleInput{object: obj, entry: entryOf(obj, planned(clock("08:30:00"))), lookAhead: time.Minute, now: clock(now)})
		if diff := cmp.Diff(want, slots(plan)); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", now, diff)
		}
		for one := range plan.reminders {
			if !one.ReleaseTime.Before(one.DeadlineTime) {
				t.Errorf("I4: at %s released at %s, with the deadline %s", now, one.ReleaseTime, one.DeadlineTime)
			}
		}
	}
}

// Whatever the jitter, the catching up and the clocks: a reminder can be sent for a
// second at least before its deadline, and neither before it is due.
func TestEveryReminderCanBeSent(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo"}
	rapid.Check(t, func(r *rapid.T) {
		spec := with(cron(rapid.SampledFrom([]string{"* * * * *", "*/7 * * * *", "59 16 * * *", "0 17 * * *", "30 2 * * *"}).Draw(r, "cron")), func(s *v1alpha1.ScheduleSpec) {
			s.TimeZone = rapid.SampledFrom(zones).Draw(r, "zone")
			s.Jitter = duration(time.Duration(rapid.IntRange(0, 86400).Draw(r, "jitter")) * time.Second)
		})
		obj := aSchedule(spec, people(many(2)...), deadlineAt(fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(r, "hour"), rapid.IntRange(0, 59).Draw(r, "minute"))), func(o *v1alpha1.ReminderSchedule) {
			o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: v1alpha1.CatchUpAll, Window: duration(3 * time.Hour), Limit: new(int32(200))}
		})
		now := time.Unix(rapid.Int64Range(1_790_000_000, 1_820_000_000).Draw(r, "now"), 0).UTC()
		since := now.Add(-time.Duration(rapid.IntRange(0, 180).Draw(r, "down")) * time.Minute)
		for _, one := range plannedBy(planOf(t, scheduleInput{object: obj, entry: entryOf(obj, planned(since)), lookAhead: time.Hour, now: now})) {
			if one.ReleaseTime.Before(one.DueTime) || one.DeadlineTime.Sub(one.ReleaseTime) < time.Second || one.DeadlineTime.Sub(one.DueTime) > convert.DeadlinesOf(obj).Bound() {
				r.Fatalf("I4: due %s, released %s, deadline %s", one.DueTime, one.ReleaseTime, one.DeadlineTime)
			}
		}
	})
}
