package convert_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func until(clock string) v1alpha1.DeliverySpec {
	return v1alpha1.DeliverySpec{DeadlineTimeOfDay: clock}
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant.UTC()
}

func TestDeadlineAtATimeOfDay(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ zone, clock, due, want string }{
		"the same day":                          {"Europe/Berlin", "17:00", "2026-11-03T08:00:00Z", "2026-11-03T16:00:00Z"},
		"the next day, past it":                 {"Europe/Berlin", "17:00", "2026-11-03T16:00:01Z", "2026-11-04T16:00:00Z"},
		"due exactly then is a day":             {"Europe/Berlin", "17:00", "2026-11-03T16:00:00Z", "2026-11-04T16:00:00Z"},
		"due a second before is a second":       {"Europe/Berlin", "17:00", "2026-11-03T15:59:59Z", "2026-11-03T16:00:00Z"},
		"midnight is the end of the day":        {"Europe/Berlin", "00:00", "2026-11-03T08:00:00Z", "2026-11-03T23:00:00Z"},
		"in the zone of the occurrence":         {"America/New_York", "17:00", "2026-11-03T14:00:00Z", "2026-11-03T22:00:00Z"},
		"a short day":                           {"Europe/Berlin", "17:00", "2026-03-28T16:00:00Z", "2026-03-29T15:00:00Z"},
		"a long day":                            {"Europe/Berlin", "17:00", "2026-10-24T15:00:00Z", "2026-10-25T16:00:00Z"},
		"a time that the clocks skip":           {"Europe/Berlin", "02:30", "2026-03-29T00:00:00Z", "2026-03-29T01:30:00Z"},
		"a time that they show twice, first":    {"Europe/Berlin", "02:30", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"},
		"and again":                             {"Europe/Berlin", "02:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		"half an hour is put back in Lord Howe": {"Australia/Lord_Howe", "17:00", "2026-04-04T06:00:00Z", "2026-04-05T06:30:00Z"},
		"a day that Samoa has skipped":          {"Pacific/Apia", "17:00", "2011-12-30T05:00:00Z", "2011-12-31T03:00:00Z"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := daily(delivery(until(c.clock)), func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.TimeZone = c.zone })
			compiled, err := convert.Schedule(obj, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := convert.DeadlinesOf(obj).Of(compiled, at(t, c.due)); !got.Equal(at(t, c.want)) {
				t.Errorf("got %s, want %s", got.Format(time.RFC3339), c.want)
			}
		})
	}
}

// In each zone, for each time of day: later than the due time by a second at least,
// within the bound, and what the clocks show then unless they skip it.
func TestDeadlinesAreBehindTheDueTime(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia", "America/Santiago", "Africa/Cairo", "Antarctica/Troll", "Pacific/Kwajalein"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		clock := schedule.Wall(2026, 1, 1, rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute"), 0).String()[11:16]
		obj := daily(delivery(until(clock)), func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.TimeZone = zone })
		compiled, err := convert.Schedule(obj, nil)
		if err != nil {
			t.Fatal(err)
		}
		due := time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "due"), 0).UTC()
		deadlines := convert.DeadlinesOf(obj)
		got := deadlines.Of(compiled, due)
		if d := got.Sub(due); d < time.Second || d > deadlines.Bound() || d%time.Second != 0 {
			t.Fatalf("%s before %s in %s: deadline %s, %s later", due, clock, zone, got, d)
		}
		if next := deadlines.Of(compiled, got.Add(-time.Second)); !next.Equal(got) {
			t.Fatalf("%s in %s: a second before %s the deadline is %s", clock, zone, got, next)
		}
		shown := got.In(compiled.Location()).Format("15:04")
		skipped := got.Add(-24*time.Hour).In(compiled.Location()).Format("-0700") != got.In(compiled.Location()).Format("-0700")
		if shown != clock && !skipped {
			t.Fatalf("the clocks in %s show %s, want %s", zone, shown, clock)
		}
	})
}

func TestLongestDeadline(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		delivery v1alpha1.DeliverySpec
		cron     string
		want     time.Duration
	}{
		"a length of time":            {v1alpha1.DeliverySpec{Deadline: seconds(90)}, "0 9 * * *", 90 * time.Second},
		"no deadline":                 {v1alpha1.DeliverySpec{}, "0 9 * * *", 4 * time.Hour},
		"from nine to five":           {until("17:00"), "0 9 * * *", 8 * time.Hour},
		"over the change in October":  {until("17:00"), "0 18 * * *", 24 * time.Hour},
		"at the time itself, a day":   {until("09:00"), "0 9 * * *", 25 * time.Hour},
		"every minute, the coming 33": {until("17:00"), "* * * * *", 24 * time.Hour},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := daily(delivery(c.delivery), func(o *v1alpha1.ReminderSchedule) {
				o.Spec.Schedule = v1alpha1.ScheduleSpec{Cron: c.cron, TimeZone: "Europe/Berlin"}
			})
			compiled, err := convert.Schedule(obj, nil)
			if err != nil {
				t.Fatal(err)
			}
			series, _ := convert.SeriesOf(obj, compiled, convert.Recipients(obj))
			if got := convert.DeadlinesOf(obj).Longest(obj, series, at(t, "2026-11-30T12:00:00Z")); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestEligibilityNamesTheField(t *testing.T) {
	t.Parallel()
	good := v1alpha1.DeliverySpec{Eligibility: "recipient.attributes.status == 'active'", EligibilityURL: "https://billing.example.com/eligible"}
	if err := convert.Eligibility(daily(delivery(good))); err != nil {
		t.Errorf("a good one: %v", err)
	}
	if err := convert.Eligibility(daily()); err != nil {
		t.Errorf("none: %v", err)
	}
	if got := convert.Entry(daily(delivery(good)), nil); got.Eligibility != good.Eligibility || string(got.EligibilityURL) != good.EligibilityURL {
		t.Errorf("the entry has %q and %q", got.Eligibility, string(got.EligibilityURL))
	}
	good.Eligibility = "recipient.attributes.status = 'active'"
	if err := convert.Eligibility(daily(delivery(good))); err == nil || !strings.HasPrefix(err.Error(), "spec.delivery.eligibility: line 1, column ") {
		t.Errorf("error %v, want one that begins with the field and the place", err)
	}
}
