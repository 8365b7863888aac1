package schedule_test

import (
	"errors"
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
		"@reboot", "TZ=Europe/Rome", "TZ=", "CRON_TZ=UTC", "* * * * * *", "0 9 ? * ?", "0 9 L-3 * *", "0 9 15W * 1#6", " ",
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
		"posixrules", "US/Pacific-New", " Europe/Berlin", "Europe/Berlin\n", "Europe/Berlin\x00", "../etc", "Etc/GMT-14",
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
		"9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59", "1970-01-01T00:00:00+23:59", "2026-11-03T09:00:00,5",
	} {
		f.Add(at, "America/New_York")
	}
	f.Fuzz(func(t *testing.T, at, zone string) {
		s, err := schedule.Compile(schedule.Spec{At: at, TimeZone: zone})
		if err != nil {
			checkRefusal(t, err)
			return
		}
		o, ok := s.Next(time.Time{})
		if !ok {
			t.Fatalf("%q in %q never occurs", at, zone)
		}
		if more, ok := s.Next(o.Due); ok {
			t.Fatalf("%q in %q occurs at %s and again at %s", at, zone, o.Due, more.Due)
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
	if refused.Reason == "" || refused.Hint == "" {
		t.Fatalf("no reason or no hint: %+v", refused)
	}
	if caret := refused.Caret(); len(caret) > 600 {
		t.Fatalf("too long: %q", caret)
	}
}
