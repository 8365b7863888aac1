package convert_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// calendars are found by their names; each has the iCalendar file that is given.
type calendars map[string]v1alpha1.BusinessCalendarSpec

func (c calendars) compile(name, iCalendar string) (*calendar.Calendar, error) {
	return convert.Calendar(name, func(name string) (*v1alpha1.BusinessCalendar, string, bool) {
		spec, ok := c[name]
		text := ""
		if spec.ICalendar != nil {
			text = iCalendar
		}
		return &v1alpha1.BusinessCalendar{Spec: spec}, text, ok
	})
}

func dateOf(t *testing.T, text string) calendar.Date {
	t.Helper()
	d, err := calendar.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const officeFile = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Summer party\nDTSTART;VALUE=DATE:20270702\nEND:VEVENT\nEND:VCALENDAR\n"

var fromFile = &v1alpha1.ICalendarSource{ConfigMapRef: v1alpha1.ConfigMapKeyRef{Name: "office", Key: "calendar.ics"}}

func TestEveryFieldOfACalendarCounts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spec v1alpha1.BusinessCalendarSpec
		want []string // of a week in 2027, with what each day is
	}{
		"nothing: Saturday and Sunday": {
			v1alpha1.BusinessCalendarSpec{},
			[]string{"06-28", "06-29", "06-30", "07-01", "07-02", "07-03 weekend", "07-04 weekend"},
		},
		"another weekend": {
			v1alpha1.BusinessCalendarSpec{Weekend: []v1alpha1.Weekday{v1alpha1.Friday, v1alpha1.Monday}},
			[]string{"06-28 weekend", "06-29", "06-30", "07-01", "07-02 weekend", "07-03", "07-04"},
		},
		"no weekend": {
			v1alpha1.BusinessCalendarSpec{Weekend: []v1alpha1.Weekday{}},
			[]string{"06-28", "06-29", "06-30", "07-01", "07-02", "07-03", "07-04"},
		},
		"a country": {
			v1alpha1.BusinessCalendarSpec{Country: "US"},
			[]string{"06-28", "06-29", "06-30", "07-01", "07-02", "07-03 weekend", "07-04 weekend Independence Day"},
		},
		"a country and its region": {
			v1alpha1.BusinessCalendarSpec{Country: "CH", Region: "CH-VS"},
			[]string{"06-28", "06-29", "06-30", "07-01", "07-02", "07-03 weekend", "07-04 weekend"},
		},
		"a holiday": {
			v1alpha1.BusinessCalendarSpec{Holidays: []v1alpha1.Holiday{{Date: "2027-06-30", Name: "Half-time"}, {Date: "2027-07-01"}}},
			[]string{"06-28", "06-29", "06-30 Half-time", "07-01 holiday", "07-02", "07-03 weekend", "07-04 weekend"},
		},
		"an early close": {
			v1alpha1.BusinessCalendarSpec{EarlyCloses: []v1alpha1.EarlyClose{{Date: "2027-06-30", Time: "13:05", Name: "Inventory"}}},
			[]string{"06-28", "06-29", "06-30 until minute 785 Inventory", "07-01", "07-02", "07-03 weekend", "07-04 weekend"},
		},
		"an iCalendar file": {
			v1alpha1.BusinessCalendarSpec{ICalendar: fromFile},
			[]string{"06-28", "06-29", "06-30", "07-01", "07-02 Summer party", "07-03 weekend", "07-04 weekend"},
		},
		"another calendar: its holidays, not its weekend": {
			v1alpha1.BusinessCalendarSpec{Include: []string{"other"}},
			[]string{"06-28", "06-29 Other", "06-30", "07-01", "07-02", "07-03 weekend", "07-04 weekend"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days, err := calendars{"days": c.spec, "other": {
				Weekend: []v1alpha1.Weekday{v1alpha1.Wednesday}, Holidays: []v1alpha1.Holiday{{Date: "2027-06-29", Name: "Other"}},
			}}.compile("days", officeFile)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, week(t, days)); diff != "" {
				t.Error(diff)
			}
			if days.Name() != "days" {
				t.Errorf("its name is %q", days.Name())
			}
		})
	}
}

// week says what the days of the week of 2027-06-28 are.
func week(t *testing.T, days *calendar.Calendar) []string {
	t.Helper()
	var all []string
	monday := dateOf(t, "2027-06-28")
	for d := monday; d < monday+7; d++ {
		words := []string{strings.TrimPrefix(d.String(), "2027-")}
		if days.Weekend(d) {
			words = append(words, "weekend")
		}
		if name, ok := days.Holiday(d); ok {
			if name == "" {
				name = "holiday"
			}
			words = append(words, name)
		}
		if early, ok := days.EarlyClose(d); ok {
			words = append(words, "until minute", strconv.Itoa(early.Minute), early.Name)
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

func TestEveryWeekdayIsUnderstood(t *testing.T) {
	t.Parallel()
	names := []v1alpha1.Weekday{v1alpha1.Monday, v1alpha1.Tuesday, v1alpha1.Wednesday, v1alpha1.Thursday, v1alpha1.Friday, v1alpha1.Saturday, v1alpha1.Sunday}
	for i, name := range names {
		days, err := calendars{"days": {Weekend: []v1alpha1.Weekday{name}}}.compile("days", "")
		if err != nil {
			t.Fatal(err)
		}
		for j, other := range names {
			if got := days.Weekend(dateOf(t, "2027-06-28") + calendar.Date(j)); got != (i == j) {
				t.Errorf("a weekend of %s has %s in it: %t", name, other, got)
			}
		}
	}
}

// A calendar from a file has met no API server: each mistake has a field, a reason and a remedy.
func TestMistakesInACalendarHaveAFieldAndARemedy(t *testing.T) {
	t.Parallel()
	every := make([]v1alpha1.Holiday, 400)
	for i := range every {
		every[i].Date = (calendar.NewDate(2027, time.January, 1) + calendar.Date(i)).String()
	}
	holiday := func(date string) v1alpha1.BusinessCalendarSpec {
		return v1alpha1.BusinessCalendarSpec{Holidays: []v1alpha1.Holiday{{Date: "2027-06-30"}, {Date: date}}}
	}
	closes := func(date, at string) v1alpha1.BusinessCalendarSpec {
		return v1alpha1.BusinessCalendarSpec{EarlyCloses: []v1alpha1.EarlyClose{{Date: date, Time: at}}}
	}
	seven := []v1alpha1.Weekday{v1alpha1.Monday, v1alpha1.Tuesday, v1alpha1.Wednesday, v1alpha1.Thursday, v1alpha1.Friday, v1alpha1.Saturday, v1alpha1.Sunday}
	cases := map[string]struct {
		spec v1alpha1.BusinessCalendarSpec
		want string
		is   error // none of the three that callers ask for, if nil
	}{
		"a day in short": {
			v1alpha1.BusinessCalendarSpec{Weekend: []v1alpha1.Weekday{v1alpha1.Sunday, "Sat"}},
			`spec.weekend[1]: Unsupported value: "Sat": supported values: "Friday", "Monday", "Saturday", "Sunday", "Thursday", "Tuesday", "Wednesday"`, nil,
		},
		"a weekend of seven days":       {v1alpha1.BusinessCalendarSpec{Weekend: seven}, "spec.weekend: all seven days are on the weekend, so there is no business day; write at most six", convert.ErrNoBusinessDay},
		"every day a holiday":           {v1alpha1.BusinessCalendarSpec{Holidays: every}, "spec: there is no business day, from morning to night, in the 402 days from 2027-01-01 on; remove holidays, early closes, or days of the weekend", convert.ErrNoBusinessDay},
		"a holiday that is no date":     {holiday("Christmas"), `spec.holidays[1].date: Invalid value: "Christmas": write a day of the calendar, such as 2026-12-24`, nil},
		"a holiday on February 30":      {holiday("2026-02-30"), `spec.holidays[1].date: Invalid value: "2026-02-30": write a day of the calendar, such as 2026-12-24`, nil},
		"a holiday with a time":         {holiday("2026-12-24T00:00:00Z"), `spec.holidays[1].date: Invalid value`, nil},
		"an empty holiday":              {holiday(""), `spec.holidays[1].date: Invalid value: ""`, nil},
		"a holiday in 1969":             {holiday("1969-12-31"), "spec.holidays[1].date: 1969-12-31 is outside the years 1970 to 2100; leave it out", nil},
		"1001 holidays":                 {v1alpha1.BusinessCalendarSpec{Holidays: slices.Repeat([]v1alpha1.Holiday{{Date: "2027-01-01"}}, 1001)}, "spec.holidays: there are 1001, and 1000 are allowed; write fewer, or use an iCalendar file or include", nil},
		"an early close that is no day": {closes("tomorrow", "13:00"), `spec.earlyCloses[0].date: Invalid value: "tomorrow"`, nil},
		"an early close at one":         {closes("2026-12-31", "1pm"), `spec.earlyCloses[0].time: Invalid value: "1pm": write hours and minutes from 00:01 to 23:59, such as 13:00`, nil},
		"an early close at 24:00":       {closes("2026-12-31", "24:00"), `spec.earlyCloses[0].time: Invalid value: "24:00"`, nil},
		"an early close with seconds":   {closes("2026-12-31", "13:00:00"), `spec.earlyCloses[0].time: Invalid value: "13:00:00"`, nil},
		"an early close of one digit":   {closes("2026-12-31", "9:00"), `spec.earlyCloses[0].time: Invalid value: "9:00"`, nil},
		"an early close at midnight":    {closes("2026-12-31", "00:00"), "spec.earlyCloses[0].time: a day ends between 00:01 and 23:59; write a holiday for a day that is closed throughout", nil},
		"an unknown country":            {v1alpha1.BusinessCalendarSpec{Country: "IN"}, `spec.country: the holidays of "IN" are not known here; give explicit dates in holidays, or an iCalendar file in iCalendar`, nil},
		"a region of another country":   {v1alpha1.BusinessCalendarSpec{Country: "DE", Region: "AT-9"}, `spec.region: region "AT-9" is not one of DE; write DE- and the region's code`, nil},
		"a file that is none":           {v1alpha1.BusinessCalendarSpec{ICalendar: fromFile}, "spec.iCalendar: line 1 is outside of any component; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR", nil},
		"itself":                        {v1alpha1.BusinessCalendarSpec{Include: []string{"days"}}, "spec.include[0]: calendars include each other: days → days; take one of them out", convert.ErrCalendarCycle},
		"one that does not exist":       {v1alpha1.BusinessCalendarSpec{Include: []string{"gone"}}, `spec.include[0]: there is no calendar "gone"; create it, or take it out of "days"`, convert.ErrCalendarNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := calendars{"days": c.spec}.compile("days", "<html>")
			checkFault(t, err, "calendar days: "+c.want, c.is)
			if name == "itself" || name == "one that does not exist" {
				return
			}
			_, err = calendars{"outer": {Include: []string{"days"}}, "days": c.spec}.compile("outer", "<html>")
			who := "days"
			if name == "every day a holiday" { // it is the sum of all that leaves no day
				who = "outer"
			}
			checkFault(t, err, "calendar "+who+": "+c.want, c.is)
		})
	}
}

func checkFault(t *testing.T, err error, want string, is error) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Fatalf("the error is\n%v, want\n%s", err, want)
	}
	for _, one := range []error{convert.ErrCalendarNotFound, convert.ErrCalendarCycle, convert.ErrNoBusinessDay} {
		if got := errors.Is(err, one); got != errors.Is(is, one) {
			t.Errorf("%v: it is %q: %t", err, one, got)
		}
	}
}

func TestIncludedCalendarsAreNamedInErrors(t *testing.T) {
	t.Parallel()
	include := func(names ...string) v1alpha1.BusinessCalendarSpec {
		return v1alpha1.BusinessCalendarSpec{Include: names}
	}
	cases := map[string]struct {
		all  calendars
		want string
		is   error
	}{
		"it does not exist itself":        {calendars{}, "calendar a: there is no such calendar; create it", convert.ErrCalendarNotFound},
		"a calendar includes a wrong one": {calendars{"a": include("b"), "b": include("c")}, `calendar b: spec.include[0]: there is no calendar "c"; create it, or take it out of "b"`, convert.ErrCalendarNotFound},
		"two include each other":          {calendars{"a": include("b"), "b": include("a")}, "calendar b: spec.include[0]: calendars include each other: a → b → a; take one of them out", convert.ErrCalendarCycle},
		"two of others do": {
			calendars{"a": include("d", "b"), "b": include("c"), "c": include("d", "b"), "d": {}},
			"calendar c: spec.include[1]: calendars include each other: b → c → b; take one of them out", convert.ErrCalendarCycle,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.all.compile("a", "")
			checkFault(t, err, c.want, c.is)
		})
	}
}

// The same calendar has the same digest however it is written, so that its schedules are not planned anew.
func TestACalendarIsWhatItSays(t *testing.T) {
	t.Parallel()
	standard := []v1alpha1.Weekday{v1alpha1.Sunday, v1alpha1.Saturday}
	one, err := calendars{"days": {Holidays: []v1alpha1.Holiday{{Date: "2027-07-02", Name: "Party"}}}}.compile("days", "")
	if err != nil {
		t.Fatal(err)
	}
	same, err := calendars{"days": {Weekend: standard, ICalendar: fromFile}}.compile("days", officeFile)
	if err != nil {
		t.Fatal(err)
	}
	if one.Digest() != same.Digest() {
		t.Error("two calendars with the same days have different digests")
	}
}
