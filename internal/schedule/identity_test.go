package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// M3: the jitter of a reminder is the same for ever. These values must never change: what is planned would move.
func TestJitterNeverChanges(t *testing.T) {
	t.Parallel()
	for slot, want := range map[string]time.Duration{
		"2026-11-30T12:20:00Z": 11 * time.Second, "2026-11-30T12:25:00Z": 39 * time.Second, "2026-11-30": 7 * time.Second,
	} {
		if got := schedule.Jitter(time.Minute, "shop/renewal", "acct_4821", slot); got != want {
			t.Errorf("%s: %s, want %s", slot, got, want)
		}
	}
}

func TestJitterIsWholeSecondsUpToItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := time.Duration(rapid.Int64Range(-1000, 24*3600*1000).Draw(t, "limit")) * time.Millisecond
		got := schedule.Jitter(limit, rapid.String().Draw(t, "schedule"), rapid.String().Draw(t, "recipient"), "2026-11-30")
		if got < 0 || got > max(limit, 0) || got%time.Second != 0 {
			t.Fatalf("%s of %s", got, limit)
		}
	})
	if schedule.Jitter(time.Hour, "a", "bc", "d") == schedule.Jitter(time.Hour, "ab", "c", "d") {
		t.Error("the parts run into each other")
	}
}

// D9: everyone at 00:00 is spread evenly.
func TestJitterSpreadsEvenly(t *testing.T) {
	t.Parallel()
	var seconds [61]int
	for i := range 61_000 {
		seconds[schedule.Jitter(time.Minute, fmt.Sprint("shop/", i%10), fmt.Sprint("acct_", i), "2026-11-30T00:00:00Z")/time.Second]++
	}
	for second, n := range seconds {
		if n < 850 || n > 1150 {
			t.Errorf("%d of 61,000 reminders in second %d", n, second)
		}
	}
}

func TestNextTimeOfDay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ zone, time, after, want string }{
		"later on the day":                  {"Europe/Berlin", "17:00", "2026-11-30T08:00:00Z", "2026-11-30T16:00:00Z"},
		"the very time is the next day's":   {"Europe/Berlin", "17:00", "2026-11-30T16:00:00Z", "2026-12-01T16:00:00Z"},
		"earlier than the due time":         {"Europe/Berlin", "08:00", "2026-11-30T08:00:00Z", "2026-12-01T07:00:00Z"},
		"a time that the clocks skip":       {"America/New_York", "02:30", "2026-03-07T12:00:00Z", "2026-03-08T07:30:00Z"},
		"the second pass, if due after one": {"America/New_York", "01:30", "2026-11-01T05:45:00Z", "2026-11-01T06:30:00Z"},
		"a day that there is not":           {"Pacific/Apia", "09:00", "2011-12-29T20:00:00Z", "2011-12-30T19:00:00Z"},
		"midnight":                          {"Asia/Tokyo", "00:00", "2026-11-30T08:00:00Z", "2026-11-30T15:00:00Z"},
	}
	for name, test := range tests {
		s := compile(t, schedule.Spec{Cron: "@daily", TimeZone: test.zone, Gap: schedule.GapSkip, Calendar: business(t, "")})
		timeOfDay, err := schedule.ParseTimeOfDay(test.time)
		if err != nil || timeOfDay.String() != test.time {
			t.Fatalf("%s: %s, %v", name, timeOfDay, err)
		}
		if got, ok := s.NextTimeOfDay(instant(t, test.after), timeOfDay); !ok || got != instant(t, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if got, ok := compile(t, schedule.Spec{Cron: "@daily"}).NextTimeOfDay(instant(t, "9999-12-31T23:59:00Z"), schedule.TimeOfDay{}); ok {
		t.Errorf("got %s", got)
	}
}

func TestPeriodsPrintWhatTheyAreReadFrom(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-P3D": "-P3D", "+P3D": "P3D", "P0D": "P0D", "P0Y": "P0D", "-P03D": "-P3D", "P1Y2M3W4D": "P1Y2M3W4D", "-P12BD": "-P12BD",
	} {
		p, err := schedule.ParsePeriod(text)
		if err != nil || p.String() != want {
			t.Errorf("%s: %s, %v", text, p, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		sign := rapid.SampledFrom([]int{1, -1}).Draw(t, "sign")
		n := func(most int) int { return sign * rapid.IntRange(0, most).Draw(t, "n") }
		p := schedule.Period{Years: n(99), Months: n(999), Weeks: n(999), Days: n(9999)}
		if again, err := schedule.ParsePeriod(p.String()); err != nil || again != p {
			t.Fatalf("%+v is %s, which is %+v, %v", p, p, again, err)
		}
	})
}

func FuzzRRuleInAZone(f *testing.F) {
	refused := []string{
		"FREQ=MINUTELY;BYSETPOS=366;BYMONTH=2", "FREQ=SECONDLY;COUNT=100000000", "FREQ=DAILY;COUNT=100000000", "FREQ=DAILY;FREQ=DAILY", "freq=daily",
		"FREQ=DAILY;", "FREQ=DAILY;INTERVAL=7;BYDAY=SA", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "RRULE:FREQ=DAILY", "FREQ=YEARLY;BYSETPOS=-366", "a00000\x00",
	}
	for _, rule := range append(refused, recurrences...) {
		f.Add(rule, "America/New_York", int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, rule, zone string, start int64) {
		spec := schedule.Spec{RRule: rule, TimeZone: zone, Start: time.Unix(start, 0)}
		s, err := schedule.Compile(spec)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkExpression(t, spec, s, fuzzFrom)
		after := fuzzFrom
		for range 3 {
			o, ok := s.Next(after)
			if !ok {
				return
			}
			if !o.Due.After(after) {
				t.Fatalf("%q in %q after %s: %v", rule, zone, after, o)
			}
			if back, ok := s.Previous(o.Due); !ok || back != o || s.Count(after, o.Due) != 1 {
				t.Fatalf("%q in %q: Previous(%s) = %v, want %v", rule, zone, o.Due, back, o)
			}
			after = o.Due
		}
	})
}

func FuzzPeriod(f *testing.F) {
	for _, text := range []string{"-P3D", "P1Y2M3W4D", "P3BD", "PT3H", "P", "-P-1D", "P9999D", "P1D1M", "+P0D"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := schedule.ParsePeriod(text)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if again, err := schedule.ParsePeriod(p.String()); err != nil || again != p {
			t.Fatalf("%q is %+v, printed %s, read %+v, %v", text, p, p, again, err)
		}
	})
}

func FuzzAnchorDate(f *testing.F) {
	for _, value := range []string{"2026-11-03", "2026-02-30", "2026-11-03T09:00:00", "", "0001-01-01", "9999-12-31", "2028-02-29"} {
		f.Add(value, "-P1M", "Pacific/Apia")
	}
	f.Fuzz(func(t *testing.T, value, offset, zone string) {
		s, err := schedule.Compile(schedule.Spec{Anchor: &schedule.Anchor{Attribute: "date", Offset: offset, Time: "02:30"}, TimeZone: zone})
		if err != nil {
			checkRefusal(t, err)
			return
		}
		own, err := s.ForRecipient(map[string]string{"date": value})
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if o, ok := own.Next(time.Time{}); ok {
			if more, ok := own.Next(o.Due); ok {
				t.Fatalf("%q %s in %q: %v and %v", value, offset, zone, o, more)
			}
		}
	})
}
