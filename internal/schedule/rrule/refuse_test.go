package rrule_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule/rrule"
)

func TestRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule    string
		start   string
		want    string
		wantPos int
	}{
		"an empty rule":                   {"", "", "the rule is empty; write a rule such as FREQ=MONTHLY;BYDAY=-1FR", -1},
		"the one that hangs a library":    {"FREQ=MINUTELY;BYSETPOS=366;BYMONTH=2", "", `FREQ=MINUTELY is not supported; set cron, such as "*/15 * * * *", or every`, 5},
		"seconds by the hundred million":  {"FREQ=SECONDLY;COUNT=100000000", "", `FREQ=SECONDLY is not supported; set cron, such as "*/15 * * * *", or every`, 5},
		"hours":                           {"FREQ=HOURLY", "", `FREQ=HOURLY is not supported; set cron, such as "*/15 * * * *", or every`, 5},
		"a part that is there twice":      {"FREQ=DAILY;BYHOUR=9;BYHOUR=17", "", "BYHOUR is there twice; write it once, and join the values with commas", 20},
		"FREQ twice":                      {"FREQ=DAILY;FREQ=WEEKLY", "", "FREQ is there twice; write it once, and join the values with commas", 11},
		"small letters":                   {"freq=daily", "", "a rule is written in capitals; write FREQ=DAILY", 0},
		"a semicolon at the end":          {"FREQ=DAILY;", "", "there is a semicolon at the end; remove it", 10},
		"two semicolons":                  {"FREQ=DAILY;;BYHOUR=9", "", "there is an empty part; remove a semicolon", 11},
		"a prefix":                        {"RRULE:FREQ=DAILY", "", "the prefix RRULE: is not part of the rule; leave it out: FREQ=DAILY", 0},
		"a blank":                         {"FREQ=DAILY; BYHOUR=9", "", "a character that no rule has (code 0x20); write a rule such as FREQ=MONTHLY;BYDAY=-1FR", 11},
		"64 KiB":                          {strings.Repeat("A", 64<<10), "", "the rule has 65536 characters, 512 are allowed; write a rule such as FREQ=MONTHLY;BYDAY=-1FR", -1},
		"no frequency":                    {"BYDAY=MO", "", "FREQ is missing; write a rule such as FREQ=MONTHLY;BYDAY=-1FR", -1},
		"an unknown frequency":            {"FREQ=FORTNIGHTLY", "", `there is no frequency "FORTNIGHTLY"; write DAILY, WEEKLY, MONTHLY or YEARLY`, 5},
		"an unknown part":                 {"FREQ=DAILY;BYEASTER=0", "", `there is no part "BYEASTER"; write FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSETPOS or WKST`, 11},
		"a part without a value":          {"FREQ=DAILY;BYHOUR=", "", "BYHOUR has no value; write one, or leave the part out", 18},
		"a part without a name":           {"FREQ=DAILY;9", "", `"9" is not a part of a rule; write NAME=VALUE; write a rule such as FREQ=MONTHLY;BYDAY=-1FR`, 11},
		"seconds of the minute":           {"FREQ=DAILY;BYSECOND=1", "", "BYSECOND is not supported; leave it out: occurrences fall on full minutes, or on the second of startTime", 11},
		"days of the year":                {"FREQ=YEARLY;BYYEARDAY=100", "", "BYYEARDAY is not supported; write BYMONTH and BYMONTHDAY", 12},
		"weeks of the year":               {"FREQ=YEARLY;BYWEEKNO=20", "", "BYWEEKNO is not supported; write BYMONTH with BYDAY, or FREQ=WEEKLY with INTERVAL", 12},
		"a start":                         {"FREQ=DAILY;DTSTART=20260101T000000Z", "", "DTSTART is not part of a rule; set startTime", 11},
		"COUNT and UNTIL":                 {"FREQ=DAILY;COUNT=5;UNTIL=20270101", "2026-01-01T00:00:00", "COUNT and UNTIL are both there; leave one of them out", 17},
		"COUNT of nothing":                {"FREQ=DAILY;COUNT=0", "2026-01-01T00:00:00", `"0" is not a value of COUNT; write 1 to 10000`, 17},
		"COUNT out of sight":              {"FREQ=DAILY;COUNT=100000000", "2026-01-01T00:00:00", `"100000000" is not a value of COUNT; write 1 to 10000`, 17},
		"COUNT without a start":           {"FREQ=DAILY;COUNT=5", "", "COUNT needs a time to count from; set startTime", 17},
		"INTERVAL without a start":        {"FREQ=DAILY;INTERVAL=2", "", "INTERVAL needs a time to count from; set startTime", 20},
		"INTERVAL of nothing":             {"FREQ=DAILY;INTERVAL=0", "2026-01-01T00:00:00", `"0" is not a value of INTERVAL; write 1 to 10000`, 20},
		"a week without a day":            {"FREQ=WEEKLY", "", "the day of the week is missing; add BYDAY, or set startTime", -1},
		"a month without a day":           {"FREQ=MONTHLY", "", "the day of the month is missing; add BYMONTHDAY or BYDAY, or set startTime", -1},
		"a year without a month":          {"FREQ=YEARLY;BYMONTHDAY=1", "", "the month is missing; add BYMONTH, write FREQ=MONTHLY, or set startTime", -1},
		"UNTIL that is no date":           {"FREQ=DAILY;UNTIL=20270230", "", `"20270230" is not a value of UNTIL; write a date 20271231, a local time 20271231T170000, or an instant 20271231T160000Z`, 17},
		"an hour 24":                      {"FREQ=DAILY;BYHOUR=24", "", `"24" is not a value of BYHOUR; write 0 to 23`, 18},
		"a negative hour":                 {"FREQ=DAILY;BYHOUR=-1", "", `"-1" is not a value of BYHOUR; write 0 to 23`, 18},
		"a day 0":                         {"FREQ=MONTHLY;BYMONTHDAY=1,0", "", `"0" is not a value of BYMONTHDAY; write 1 to 31, or -31 to -1 to count from the end`, 26},
		"two signs":                       {"FREQ=MONTHLY;BYMONTHDAY=+-1", "", `"+-1" is not a value of BYMONTHDAY; write 1 to 31, or -31 to -1 to count from the end`, 24},
		"an empty element":                {"FREQ=DAILY;BYHOUR=9,,10", "", `"" is not a value of BYHOUR; write 0 to 23`, 20},
		"a day that is none":              {"FREQ=WEEKLY;BYDAY=MO,XX", "", `"XX" is not a day of the week; write MO, TU, WE, TH, FR, SA or SU, or -1FR for the last Friday`, 21},
		"a name across two":               {"FREQ=WEEKLY;BYDAY=OT", "", `"OT" is not a day of the week; write MO, TU, WE, TH, FR, SA or SU, or -1FR for the last Friday`, 18},
		"a numbered day of a week":        {"FREQ=WEEKLY;BYDAY=2MO", "", "a number in BYDAY goes with FREQ=MONTHLY and FREQ=YEARLY only; leave the number out", 18},
		"a sixth Monday, which panics":    {"FREQ=MONTHLY;BYDAY=-6MO", "", "a month has at most five of a day of the week; write 1 to 5, or -5 to -1 to count from the end", 19},
		"a day of the month in a week":    {"FREQ=WEEKLY;BYDAY=MO;BYMONTHDAY=1", "", "BYMONTHDAY does not go with FREQ=WEEKLY; write FREQ=MONTHLY, or BYDAY", 32},
		"nothing to choose from":          {"FREQ=DAILY;BYSETPOS=1", "", "BYSETPOS has nothing to choose from; add BYDAY, such as BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", 20},
		"T12: a date that never comes":    {"FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", "", "this can never occur: no date matches all parts; write a date that exists", -1},
		"T12: a position that is not":     {"FREQ=MONTHLY;BYDAY=1MO;BYSETPOS=2", "", "this can never occur: no date matches all parts; write a date that exists", -1},
		"T12: a daily rule, never a date": {"FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31", "", "this can never occur: no date matches all parts; write a date that exists", -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := int64(0)
			if test.start != "" {
				at = wall(t, test.start)
			}
			_, err := rrule.Compile(test.rule, at, test.start != "")
			refused, ok := errors.AsType[*rrule.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if refused.Error() != test.want || refused.Pos != test.wantPos {
				t.Errorf("got  %s at %d\nwant %s at %d", refused, refused.Pos, test.want, test.wantPos)
			}
			if refused.Never != strings.Contains(test.want, "never occur") {
				t.Errorf("Never = %v", refused.Never)
			}
		})
	}
}

func TestFormsThatAreAccepted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ rule, start, want string }{
		"without a start the time is midnight":       {"FREQ=WEEKLY;BYDAY=MO", "", "2026-12-07T00:00:00"},
		"without a start the minute is zero":         {"FREQ=WEEKLY;BYDAY=MO;BYHOUR=9", "", "2026-11-30T09:00:00"},
		"the start gives the time of day":            {"FREQ=WEEKLY;BYDAY=MO", "2026-01-01T08:30:15", "2026-11-30T08:30:15"},
		"the start gives the minute":                 {"FREQ=WEEKLY;BYDAY=MO;BYHOUR=9", "2026-01-01T08:30:00", "2026-11-30T09:30:00"},
		"the start gives the day of the week":        {"FREQ=WEEKLY", "2026-01-01T08:30:00", "2026-12-03T08:30:00"},
		"the start gives the day of the year":        {"FREQ=YEARLY", "2026-01-07T08:30:00", "2027-01-07T08:30:00"},
		"a plus sign":                                {"FREQ=MONTHLY;BYDAY=+1MO", "", "2026-12-07T00:00:00"},
		"a plain and a numbered day are joined":      {"FREQ=MONTHLY;BYDAY=2MO,TU", "", "2026-12-01T00:00:00"},
		"leading zeros":                              {"FREQ=DAILY;BYHOUR=09;BYMINUTE=05", "", "2026-11-30T09:05:00"},
		"the last of the month's times by BYSETPOS":  {"FREQ=DAILY;BYHOUR=9,17;BYSETPOS=-1", "", "2026-11-30T17:00:00"},
		"the parts in any order, FREQ last":          {"BYDAY=MO;FREQ=WEEKLY", "", "2026-12-07T00:00:00"},
		"a leap day":                                 {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "", "2028-02-29T00:00:00"},
		"a position named from both ends counts one": {"FREQ=MONTHLY;BYDAY=1MO;BYSETPOS=1,-1", "", "2026-12-07T00:00:00"},
	}
	for name, test := range tests {
		if w, ok := compile(t, test.rule, test.start).Next(wall(t, "2026-11-30T00:00:01")); !ok || shown(w) != test.want {
			t.Errorf("%s: %s, want %s", name, shown(w), test.want)
		}
	}
}

func TestUntilInUTCIsLeftToTheCaller(t *testing.T) {
	t.Parallel()
	r := compile(t, "FREQ=DAILY;UNTIL=20261201T120000Z", "")
	if at, utc := r.Until(); !utc || at.Format(time.RFC3339) != "2026-12-01T12:00:00Z" {
		t.Errorf("Until = %s, %v", at, utc)
	}
	if _, ok := r.Next(wall(t, "2026-12-02T00:00:00")); !ok {
		t.Error("the rule ended by itself")
	}
	r = compile(t, "FREQ=DAILY;BYHOUR=23;UNTIL=20261201", "")
	if w, ok := r.Previous(wall(t, "2030-01-01T00:00:00")); !ok || shown(w) != "2026-12-01T23:00:00" {
		t.Errorf("a date counts to its end: %s", shown(w))
	}
}

// No input takes more than 50 ms or 10 MB.
func TestNoRuleTakesLong(t *testing.T) {
	rules := map[string]string{
		"every minute of a year":      "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=" + list(24) + ";BYMINUTE=" + list(60),
		"the rarest day":              "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
		"the rarest day, in steps":    "FREQ=DAILY;INTERVAL=9999;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
		"a day that never is":         "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
		"a position that never is":    "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=366",
		"a position in a day":         "FREQ=DAILY;BYHOUR=1;BYSETPOS=366",
		"many positions":              "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=" + list(100)[2:],
		"a leap year in steps":        "FREQ=YEARLY;INTERVAL=99;BYMONTH=2;BYMONTHDAY=29",
		"a week in steps in a month":  "FREQ=WEEKLY;INTERVAL=52;BYMONTH=2;BYDAY=SU",
		"the largest step":            "FREQ=YEARLY;INTERVAL=10000",
		"a month in steps, never":     "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2;BYMONTHDAY=1",
		"nothing but separators":      strings.Repeat(";", 512),
		"the longest list of numbers": "FREQ=DAILY;BYHOUR=" + strings.Repeat("1,", 240) + "1",
	}
	for name, text := range rules {
		shortest, bytes := time.Hour, uint64(0)
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			if r, err := rrule.Compile(text, 1_000_000_000, true); err == nil {
				for _, w := range []int64{-1 << 60, 0, 250_000_000_000, 1 << 60} {
					r.Next(w)
					r.Previous(w)
				}
				r.Count(0, 4_000_000_000)
			}
			shortest = min(shortest, time.Since(begin))
			runtime.ReadMemStats(&after)
			bytes = after.TotalAlloc - before.TotalAlloc
		}
		if shortest > 50*time.Millisecond || bytes > 10<<20 {
			t.Errorf("%s: %s, %d bytes", name, shortest, bytes)
		}
		t.Logf("%s: %s", name, shortest)
	}
}

func list(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(rune('0'+i/10)) + string(rune('0'+i%10)))
	}
	return b.String()
}

func TestNextAndPreviousDoNotAllocate(t *testing.T) {
	for _, text := range []string{"FREQ=DAILY", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=YEARLY;BYDAY=20MO"} {
		r := compile(t, text, "2026-01-01T00:00:00")
		if n := testing.AllocsPerRun(100, func() { r.Next(1_800_000_000); r.Previous(1_800_000_000) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func FuzzRule(f *testing.F) {
	for _, text := range []string{
		"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,WE", "FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=1", "FREQ=YEARLY;BYDAY=53MO", "freq=daily",
		"FREQ=MONTHLY;BYMONTHDAY=-31,31;INTERVAL=5", "FREQ=DAILY;COUNT=5;UNTIL=20270101", "FREQ=MINUTELY;BYSETPOS=366;BYMONTH=2",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;UNTIL=20281231T235959Z", "FREQ=DAILY;", "FREQ=WEEKLY;WKST=SU;INTERVAL=2;BYHOUR=9",
	} {
		f.Add(text, int64(1_000_000_000), true)
	}
	f.Fuzz(func(t *testing.T, text string, start int64, anchored bool) {
		r, err := rrule.Compile(text, start, anchored)
		if err != nil {
			refused, ok := errors.AsType[*rrule.Error](err)
			if !ok || refused.Reason == "" || refused.Hint == "" || refused.Pos > len(text) || len(refused.Error()) > 400 {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		from := int64(1_700_000_000)
		for range 5 {
			w, ok := r.Next(from)
			if !ok {
				return
			}
			if back, ok := r.Previous(w); w < from || !ok || back != w || r.Count(from, w) != 1 {
				t.Fatalf("%q from %d: next %d, previous %d, %d in between", text, from, w, back, r.Count(from, w))
			}
			from = w + 1
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for name, text := range map[string]string{
		"daily": "FREQ=DAILY", "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "lastFriday": "FREQ=MONTHLY;BYDAY=-1FR",
		"lastWorkday": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "yearly": "FREQ=YEARLY;BYMONTH=11;BYDAY=1TU",
	} {
		b.Run(name, func(b *testing.B) {
			r := compile(b, text, "2026-01-01T09:00:00")
			from := int64(0)
			for b.Loop() {
				w, ok := r.Next(from)
				if from = w + 1; !ok {
					from = 0
				}
			}
		})
	}
}
