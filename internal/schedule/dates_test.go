package schedule_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// firsts goes through all occurrences and tells of each whether its date has not come before.
func firsts(s *schedule.Schedule, from, to time.Time, visit func(o schedule.Occurrence, first bool)) {
	seen := map[string]bool{}
	for o := range s.Between(from.AddDate(0, 0, -4), to) {
		date := o.BusinessDate()
		if o.Due.After(from) {
			visit(o, !seen[date])
		}
		seen[date] = true
	}
}

func checkDates(t *rapid.T, spec schedule.Spec, s *schedule.Schedule, from, to time.Time) {
	n := 0
	firsts(s, from, to, func(o schedule.Occurrence, first bool) {
		if first {
			n++
		}
		if got := s.FirstOfDate(o); got != first {
			t.Fatalf("%+v: FirstOfDate(%v) = %v", spec, o, got)
		}
	})
	checkDateSteps(t, spec, s, from, to)
	if got := s.CountDates(from, to); got != n {
		t.Fatalf("%+v from %s to %s: CountDates = %d, want %d", spec, from, to, got, n)
	}
}

// checkDateSteps compares NextDate and PreviousDate, there and back, with going through all occurrences.
func checkDateSteps(t *rapid.T, spec schedule.Spec, s *schedule.Schedule, from, to time.Time) {
	var want []schedule.Occurrence
	firsts(s, from, to, func(o schedule.Occurrence, first bool) {
		if first {
			want = append(want, o)
		}
	})
	at := from
	for i, o := range want {
		if got, ok := s.NextDate(at); !ok || got != o {
			t.Fatalf("%+v: NextDate(%s) = %v, %v, want %v", spec, at, got, ok, o)
		}
		at = o.Due
		if got, ok := s.PreviousDate(at); !ok || got != o {
			t.Fatalf("%+v: PreviousDate(%s) = %v, %v, want %v", spec, at, got, ok, o)
		}
		if i == 0 {
			continue
		}
		if got, ok := s.PreviousDate(at.Add(-time.Second)); !ok || got != want[i-1] {
			t.Fatalf("%+v: PreviousDate a second before %s = %v, %v, want %v", spec, at, got, ok, want[i-1])
		}
	}
	if got, ok := s.NextDate(at); ok && !got.Due.After(to) {
		t.Fatalf("%+v: NextDate(%s) = %v, want one after %s", spec, at, got, to)
	}
	if got, ok := s.PreviousDate(to); len(want) > 0 && (!ok || got != want[len(want)-1]) {
		t.Fatalf("%+v: PreviousDate(%s) = %v, %v, want %v", spec, to, got, ok, want[len(want)-1])
	}
	if got, ok := s.PreviousDate(to); ok && len(want) == 0 && to.After(from) && got.Due.After(from) {
		t.Fatalf("%+v: PreviousDate(%s) = %v, want none after %s", spec, to, got, from)
	}
}

func TestDatesAreCountedAsIfOneByOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		from := drawInstant(t, s.Location(), "from")
		length := rapid.Int64Range(-3600, 10*86400).Draw(t, "length")
		if spec.Every != 0 && spec.Every < time.Minute {
			length %= 4 * 3600
		}
		checkDates(t, spec, s, from, from.Add(time.Duration(length)*time.Second))
	})
}

func TestDatesOfBusinessDaysAreCountedAsIfOneByOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s, from := drawBusiness(t)
		checkDates(t, spec, s, from, from.AddDate(0, 0, rapid.IntRange(0, 20).Draw(t, "days")))
	})
}

// What is shifted over midnight comes after the first of the next date, and is still the first of its own.
func TestDatesAroundAGapAtMidnight(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec     schedule.Spec
		from, to string
		want     int
	}{
		"a minute over a year":    {schedule.Spec{Cron: "* * * * *", TimeZone: "America/Santiago"}, "2026-01-01T02:59:59Z", "2027-01-01T02:59:59Z", 365},
		"from the middle of one":  {schedule.Spec{Cron: "* * * * *"}, "2026-01-01T12:00:00Z", "2026-01-03T12:00:00Z", 2},
		"to the first of one":     {schedule.Spec{Cron: "0 9,17 * * *"}, "2026-01-01T12:00:00Z", "2026-01-03T09:00:00Z", 2},
		"a whole day is skipped":  {schedule.Spec{Cron: "* 9 * * *", TimeZone: "Pacific/Apia"}, "2011-12-28T12:00:00Z", "2012-01-02T12:00:00Z", 5},
		"and one of its own time": {schedule.Spec{Cron: "0 9 30 12 *", TimeZone: "Pacific/Apia"}, "2011-12-01T00:00:00Z", "2012-01-01T00:00:00Z", 1},
		"both passes are one":     {schedule.Spec{Cron: "30 1 * * *", TimeZone: "America/New_York", Overlap: schedule.OverlapBoth}, "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", 1},
		"the second pass alone":   {schedule.Spec{Cron: "30 1 * * *", TimeZone: "America/New_York", Overlap: schedule.OverlapBoth}, "2026-11-01T05:30:00Z", "2026-11-02T00:00:00Z", 0},
		"shifted into the next":   {schedule.Spec{Cron: "15 23 * * *", TimeZone: "America/Nuuk"}, "2026-03-28T12:00:00Z", "2026-03-31T12:00:00Z", 3},
		"a date begins twice":     {schedule.Spec{Cron: "* * * * *", TimeZone: "America/St_Johns"}, "2010-11-05T12:00:00Z", "2010-11-09T12:00:00Z", 4},
		"nothing":                 {schedule.Spec{Cron: "* * * * *"}, "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", 0},
	}
	for name, test := range tests {
		s, from, to := compile(t, test.spec), instant(t, test.from), instant(t, test.to)
		if got := s.CountDates(from, to); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
		there, back := 0, 0
		for o, ok := s.NextDate(from); ok && !o.Due.After(to); o, ok = s.NextDate(o.Due) {
			there++
		}
		for o, ok := s.PreviousDate(to); ok && o.Due.After(from); o, ok = s.PreviousDate(o.Due.Add(-time.Second)) {
			back++
		}
		if there != test.want || back != test.want {
			t.Errorf("%s: NextDate steps %d times, PreviousDate %d times, want %d", name, there, back, test.want)
		}
	}
}

func TestAtIsTheOccurrenceOfThatInstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		for _, o := range collect(s, drawInstant(t, s.Location(), "after"), 10) {
			if got, ok := s.At(o.Due); !ok || got != o {
				t.Fatalf("%+v: At(%s) = %v, %v, want %v", spec, o.Due, got, ok, o)
			}
			if got, ok := s.At(o.Due.Add(1)); ok {
				t.Fatalf("%+v: a nanosecond after %s: %v", spec, o.Due, got)
			}
			if got, ok := s.At(o.Due.Add(-time.Second)); ok && spec.Every != time.Second {
				t.Fatalf("%+v: a second before %s: %v", spec, o.Due, got)
			}
		}
	})
}

func TestAStoredLocalTimeIsResolvedAgain(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Cron: "30 2 * * *", TimeZone: "America/New_York"})
	o, ok, err := s.ResolveLocal("2026-03-08T02:30:00")
	if err != nil || !ok || o.Due != instant(t, "2026-03-08T07:30:00Z") || o.Nominal.String() != "2026-03-08T02:30:00" {
		t.Errorf("%v, %v, %v", o, ok, err)
	}
	for _, text := range []string{"", "2026-03-08", "2026-03-08T02:30:00Z", "2026-03-08T02:30:00.5", "2026-02-30T02:30:00", "2026-3-08T02:30:00 "} {
		_, _, err := s.ResolveLocal(text)
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		checkRefusal(t, err)
	}
}

// T17: planned for 14:00Z by data that still had summer time, it is due at 15:00Z, under the same local time.
func TestAStoredLocalTimeFollowsTheZoneData(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Cron: "0 9 * * *", TimeZone: "America/Mexico_City"})
	o, ok, err := s.ResolveLocal("2026-07-01T09:00:00")
	if planned, known := s.At(o.Due); err != nil || !ok || o.Due != instant(t, "2026-07-01T15:00:00Z") || !known || planned != o {
		t.Errorf("%v, %v, %v; planned %v", o, ok, err, planned)
	}
	if o, ok := s.At(instant(t, "2026-07-01T14:00:00Z")); ok {
		t.Errorf("what the old data said is still there: %v", o)
	}
}

func TestWallTimesPrintWhatTheyAreReadFrom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := schedule.Wall(rapid.IntRange(0, 9999).Draw(t, "year"), 1, 1, 0, 0, rapid.IntRange(0, 365*86400-1).Draw(t, "second"))
		if again, err := schedule.ParseWallTime(w.String()); err != nil || again != w {
			t.Fatalf("%s is read as %s, %v", w, again, err)
		}
	})
}
