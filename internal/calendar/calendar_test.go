package calendar_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
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

func of(t testing.TB, spec calendar.Spec) *calendar.Calendar {
	t.Helper()
	c, err := calendar.Of("test", spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func refusal(t testing.TB, err error) *calendar.FieldError {
	t.Helper()
	refused, ok := errors.AsType[*calendar.FieldError](err)
	if !ok {
		t.Fatalf("got %v, want a FieldError", err)
	}
	return refused
}

func TestRoll(t *testing.T) {
	t.Parallel()
	london := calendar.Spec{Weekend: weekend, Country: "GB"}
	more := london
	more.Holidays = []calendar.Holiday{{Date: date(t, "2027-01-04"), Name: "Stocktaking"}}
	tests := map[string]struct {
		spec        calendar.Spec
		date        string
		policy      calendar.Policy
		want        string
		wantOutcome calendar.Outcome
	}{
		"a business day stays":                      {london, "2026-12-31", calendar.Next, "2026-12-31", calendar.Unmoved},
		"T24: New Year's Day, a Friday, to Monday":  {london, "2027-01-01", calendar.Next, "2027-01-04", calendar.Moved},
		"T24: and on if Monday is a holiday too":    {more, "2027-01-01", calendar.Next, "2027-01-05", calendar.Moved},
		"T24: a Saturday too":                       {more, "2027-01-02", "", "2027-01-05", calendar.Moved},
		"T24: back over two holidays and a weekend": {london, "2026-12-28", calendar.Previous, "2026-12-24", calendar.Moved},
		"T24: a day that is skipped":                {london, "2027-01-01", calendar.Skip, "2027-01-01", calendar.Skipped},
		"T24: a day that is kept":                   {london, "2027-01-01", calendar.Keep, "2027-01-01", calendar.Kept},
		"no weekend":                                {calendar.Spec{}, "2027-01-02", calendar.Next, "2027-01-02", calendar.Unmoved},
		"a weekend of Friday and Saturday":          {calendar.Spec{Weekend: []time.Weekday{time.Friday, time.Saturday}}, "2027-01-01", calendar.Next, "2027-01-03", calendar.Moved},
		"a weekend before there were holidays":      {london, "1850-01-05", calendar.Next, "1850-01-07", calendar.Moved},
		"a Christmas Day beyond the years":          {london, "2101-12-25", calendar.Next, "2101-12-26", calendar.Moved}, // a Sunday
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, outcome, err := of(t, test.spec).Roll(date(t, test.date), test.policy)
			if err != nil || got != date(t, test.want) || outcome != test.wantOutcome {
				t.Errorf("%s %s: %s, %d, %v; want %s, %d", test.date, test.policy, got, outcome, err, test.want, test.wantOutcome)
			}
		})
	}
	if _, _, err := of(t, london).Roll(0, "Nearest"); err == nil {
		t.Error("an unknown policy is accepted")
	}
}

func TestAddBusinessDays(t *testing.T) {
	t.Parallel()
	c := of(t, calendar.Spec{Weekend: weekend, Country: "DE", EarlyCloses: []calendar.EarlyClose{{Date: date(t, "2026-12-23"), Minute: 13 * 60}}})
	tests := map[string]struct {
		date string
		n    int
		want string
	}{
		"none is the date itself, business day or not":    {"2026-12-26", 0, "2026-12-26"},
		"three before a Monday":                           {"2026-11-30", -3, "2026-11-25"},
		"three before a Sunday":                           {"2026-11-29", -3, "2026-11-25"},
		"one before the first business day after a feast": {"2026-12-28", -1, "2026-12-24"},
		"two after Christmas Eve":                         {"2026-12-24", 2, "2026-12-29"},
		"a day that ends early is a business day":         {"2026-12-24", -1, "2026-12-23"},
		"a year's worth":                                  {"2026-01-01", 253, "2026-12-30"},
	}
	for name, test := range tests {
		if got, err := c.AddBusinessDays(date(t, test.date), test.n); err != nil || got != date(t, test.want) {
			t.Errorf("%s: %s %+d = %s, %v; want %s", name, test.date, test.n, got, err, test.want)
		}
	}
	if _, err := c.AddBusinessDays(0, 1<<30); !errors.Is(err, calendar.ErrTooFar) {
		t.Errorf("got %v", err)
	}
}

func TestHolidaysOfCountries(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		country, region, date string
		want                  string // "" for none
	}{
		"Germany":                             {"DE", "", "2026-10-03", "Tag der Deutschen Einheit"},
		"Bavaria has what Germany has not":    {"DE", "DE-BY", "2027-01-06", "Heilige Drei Könige"},
		"Germany has not what Bavaria has":    {"DE", "", "2027-01-06", ""},
		"Bavaria has also what Germany has":   {"DE", "DE-BY", "2026-10-03", "Tag der Deutschen Einheit"},
		"New South Wales":                     {"AU", "AU-NSW", "2027-01-26", "Australia Day"},
		"the ECB":                             {"EU", "", "2027-03-26", "Good Friday"},
		"a Saturday is observed on Friday":    {"US", "", "2026-07-03", "Independence Day (observed)"},
		"a New Year observed in the old year": {"US", "", "2027-12-31", "New Year's Day (observed)"},
		"and the Saturday itself":             {"US", "", "2026-07-04", "Independence Day"},
		"Easter in Greece":                    {"GR", "", "2027-05-03", "Δευτέρα του Πάσχα"},
		"the last year that counts":           {"DE", "", "2100-12-25", "Weihnachtstag"},
		"and not the one after":               {"DE", "", "2101-12-25", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := of(t, calendar.Spec{Country: test.country, Region: test.region}).Holiday(date(t, test.date))
			if got != test.want || ok != (test.want != "") {
				t.Errorf("%s: %q, %v; want %q", test.date, got, ok, test.want)
			}
		})
	}
}

func TestEveryCountryAndRegionCompiles(t *testing.T) {
	t.Parallel()
	if n := len(calendar.Countries()); n < 45 {
		t.Errorf("%d countries", n)
	}
	for _, country := range calendar.Countries() {
		for _, region := range append(calendar.Regions(country), "") {
			c, err := calendar.Of("test", calendar.Spec{Weekend: weekend, Country: country, Region: region})
			if err != nil {
				if region != "" || !strings.Contains(err.Error(), "by region only") {
					t.Errorf("%s %s: %v", country, region, err)
				}
				continue
			}
			n := 0
			for h := range c.Holidays(date(t, "2027-01-01"), date(t, "2027-12-31")) {
				if n++; h.Name == "" {
					t.Errorf("%s %s: %s has no name", country, region, h.Date)
				}
			}
			if n < 5 || n > 45 {
				t.Errorf("%s %s has %d holidays in 2027", country, region, n)
			}
		}
	}
}

func TestDataVersionIsThatOfTheModule(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(calendar.DataVersion(), "rickar/cal ", "github.com/rickar/cal/v2 ", 1); !strings.Contains(string(mod), want) {
		t.Errorf("go.mod does not have %s", want)
	}
}

// The library of holidays computes in the machine's zone: a machine in a zone that skips midnights must not tell other days.
func TestTheZoneOfTheMachinePlaysNoPart(t *testing.T) {
	t.Parallel()
	if os.Getenv("CALENDAR_DIGEST") != "" {
		fmt.Fprint(os.Stdout, digest(t))
		return
	}
	want := digest(t)
	for _, zone := range []string{"America/Santiago", "Asia/Beirut", "Pacific/Apia", "America/Sao_Paulo", "Asia/Amman"} {
		command := exec.Command(os.Args[0], "-test.run=^TestTheZoneOfTheMachinePlaysNoPart$")
		command.Env = append(os.Environ(), "CALENDAR_DIGEST=1", "TZ="+zone)
		out, err := command.Output()
		if got, _, _ := strings.Cut(string(out), "PASS"); err != nil || got != want {
			t.Errorf("%s: other holidays (%v)", zone, err)
		}
	}
}

func digest(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, country := range calendar.Countries() {
		region := ""
		if country == "AU" {
			region = "AU-VIC"
		}
		c := of(t, calendar.Spec{Weekend: weekend, Country: country, Region: region})
		sum := 0
		for h := range c.Holidays(date(t, "1970-01-01"), date(t, "2100-12-31")) {
			sum = (sum*31 + int(h.Date) + len(h.Name)) % 1_000_000_007
		}
		fmt.Fprintln(&b, country, sum)
	}
	return b.String()
}

func TestIncludedCalendarsAddTheirHolidaysAndNotTheirWeekends(t *testing.T) {
	t.Parallel()
	specs := map[string]calendar.Spec{
		"office": {Weekend: []time.Weekday{time.Sunday}, Include: []string{"target2", "works"}, Holidays: []calendar.Holiday{{Date: date(t, "2026-12-25"), Name: "Our Christmas"}}},
		"works":  {Include: []string{"target2"}, Holidays: []calendar.Holiday{{Date: date(t, "2026-08-03"), Name: "Works holiday"}}},
		"target2": {
			Weekend: weekend, Country: "EU",
			EarlyCloses: []calendar.EarlyClose{{Date: date(t, "2026-12-24"), Minute: 12 * 60}},
		},
	}
	c, err := calendar.Compile("office", func(name string) (calendar.Spec, bool) { spec, ok := specs[name]; return spec, ok })
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range map[string]bool{
		"2026-08-01": true, // a Saturday
		"2026-08-02": false, "2026-08-03": false, "2026-08-04": true, "2026-05-01": false, "2026-12-24": true,
	} {
		if got := c.IsBusinessDay(date(t, day)); got != want {
			t.Errorf("%s: %v", day, got)
		}
	}
	if name, _ := c.Holiday(date(t, "2026-12-25")); name != "Our Christmas" {
		t.Errorf("its own name comes first, got %q", name)
	}
	if c.Closes(date(t, "2026-12-24")) != 24*60 {
		t.Error("the early close of another calendar counts")
	}
}

func TestClosesSaysWhenADayEnds(t *testing.T) {
	t.Parallel()
	c := of(t, calendar.Spec{Weekend: weekend, EarlyCloses: []calendar.EarlyClose{
		{Date: date(t, "2026-12-31"), Minute: 13 * 60, Name: "New Year's Eve"}, {Date: date(t, "2026-12-26"), Minute: 12 * 60},
	}})
	for day, want := range map[string]int{"2026-12-30": 1440, "2026-12-31": 780, "2026-12-26": 0} {
		if got := c.Closes(date(t, day)); got != want {
			t.Errorf("%s closes at %d, want %d", day, got, want)
		}
	}
	if early, ok := c.EarlyClose(date(t, "2026-12-31")); !ok || early.Name != "New Year's Eve" {
		t.Errorf("got %v, %v", early, ok)
	}
	if _, ok := c.EarlyClose(date(t, "2026-12-26")); ok {
		t.Error("a day of the weekend closes early")
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31"} {
		d := date(t, text)
		year, month, day := d.Date()
		if marshalled, err := d.MarshalText(); err != nil || string(marshalled) != text || d != calendar.NewDate(year, month, day) {
			t.Errorf("%s: %s, %v", text, marshalled, err)
		}
		if want := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday(); d.Weekday() != want {
			t.Errorf("%s: %s, want %s", text, d.Weekday(), want)
		}
	}
	for _, text := range []string{"", "2026-02-30", "2026-2-3", "2026-12-24T00:00:00", "26-12-24", "2026-12-24 ", "+2026-12-24"} {
		if d, err := calendar.ParseDate(text); err == nil {
			t.Errorf("%q is accepted as %s", text, d)
		}
	}
}
