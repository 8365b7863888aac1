package schedule_test

import (
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

var fuzzFrom = time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)

func FuzzCron(f *testing.F) {
	for _, cron := range []string{
		"0 9 * * *", "*/30 * * * *", "30 2 8 3 *", "0 0 29 2 *", "0 0 31 2 *", "0 9 1 * 1", "0 9 */2 * 1", "0 9 LW * *",
		"0 9 * * MON#2,FRIL", "1,2,,3 * * * *", "5/15 * * * *", "*/0 * * * *", "0 24 * * *", "5-1 * * * *", "@daily",
		"@reboot", "TZ=Europe/Rome", "TZ=", "TZ=TZ=TZ=", "CRON_TZ=UTC", "* * * * * *", "0 9 ? * ?", "0 9 L-3 * *", "0 9 15W * 1#6", " ", "",
		"0 0 31 4,6,9,11 *", "0 18 1-7,15-21 * TUE", "0 9 * * 7", "* 0 * * *", "TZ=Asia/Kolkata 0 9 * * *", "0 */8,9 * * *", "@every 5m",
	} {
		f.Add(cron, "America/New_York", true)
	}
	f.Fuzz(func(t *testing.T, cron, zone string, all bool) {
		spec := schedule.Spec{Cron: cron, TimeZone: zone}
		if all {
			spec.DayMatch = schedule.DayMatchAll
		}
		s, err := schedule.Compile(spec)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkExpression(t, spec, s, fuzzFrom)
		after := fuzzFrom
		for range 5 {
			o, ok := s.Next(after)
			if !ok || !o.Due.After(after) {
				t.Fatalf("%q in %q after %s: %v, %v", cron, zone, after, o, ok)
			}
			if back, ok := s.Previous(o.Due); !ok || back != o {
				t.Fatalf("%q in %q: Previous(%s) = %v, want %v", cron, zone, o.Due, back, o)
			}
			for first := range s.Between(after, o.Due) {
				if first != o {
					t.Fatalf("%q in %q after %s: Between %v, Next %v", cron, zone, after, first, o)
				}
			}
			after = o.Due
		}
	})
}

func FuzzZone(f *testing.F) {
	for _, name := range []string{
		"Europe/Berlin", "europe/berlin", "Asia/Calcutta", "utc", "Local", "", "UTC+02:00", "GMT+2", "CEST", "Factory",
		"posixrules", "US/Pacific-New", " Europe/Berlin", "Europe/Berlin\n", "Europe/Berlin\x00", "../etc", "Etc/GMT-14", "EST5EDT", "Europe/Kiev",
		"asia/kolkata", "+0530", "US/Pacific",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		zone, canonical, err := schedule.ResolveZone(name)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if _, again, err := schedule.ResolveZone(canonical); err != nil || again != canonical || zone.String() != canonical {
			t.Fatalf("%q resolves to %s, called %q, which resolves to %q, %v", name, zone, canonical, again, err)
		}
	})
}

func FuzzAt(f *testing.F) {
	for _, at := range []string{
		"2026-11-03T09:00:00", "2026-03-08T02:30:00", "2026-11-03T09:00:00+01:00", "2026-02-30T09:00:00", "2026-11-03",
		"9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59", "1970-01-01T00:00:00+23:59", "2026-11-03T09:00:00,5", "2020-01-01T00:00:00Z", "",
	} {
		f.Add(at, "America/New_York")
	}
	f.Fuzz(func(t *testing.T, at, zone string) {
		s, err := schedule.Compile(schedule.Spec{At: at, TimeZone: zone})
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkExpression(t, schedule.Spec{At: at, TimeZone: zone}, s, time.Time{})
		o, ok := s.Next(time.Time{})
		if !ok {
			t.Fatalf("%q in %q never occurs", at, zone)
		}
		if more, ok := s.Next(o.Due); ok {
			t.Fatalf("%q in %q occurs at %s and again at %s", at, zone, o.Due, more.Due)
		}
	})
}

func FuzzEvery(f *testing.F) {
	for _, every := range []time.Duration{0, 1, -time.Second, 500 * time.Millisecond, time.Second, 36 * time.Hour, schedule.MaxEvery, schedule.MaxEvery + 1, 1<<63 - 1, -1 << 63} {
		f.Add(int64(every), int64(1_700_000_000), int64(1_800_000_000), "Pacific/Apia")
	}
	f.Add(int64(time.Hour), int64(-1<<40), int64(1<<40), "UTC")
	f.Fuzz(func(t *testing.T, every, origin, after int64, zone string) {
		spec := schedule.Spec{Every: time.Duration(every), Origin: time.Unix(origin, 0), TimeZone: zone}
		s, err := schedule.Compile(spec)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		from := time.Unix(after%(1<<40), 0)
		checkExpression(t, spec, s, from)
		for last, o := range pairs(collect(s, from, 5)) {
			if o.Due.Sub(last.Due) != spec.Every || s.Count(last.Due, o.Due) != 1 {
				t.Fatalf("every %s: %v and %v", spec.Every, last, o)
			}
		}
	})
}

// pairs goes through what follows each other.
func pairs[T any](all []T) iter.Seq2[T, T] {
	return func(yield func(a, b T) bool) {
		for i := 1; i < len(all); i++ {
			if !yield(all[i-1], all[i]) {
				return
			}
		}
	}
}

func FuzzTimeOfDayAndLocalTime(f *testing.F) {
	for _, text := range []string{"09:00", "24:00", "9:00", "17:00:00", "2026-03-08T02:30:00", "2026-02-30T00:00:00", "0000-01-01T00:00:00", "9999-12-31T23:59:59", "5", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if of, err := schedule.ParseTimeOfDay(text); err != nil {
			checkRefusal(t, err)
		} else if of.String() != text {
			t.Fatalf("%q is printed %s", text, of)
		}
		if w, err := schedule.ParseWallTime(text); err != nil {
			checkRefusal(t, err)
		} else if w.String() != text {
			t.Fatalf("%q is printed %s", text, w)
		}
	})
}

// checkRefusal wants every error to be fit for status: of the right type, short, on one line, with a place within reach.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	var refused *schedule.FieldError
	if !errors.As(err, &refused) {
		t.Fatalf("%T is not a FieldError: %v", err, err)
	}
	if text := refused.Error(); len(text) > 600 || strings.ContainsAny(text, "\n\r\x00") {
		t.Fatalf("not fit to be shown: %q", text)
	}
	switch refused.Field {
	case "cron", "rrule", "at", "every", "timeZone", "offset", "time", "localTime", "anchor.attribute", "anchor.offset", "anchor.time", "onNonBusinessDay":
	case "": // of the whole Spec: nothing is set
	default:
		t.Fatalf("there is no field %q", refused.Field)
	}
	if refused.Reason == "" || refused.Hint == "" {
		t.Fatalf("no reason or no hint: %+v", refused)
	}
	if caret := refused.Caret(); len(caret) > 600 {
		t.Fatalf("too long: %q", caret)
	}
}
