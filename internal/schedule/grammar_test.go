package schedule_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// daysOf returns the days of a month on which an expression occurs.
func daysOf(t *testing.T, cron string, year int, month time.Month) string {
	t.Helper()
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	var days []string
	for o := range compile(t, schedule.Spec{Cron: cron}).Between(first.Add(-1), first.AddDate(0, 1, 0).Add(-1)) {
		days = append(days, strconv.Itoa(o.Due.Day()))
	}
	return strings.Join(days, " ")
}

func TestDayFields(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ cron, want string }{ // December 2026 begins on a Tuesday, its last day is a Thursday
		"a list":                              {"0 9 1,15,31 * *", "1 15 31"},
		"a range with a step":                 {"0 9 5-20/7 * *", "5 12 19"},
		"a step of all":                       {"0 9 */10 * *", "1 11 21 31"},
		"the last day":                        {"0 9 L * *", "31"},
		"the last day beside others":          {"0 9 1,L * *", "1 31"},
		"the last working day":                {"0 9 LW * *", "31"},
		"a weekday by number":                 {"0 9 * * 1", "7 14 21 28"},
		"a weekday by name":                   {"0 9 * * mon", "7 14 21 28"},
		"Sunday as 0":                         {"0 9 * * 0", "6 13 20 27"},
		"Sunday as 7":                         {"0 9 * * 7", "6 13 20 27"},
		"a range of days":                     {"0 9 1-13 * *", "1 2 3 4 5 6 7 8 9 10 11 12 13"},
		"a range of weekdays":                 {"0 9 * * MON-WED", "1 2 7 8 9 14 15 16 21 22 23 28 29 30"},
		"a range up to 7":                     {"0 9 * * 6-7", "5 6 12 13 19 20 26 27"},
		"a range up to SUN":                   {"0 9 * * SAT-SUN", "5 6 12 13 19 20 26 27"},
		"a range from SUN":                    {"0 9 * * SUN-MON", "6 7 13 14 20 21 27 28"},
		"a step of weekdays":                  {"0 9 * * 1-5/2", "2 4 7 9 11 14 16 18 21 23 25 28 30"},
		"the second Monday":                   {"0 9 * * MON#2", "14"},
		"the second Monday by number":         {"0 9 * * 1#2", "14"},
		"the first and third Tuesday":         {"0 9 * * TUE#1,TUE#3", "1 15"},
		"the fifth Friday is not in December": {"0 9 * 12 FRI#5", ""},
		"the fifth Thursday":                  {"0 9 * * THU#5", "31"},
		"the last Friday":                     {"0 9 * * FRIL", "25"},
		"the last Friday by number":           {"0 9 * * 5L", "25"},
		"the last Sunday as 7":                {"0 9 * * 7L", "27"},
		"the last Thursday is the last day":   {"0 9 * * THUL", "31"},
		"the second Sunday as 7":              {"0 9 * * 7#2", "13"},
		"either day field":                    {"0 9 L * FRI#1", "4 31"},
		"a month that is not December":        {"0 9 * JAN *", ""},
		"a range of months by name":           {"0 9 24 nov-dec *", "24"},
		"tabs and blanks between fields":      {" 0\t9  24 * * ", "24"},
		"@weekly is Sunday at midnight":       {"@weekly", "6 13 20 27"},
		"@monthly is the first at midnight":   {"@monthly", "1"},
		"@yearly is the first of January":     {"@yearly", ""},
		"a macro in capitals":                 {"@MONTHLY", "1"},
		"leading zeros":                       {"00 09 01 12 *", "1"},
		"overlapping elements count once":     {"0 9 1-3,2-4 * *", "1 2 3 4"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := daysOf(t, test.cron, 2026, time.December); got != test.want {
				t.Errorf("%s: %s, want %s", test.cron, got, test.want)
			}
		})
	}
}

func TestTheLastWorkingDayIsNeverAtTheWeekend(t *testing.T) {
	t.Parallel()
	for month, want := range map[time.Month]string{
		time.January: "30", time.February: "27", time.May: "29", time.August: "31", time.October: "30",
	} {
		if got := daysOf(t, "0 9 LW * *", 2026, month); got != want {
			t.Errorf("LW in %s 2026: %s, want %s", month, got, want)
		}
	}
}

func TestTimesOfDay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cron string
		want []string
	}{
		"one":                     {"0 9 * * *", []string{"09:00"}},
		"minutes and hours cross": {"5,35 8,20 * * *", []string{"08:05", "08:35", "20:05", "20:35"}},
		"a step of hours":         {"0 */6 * * *", []string{"00:00", "06:00", "12:00", "18:00"}},
		"a range with a step":     {"30 9-17/4 * * *", []string{"09:30", "13:30", "17:30"}},
		"the last minute":         {"59 23 * * *", []string{"23:59"}},
		"@midnight":               {"@midnight", []string{"00:00"}},
		"a whole range as a step": {"0 */24 * * *", []string{"00:00"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
			var got []string
			for o := range compile(t, schedule.Spec{Cron: test.cron}).Between(day.Add(-1), day.AddDate(0, 0, 1).Add(-1)) {
				got = append(got, o.Due.Format("15:04"))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.cron, got, test.want)
			}
		})
	}
}

// */24 is midnight by another name: a fixed time, which a gap must not swallow.
func TestAStepOfAllHoursIsAFixedTime(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Cron: "0 */24 * * *", TimeZone: "America/Santiago"})
	if got := dues(s, instant(t, "2026-09-05T12:00:00Z"), 1); got[0] != "2026-09-06T04:00:00Z" {
		t.Errorf("got %v", got)
	}
}
