package calendar_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

const dateHint = "give explicit dates in holidays, or an iCalendar file in iCalendar"

func TestSpecsThatAreRefused(t *testing.T) {
	t.Parallel()
	every := make([]calendar.Holiday, 400)
	for i := range every {
		every[i].Date = date(t, "2027-01-01") + calendar.Date(i)
	}
	early := make([]calendar.EarlyClose, 366)
	for i := range early {
		early[i] = calendar.EarlyClose{Date: date(t, "2027-01-01") + calendar.Date(i), Minute: 1}
	}
	tests := map[string]struct {
		spec calendar.Spec
		want string
	}{
		"a country that the data lacks": {calendar.Spec{Country: "IN"}, `country: the holidays of "IN" are not known here; ` + dateHint},
		"a country in small letters":    {calendar.Spec{Country: "de"}, "country: a country is written in capitals; write DE"},
		"the United Kingdom":            {calendar.Spec{Country: "UK"}, "country: the code of the United Kingdom is GB; write GB"},
		"a country by region only": {
			calendar.Spec{Country: "AU"},
			"country: AU has holidays by region only; set region to AU-ACT, AU-NSW, AU-NT, AU-QLD, AU-SA, AU-TAS, AU-VIC or AU-WA",
		},
		"a region without its country": {calendar.Spec{Region: "DE-BY"}, "region: a region needs its country; set country: DE"},
		"a region of another country":  {calendar.Spec{Country: "DE", Region: "AT-9"}, `region: region "AT-9" is not one of DE; write DE- and the region's code`},
		"a region that the data lacks": {
			calendar.Spec{Country: "FR", Region: "FR-57"},
			"region: the holidays of FR are known for the whole country only; leave region out, and " + dateHint,
		},
		"a region that is none": {
			calendar.Spec{Country: "AU", Region: "AU-XX"},
			`region: the holidays of region "AU-XX" are not known; write AU-ACT, AU-NSW, AU-NT, AU-QLD, AU-SA, AU-TAS, AU-VIC or AU-WA`,
		},
		"a weekend of all days": {
			calendar.Spec{Weekend: []time.Weekday{0, 1, 2, 3, 4, 5, 6}},
			"weekend: all seven days are on the weekend, so there is no business day; write at most six",
		},
		"an eighth day": {calendar.Spec{Weekend: []time.Weekday{7}}, "weekend[0]: this is not a day of the week; write Sunday to Saturday"},
		"T24: every day a holiday": {
			calendar.Spec{Holidays: every},
			"spec: there is no business day, from morning to night, in the 400 days from 2027-01-01 on; remove holidays, early closes, or days of the weekend",
		},
		"T24: every day an early close": {
			calendar.Spec{EarlyCloses: early, Holidays: every[366:]},
			"spec: there is no business day, from morning to night, in the 400 days from 2027-01-01 on; remove holidays, early closes, or days of the weekend",
		},
		"T24: every day an event": {
			calendar.Spec{ICalendar: file("DTSTART;VALUE=DATE:20270101\nRRULE:FREQ=DAILY;COUNT=5000")},
			"spec: there is no business day, from morning to night, in the 5000 days from 2027-01-01 on; remove holidays, early closes, or days of the weekend",
		},
		"a holiday long ago": {
			calendar.Spec{Holidays: []calendar.Holiday{{Date: date(t, "1969-12-31")}}},
			"holidays[0].date: 1969-12-31 is outside the years 1970 to 2100; leave it out",
		},
		"an early close at midnight": {
			calendar.Spec{EarlyCloses: []calendar.EarlyClose{{Date: date(t, "2026-12-31")}}},
			"earlyCloses[0].time: a day ends between 00:01 and 23:59; write a holiday for a day that is closed throughout",
		},
		"two early closes of a day": {
			calendar.Spec{EarlyCloses: []calendar.EarlyClose{{Date: 20000, Minute: 5}, {Date: 20000, Minute: 6}}},
			"earlyCloses[1].date: 2024-10-04 is there twice; write each date once",
		},
		"1,001 holidays": {
			calendar.Spec{Holidays: make([]calendar.Holiday, 1001)},
			"holidays: there are 1001, and 1000 are allowed; write fewer, or use an iCalendar file or include",
		},
		"a calendar that is missing": {
			calendar.Spec{Include: []string{"elsewhere"}},
			`include[0]: there is no calendar "elsewhere"; create it, or take it out of "test"`,
		},
		"a calendar that includes itself": {
			calendar.Spec{Include: []string{"test"}},
			"include[0]: calendars include each other: test → test; take one of them out",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := calendar.Of("test", test.spec)
			if got, want := refusal(t, err).Error(), `calendar "test": `+test.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	for _, country := range []string{"IN", "CN", "SG", "HK", "AE", "IL", "KR", "TR", "NG"} {
		if _, err := calendar.Of("test", calendar.Spec{Country: country}); err == nil || !strings.HasSuffix(err.Error(), dateHint) {
			t.Errorf("%s: %v", country, err)
		}
	}
}

func TestCyclesAndMissingCalendarsAreNamed(t *testing.T) {
	t.Parallel()
	specs := map[string]calendar.Spec{
		"a": {Include: []string{"b"}}, "b": {Include: []string{"d", "c"}}, "c": {Include: []string{"b"}}, "d": {},
		"e": {Include: []string{"f"}}, "f": {Include: []string{"d", "gone"}},
		"g": {Include: []string{"h"}}, "h": {Country: "IN"},
	}
	lookup := func(name string) (calendar.Spec, bool) { spec, ok := specs[name]; return spec, ok }
	for name, want := range map[string]calendar.FieldError{
		"a":    {Calendar: "c", Field: "include[0]", Reason: "calendars include each other: b → c → b"},
		"e":    {Calendar: "f", Field: "include[1]", Reason: `there is no calendar "gone"`, Missing: "gone"},
		"g":    {Calendar: "h", Field: "country", Reason: `the holidays of "IN" are not known here`},
		"gone": {Calendar: "gone", Field: "metadata.name", Reason: "there is no such calendar", Missing: "gone"},
	} {
		_, err := calendar.Compile(name, lookup)
		got := refusal(t, err)
		if got.Calendar != want.Calendar || got.Field != want.Field || got.Reason != want.Reason || got.Missing != want.Missing {
			t.Errorf("%s: %+v", name, got)
		}
	}
	chain := func(name string) (calendar.Spec, bool) { return calendar.Spec{Include: []string{name + "x"}}, true }
	if _, err := calendar.Compile("x", chain); refusal(t, err).Reason != "more than 63 calendars are included in all" {
		t.Errorf("got %v", err)
	}
}

// Whatever the calendar, a roll ends on the nearest business day in its direction, and goes nowhere from one.
func TestRollsEndOnTheNearestBusinessDay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := calendar.NewDate(2026, 1, 1)
		spec := calendar.Spec{Country: rapid.SampledFrom([]string{"", "DE", "JP", "US"}).Draw(t, "country")}
		for _, day := range rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 0, 4, rapid.ID).Draw(t, "weekend") {
			spec.Weekend = append(spec.Weekend, time.Weekday(day))
		}
		for _, day := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 50).Draw(t, "holidays") {
			spec.Holidays = append(spec.Holidays, calendar.Holiday{Date: start + calendar.Date(day)})
		}
		c, err := calendar.Of("test", spec)
		if err != nil {
			t.Fatal(err)
		}
		d := start + calendar.Date(rapid.IntRange(-20, 80).Draw(t, "date"))
		for policy, step := range map[calendar.Policy]calendar.Date{calendar.Next: 1, calendar.Previous: -1} {
			want := d
			for !c.IsBusinessDay(want) {
				want += step
			}
			got, outcome, err := c.Roll(d, policy)
			if err != nil || got != want || (outcome == calendar.Moved) != (got != d) {
				t.Fatalf("%s %s: %s, %d, %v; want %s", d, policy, got, outcome, err, want)
			}
			if n := 5; got == d {
				there, _ := c.AddBusinessDays(d, n)
				if back, _ := c.AddBusinessDays(there, -n); back != d {
					t.Fatalf("%s and 5 business days there and back is %s", d, back)
				}
			}
		}
	})
}
