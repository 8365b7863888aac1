package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

var weekend = []time.Weekday{time.Saturday, time.Sunday}

func date(t testing.TB, text string) calendar.Date {
	t.Helper()
	d, err := calendar.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// business is a calendar with a weekend, a country's holidays ("" for none), and further ones.
func business(t testing.TB, country string, holidays ...string) *calendar.Calendar {
	t.Helper()
	spec := calendar.Spec{Weekend: weekend, Country: country}
	for _, day := range holidays {
		spec.Holidays = append(spec.Holidays, calendar.Holiday{Date: date(t, day), Name: "Stocktaking"})
	}
	return compileCalendar(t, spec)
}

func compileCalendar(t testing.TB, spec calendar.Spec) *calendar.Calendar {
	t.Helper()
	c, err := calendar.Of("test", spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOccurrencesOnBusinessDays(t *testing.T) {
	t.Parallel()
	early := compileCalendar(t, calendar.Spec{Weekend: weekend, EarlyCloses: []calendar.EarlyClose{
		{Date: date(t, "2026-12-24"), Minute: 13 * 60, Name: "Christmas Eve"}, {Date: date(t, "2026-12-31"), Minute: 13 * 60},
	}})
	monthly := schedule.Spec{RRule: "FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=9", TimeZone: "Europe/London"}
	tests := map[string]struct {
		spec     schedule.Spec
		calendar *calendar.Calendar
		policy   calendar.Policy
		after    string
		want     []string
	}{
		"T24: the first of January, a holiday, to the Monday": {
			spec: monthly, calendar: business(t, "GB"), after: "2026-12-31T00:00:00Z",
			want: []string{"2027-01-01T09:00:00 due 2027-01-04T09:00:00Z holiday New Year's Day: moved to the next business day", "2027-02-01T09:00:00 due 2027-02-01T09:00:00Z"},
		},
		"T24: rolls on if the Monday is a holiday too": {
			spec: monthly, calendar: business(t, "GB", "2027-01-04"), after: "2026-12-31T00:00:00Z",
			want: []string{"2027-01-01T09:00:00 due 2027-01-05T09:00:00Z holiday New Year's Day: moved to the next business day"},
		},
		"T24: the same, said by cron": {
			spec: schedule.Spec{Cron: "0 9 1 * *", TimeZone: "Europe/London"}, calendar: business(t, "GB", "2027-01-04"), after: "2026-12-31T00:00:00Z",
			want: []string{"2027-01-01T09:00:00 due 2027-01-05T09:00:00Z holiday New Year's Day: moved to the next business day"},
		},
		"T24: to the business day before": {
			spec: monthly, calendar: business(t, "GB"), policy: calendar.Previous, after: "2026-12-30T00:00:00Z",
			want: []string{"2027-01-01T09:00:00 due 2026-12-31T09:00:00Z holiday New Year's Day: moved to the previous business day", "2027-02-01T09:00:00 due 2027-02-01T09:00:00Z"},
		},
		"T24: skipped": {
			spec: monthly, calendar: business(t, "GB"), policy: calendar.Skip, after: "2026-12-31T00:00:00Z",
			want: []string{"2027-02-01T09:00:00 due 2027-02-01T09:00:00Z"},
		},
		"T24: kept, and said": {
			spec: monthly, calendar: business(t, "GB"), policy: calendar.Keep, after: "2026-12-31T00:00:00Z",
			want: []string{"2027-01-01T09:00:00 due 2027-01-01T09:00:00Z holiday New Year's Day: kept"},
		},
		"T24: COUNT=5 is five reminders, although one date is skipped": {
			spec:     schedule.Spec{RRule: "FREQ=MONTHLY;COUNT=5", Start: instant(t, "2026-12-01T09:00:00Z")},
			calendar: business(t, "GB"), policy: calendar.Skip, after: "2026-11-30T00:00:00Z",
			want: []string{
				"2026-12-01T09:00:00 due 2026-12-01T09:00:00Z", "2027-02-01T09:00:00 due 2027-02-01T09:00:00Z", "2027-03-01T09:00:00 due 2027-03-01T09:00:00Z",
				"2027-04-01T09:00:00 due 2027-04-01T09:00:00Z", "2027-06-01T09:00:00 due 2027-06-01T09:00:00Z", "none",
			},
		},
		"T24: COUNT=2 is two reminders, although the first gap is skipped": {
			spec:  schedule.Spec{RRule: "FREQ=DAILY;COUNT=2;BYHOUR=2;BYMINUTE=30", Start: instant(t, "2026-03-08T05:00:00Z"), TimeZone: "America/New_York", Gap: schedule.GapSkip},
			after: "2026-03-07T00:00:00Z",
			want:  []string{"2026-03-09T02:30:00 due 2026-03-09T06:30:00Z", "2026-03-10T02:30:00 due 2026-03-10T06:30:00Z", "none"},
		},
		"a weekend becomes one with the Monday": {
			spec: schedule.Spec{Cron: "0 9 * * *"}, calendar: business(t, ""), after: "2026-11-27T12:00:00Z",
			want: []string{
				"2026-11-28T09:00:00 due 2026-11-30T09:00:00Z weekend: moved to the next business day, merged with 2 other times of days that are no business days",
				"2026-12-01T09:00:00 due 2026-12-01T09:00:00Z",
			},
		},
		"a move overtakes what was named later": {
			spec: schedule.Spec{RRule: "FREQ=WEEKLY;BYDAY=SA,MO;BYHOUR=10,9;BYSETPOS=2,3"}, calendar: business(t, ""), after: "2026-11-27T12:00:00Z",
			want: []string{"2026-11-28T09:00:00 due 2026-11-30T09:00:00Z weekend: moved to the next business day", "2026-11-30T10:00:00 due 2026-11-30T10:00:00Z", "2026-12-05T09:00:00 due 2026-12-07T09:00:00Z weekend: moved to the next business day"},
		},
		"an early close moves what comes at it or after": {
			spec: schedule.Spec{Cron: "0 12,13,15 * * *"}, calendar: early, after: "2026-12-24T00:00:00Z",
			want: []string{
				"2026-12-24T12:00:00 due 2026-12-24T12:00:00Z",
				"2026-12-25T12:00:00 due 2026-12-25T12:00:00Z",
				"2026-12-24T13:00:00 due 2026-12-25T13:00:00Z early close Christmas Eve: moved to the next business day, merged with 1 other time of days that are no business days",
			},
		},
		"an early close moves back": {
			spec: schedule.Spec{At: "2026-12-24T13:00:00"}, calendar: early, policy: calendar.Previous, after: "2026-12-01T00:00:00Z",
			want: []string{"2026-12-24T13:00:00 due 2026-12-23T13:00:00Z early close Christmas Eve: moved to the previous business day", "none"},
		},
		"a single time with an offset is moved by the zone's clocks": {
			spec: schedule.Spec{At: "2027-01-02T00:30:00+14:00", TimeZone: "Europe/London"}, calendar: business(t, "GB"), after: "2026-12-01T00:00:00Z",
			want: []string{"2027-01-01T10:30:00 due 2027-01-04T10:30:00Z holiday New Year's Day: moved to the next business day", "none"},
		},
		"a single time with an offset on a business day stays what it is": {
			spec: schedule.Spec{At: "2026-11-01T01:30:00-05:00", TimeZone: "America/New_York"}, calendar: compileCalendar(t, calendar.Spec{}), after: "2026-10-01T00:00:00Z",
			want: []string{"2026-11-01T01:30:00 due 2026-11-01T06:30:00Z", "none"},
		},
		"a move into a gap": {
			spec: schedule.Spec{Cron: "30 2 7 3 *", TimeZone: "America/New_York"}, calendar: compileCalendar(t, calendar.Spec{Weekend: []time.Weekday{time.Saturday}}), after: "2026-03-01T00:00:00Z",
			want: []string{"2026-03-07T02:30:00 due 2026-03-08T07:30:00Z weekend: moved to the next business day; gap: shifted by 1h"},
		},
		"a move out of a gap": {
			spec: schedule.Spec{Cron: "30 2 8 3 *", TimeZone: "America/New_York"}, calendar: business(t, ""), after: "2026-03-01T00:00:00Z",
			want: []string{"2026-03-08T02:30:00 due 2026-03-09T06:30:00Z weekend: moved to the next business day"},
		},
		"bounds are about the due time": {
			spec: schedule.Spec{Cron: "0 9 1 * *", Start: instant(t, "2027-01-03T00:00:00Z"), End: instant(t, "2027-02-01T00:00:00Z")}, calendar: business(t, "GB"), after: "2026-12-01T00:00:00Z",
			want: []string{"2027-01-01T09:00:00 due 2027-01-04T09:00:00Z holiday New Year's Day: moved to the next business day", "none"},
		},
		"an interval keeps to business days too": {
			spec: schedule.Spec{Cron: "0 */12 * * *"}, calendar: business(t, ""), policy: calendar.Skip, after: "2026-11-27T00:00:00Z",
			want: []string{"2026-11-27T12:00:00 due 2026-11-27T12:00:00Z", "2026-11-30T00:00:00 due 2026-11-30T00:00:00Z"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := test.spec
			spec.Calendar, spec.OnNonBusinessDay = test.calendar, test.policy
			if got := lines(compile(t, spec), instant(t, test.after), len(test.want)); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func lines(s *schedule.Schedule, after time.Time, n int) (all []string) {
	for range n {
		o, ok := s.Next(after)
		if !ok {
			return append(all, "none")
		}
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s due %s %s", o.Nominal, o.Due.Format(time.RFC3339), o.Note)))
		after = o.Due
	}
	return all
}

func TestCalendarsThatAreRefused(t *testing.T) {
	t.Parallel()
	c := business(t, "DE")
	tests := map[string]struct {
		spec schedule.Spec
		want string
	}{
		"a policy that is none":   {schedule.Spec{Cron: "@daily", Calendar: c, OnNonBusinessDay: "Nearest"}, `onNonBusinessDay: unknown policy "Nearest"; write Next, Previous, Skip or Keep`},
		"a policy for nothing":    {schedule.Spec{Cron: "@daily", OnNonBusinessDay: calendar.Skip}, "onNonBusinessDay: there is no calendar that knows the business days; set calendarName"},
		"an interval":             {schedule.Spec{Every: time.Hour, Origin: time.Unix(0, 0), Calendar: c}, "calendarName: every counts elapsed time, which no calendar moves; use cron or rrule, or leave calendarName out"},
		"T24: Saturdays, skipped": {schedule.Spec{Cron: "0 9 * * SAT", Calendar: c, OnNonBusinessDay: calendar.Skip}, "onNonBusinessDay: this can never occur: all its dates are on days that are no business days, and Skip drops them; write Next, Previous or Keep, or other dates"},
		"T24: Christmas, skipped": {schedule.Spec{RRule: "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25", Calendar: c, OnNonBusinessDay: calendar.Skip}, "onNonBusinessDay: this can never occur: all its dates are on days that are no business days, and Skip drops them; write Next, Previous or Keep, or other dates"},
		"T24: a holiday, skipped": {schedule.Spec{At: "2026-12-25T09:00:00", Calendar: c, OnNonBusinessDay: calendar.Skip}, "at: this can never occur: it is on a day that is no business day, and onNonBusinessDay Skip drops it; write another time or another policy"},
	}
	for name, test := range tests {
		if got := refusal(t, test.spec).Error(); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, test.want)
		}
	}
}

func TestTheBusinessDateIsThatOfTheDayItTakesPlace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec  schedule.Spec
		after string
		want  string
	}{
		"a plain day":                       {schedule.Spec{Cron: "0 9 * * *", TimeZone: "Asia/Tokyo"}, "2026-11-30T10:00:00Z", "2026-12-01"},
		"the local date, not that in UTC":   {schedule.Spec{Cron: "0 0 * * *", TimeZone: "Asia/Tokyo"}, "2026-11-30T10:00:00Z", "2026-12-01"},
		"a moved day":                       {schedule.Spec{Cron: "0 9 1 1 *", Calendar: business(t, "GB")}, "2026-12-30T00:00:00Z", "2027-01-04"},
		"a gap that leads into another day": {schedule.Spec{Cron: "30 23 28 3 *", TimeZone: "America/Scoresbysund"}, "2026-03-01T00:00:00Z", "2026-03-28"},
	}
	for name, test := range tests {
		if o, ok := compile(t, test.spec).Next(instant(t, test.after)); !ok || o.BusinessDate() != test.want {
			t.Errorf("%s: %s, want %s", name, o.BusinessDate(), test.want)
		}
	}
}
