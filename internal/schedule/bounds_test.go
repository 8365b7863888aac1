package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func TestStartIsIncludedAndEndIsNot(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{
		Cron: "0 9 * * *", Start: instant(t, "2026-12-01T09:00:00Z"), End: instant(t, "2026-12-03T09:00:00Z"),
	})
	want := []string{"2026-12-01T09:00:00Z", "2026-12-02T09:00:00Z"}
	if got := dues(s, time.Time{}, 5); !slices.Equal(got, want) {
		t.Errorf("Next: %v, want %v", got, want)
	}
	var got []string
	for o := range s.Between(time.Time{}, instant(t, "9999-01-01T00:00:00Z")) {
		got = append(got, o.Due.Format(time.RFC3339))
	}
	if !slices.Equal(got, want) {
		t.Errorf("Between: %v, want %v", got, want)
	}
	if o, ok := s.Previous(instant(t, "2030-01-01T00:00:00Z")); !ok || o.Due != instant(t, want[1]) {
		t.Errorf("Previous: %v, %v", o, ok)
	}
	if o, ok := s.Previous(instant(t, want[0])); !ok || o.Due != instant(t, want[0]) {
		t.Errorf("Previous at the start: %v, %v", o, ok)
	}
	if o, ok := s.Previous(instant(t, "2026-12-01T08:59:59Z")); ok {
		t.Errorf("Previous before the start: %v", o)
	}
}

func TestBoundsWithAFractionOfASecond(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{
		Every: time.Second, Origin: instant(t, "2026-12-01T00:00:00.9Z"),
		Start: instant(t, "2026-12-01T00:00:01.1Z"), End: instant(t, "2026-12-01T00:00:03.1Z"),
	})
	want := []string{"2026-12-01T00:00:02Z", "2026-12-01T00:00:03Z"}
	if got := dues(s, time.Time{}, 5); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAnIntervalBeginsAtItsOrigin(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Every: 36 * time.Hour, Origin: instant(t, "2026-12-01T09:00:00Z")})
	if got := dues(s, time.Time{}, 1); got[0] != "2026-12-01T09:00:00Z" {
		t.Errorf("first: %v", got)
	}
	if o, ok := s.Previous(instant(t, "2026-12-01T08:59:59Z")); ok {
		t.Errorf("Previous before the origin: %v", o)
	}
	if o, ok := s.Previous(instant(t, "2036-12-01T09:00:00Z")); !ok || o.Due.Sub(instant(t, "2026-12-01T09:00:00Z"))%(36*time.Hour) != 0 {
		t.Errorf("Previous: %v, %v", o, ok)
	}
}

func TestBetweenExcludesItsBeginningAndIncludesItsEnd(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Cron: "@hourly"})
	var got []int
	for o := range s.Between(instant(t, "2026-12-01T09:00:00Z"), instant(t, "2026-12-01T12:00:00Z")) {
		got = append(got, o.Due.Hour())
	}
	if !slices.Equal(got, []int{10, 11, 12}) {
		t.Errorf("got %v", got)
	}
}

func TestBetweenStopsWhenAsked(t *testing.T) {
	t.Parallel()
	origin := instant(t, "2026-03-01T00:00:00Z")
	for _, spec := range []schedule.Spec{
		{Cron: "* * * * *", TimeZone: "America/New_York"},
		{Cron: "30 2,3 * * *", TimeZone: "America/New_York"},
		{Every: time.Minute, Origin: origin},
		{At: "2026-03-08T02:30:00", TimeZone: "America/New_York"},
		{At: "2026-03-08T02:30:00Z"},
	} {
		n := 0
		for range compile(t, spec).Between(origin, instant(t, "9999-12-31T23:59:59Z")) {
			if n++; n == 9 {
				break
			}
		}
		if want := map[bool]int{true: 9, false: 1}[spec.At == ""]; n != want {
			t.Errorf("%+v: stopped after %d, want %d", spec, n, want)
		}
	}
}

func TestThereIsNothingBeyondTheYears1To9999(t *testing.T) {
	t.Parallel()
	first, last := instant(t, "0001-01-01T00:00:00Z"), instant(t, "9999-12-31T23:59:59Z")
	for _, spec := range []schedule.Spec{
		{Cron: "* * * * *", TimeZone: "America/New_York"},
		{Cron: "0 0 29 2 *", TimeZone: "Pacific/Apia"},
		{Cron: "* * * * *"},
		{Every: time.Hour, Origin: first.Add(time.Hour)},
	} {
		s := compile(t, spec)
		if o, ok := s.Next(last); ok {
			t.Errorf("%+v: Next = %v", spec, o)
		}
		if o, ok := s.Next(last.AddDate(100000, 0, 0)); ok {
			t.Errorf("%+v: Next = %v", spec, o)
		}
		if o, ok := s.Previous(first.Add(-1)); ok {
			t.Errorf("%+v: Previous = %v", spec, o)
		}
		if o, ok := s.Next(first.AddDate(-100000, 0, 0)); !ok || o.Due.Before(first) {
			t.Errorf("%+v: first = %v, %v", spec, o, ok)
		}
		if o, ok := s.Previous(last.AddDate(100000, 0, 0)); !ok || o.Due.After(last) {
			t.Errorf("%+v: last = %v, %v", spec, o, ok)
		}
	}
}

// M1: however long the outage, the latest missed occurrence is found at once, and counting the missed ones is exact.
func TestALongOutageIsCountedAndItsLatestOccurrenceFound(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Cron: "* * * * *", TimeZone: "Europe/Berlin"})
	down, up := instant(t, "2026-10-25T00:00:30Z"), instant(t, "2026-10-25T01:42:30Z")
	n := 0
	for range s.Between(down, up) {
		n++
	}
	latest, ok := s.Previous(up)
	if counted := s.Count(down, up); counted != n {
		t.Errorf("Count = %d, Between has %d", counted, n)
	}
	if n != 102 || !ok || latest.Due != instant(t, "2026-10-25T01:42:00Z") {
		t.Errorf("%d missed, latest %v, %v", n, latest, ok)
	}
}

func TestResolveReadsAWallTimeByTheSchedulesPolicies(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Cron: "0 9 * * *", TimeZone: "America/New_York", Overlap: schedule.OverlapLast})
	tests := map[string]struct {
		wall schedule.WallTime
		want string
	}{
		"a plain time":   {schedule.Wall(2026, 12, 1, 17, 0, 0), "2026-12-01T22:00:00Z"},
		"a missing time": {schedule.Wall(2026, 3, 8, 2, 30, 0), "2026-03-08T07:30:00Z"},
		"a double time":  {schedule.Wall(2026, 11, 1, 1, 30, 0), "2026-11-01T06:30:00Z"},
	}
	for name, test := range tests {
		if o, ok := s.Resolve(test.wall); !ok || o.Due != instant(t, test.want) || o.Nominal != test.wall {
			t.Errorf("%s: Resolve(%s) = %v, %v", name, test.wall, o, ok)
		}
	}
	skip := compile(t, schedule.Spec{Cron: "0 9 * * *", TimeZone: "America/New_York", Gap: schedule.GapSkip})
	if o, ok := skip.Resolve(schedule.Wall(2026, 3, 8, 2, 30, 0)); ok {
		t.Errorf("a missing time is dropped: got %v", o)
	}
}

func TestWallTime(t *testing.T) {
	t.Parallel()
	w := schedule.Wall(2026, 2, 28, 23, 59, 59).Add(time.Second)
	year, month, day := w.Date()
	hour, minute, second := w.Clock()
	text, err := w.MarshalText()
	if year != 2026 || month != time.March || day != 1 || hour+minute+second != 0 || w.Weekday() != time.Sunday {
		t.Errorf("got %s", w)
	}
	if err != nil || string(text) != "2026-03-01T00:00:00" || w.String() != string(text) {
		t.Errorf("MarshalText = %s, %v", text, err)
	}
}
