package calendar_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// file is an iCalendar file of one event.
func file(event string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Works holiday\r\n" + event +
		"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
}

func TestEventsOfAnICalendarFile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []string // in 2026 to 2029
	}{
		"one day":                            {file("DTSTART;VALUE=DATE:20261224"), []string{"2026-12-24 Works holiday"}},
		"one day that says when it ends":     {file("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261225"), []string{"2026-12-24 Works holiday"}},
		"three days":                         {file("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227"), []string{"2026-12-24 Works holiday", "2026-12-25 Works holiday", "2026-12-26 Works holiday"}},
		"an end that is the start":           {file("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261224"), []string{"2026-12-24 Works holiday"}},
		"two days by their number":           {file("DTSTART;VALUE=DATE:20261224\r\nDURATION:P2D"), []string{"2026-12-24 Works holiday", "2026-12-25 Works holiday"}},
		"a date without its type":            {file("DTSTART:20261224"), []string{"2026-12-24 Works holiday"}},
		"parameters of all kinds":            {file(`DTSTART;VALUE=DATE;X="a:b;c";Y=\,,;Z:20261224`), []string{"2026-12-24 Works holiday"}},
		"Unix line ends":                     {strings.ReplaceAll(file("DTSTART:20261224"), "\r", ""), []string{"2026-12-24 Works holiday"}},
		"a folded line":                      {file("DTSTART;VALUE=DATE:2026\r\n 1224"), []string{"2026-12-24 Works holiday"}},
		"an escaped name":                    {file("DTSTART:20261224\r\nSUMMARY:Second"), []string{"2026-12-24 Works holiday"}},
		"an event with a time is no holiday": {file("DTSTART:20261224T090000Z"), nil},
		"nor is a cancelled one":             {file("DTSTART:20261224\r\nSTATUS:CANCELLED"), nil},
		"an alarm in it":                     {file("DTSTART:20261224\r\nBEGIN:VALARM\r\nTRIGGER:-PT15M\r\nDURATION:PT5M\r\nEND:VALARM"), []string{"2026-12-24 Works holiday"}},
		"every year, from long ago":          {file("DTSTART;VALUE=DATE:16011224\r\nRRULE:FREQ=YEARLY"), []string{"2026-12-24 Works holiday", "2027-12-24 Works holiday", "2028-12-24 Works holiday", "2029-12-24 Works holiday"}},
		"the first Monday of May, two times": {file("DTSTART;VALUE=DATE:20260504\r\nRRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=1MO;COUNT=2"), []string{"2026-05-04 Works holiday", "2027-05-03 Works holiday"}},
		"every year until":                   {file("DTSTART;VALUE=DATE:20261224\r\nRRULE:FREQ=YEARLY;UNTIL=20271224"), []string{"2026-12-24 Works holiday", "2027-12-24 Works holiday"}},
		"every year until, in UTC":           {file("DTSTART;VALUE=DATE:20261224\r\nRRULE:FREQ=YEARLY;UNTIL=20271223T230000Z"), []string{"2026-12-24 Works holiday"}},
		"without an exception":               {file("DTSTART;VALUE=DATE:20261224\r\nRRULE:FREQ=YEARLY;COUNT=3\r\nEXDATE;VALUE=DATE:20271224"), []string{"2026-12-24 Works holiday", "2028-12-24 Works holiday"}},
		"further dates":                      {file("DTSTART;VALUE=DATE:20261224\r\nRDATE;VALUE=DATE:20261231,20270104"), []string{"2026-12-24 Works holiday", "2026-12-31 Works holiday", "2027-01-04 Works holiday"}},
		"one that is moved": {
			file("DTSTART;VALUE=DATE:20261224\r\nRRULE:FREQ=YEARLY;COUNT=2\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Moved\r\nRECURRENCE-ID;VALUE=DATE:20271224\r\nDTSTART;VALUE=DATE:20271223"),
			[]string{"2026-12-24 Works holiday", "2027-12-23 Moved"},
		},
		"one that is cancelled": {
			file("DTSTART;VALUE=DATE:20261224\r\nRRULE:FREQ=YEARLY;COUNT=2\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:1\r\nRECURRENCE-ID;VALUE=DATE:20271224\r\nDTSTART;VALUE=DATE:20271224\r\nSTATUS:CANCELLED"),
			[]string{"2026-12-24 Works holiday"},
		},
		"a name with commas and a break": {
			"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Inventory\\, all\\nof it\nDTSTART:20261224\nEND:VEVENT\nEND:VCALENDAR",
			[]string{"2026-12-24 Inventory, all of it"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := of(t, calendar.Spec{ICalendar: test.text})
			var got []string
			for h := range c.Holidays(date(t, "2026-01-01"), date(t, "2029-12-31")) {
				got = append(got, h.Date.String()+" "+h.Name)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"10 MiB":              {strings.Repeat("X", 10<<20), "the file has 10485760 bytes, 1048576 are allowed; leave out past years and descriptions"},
		"text":                {"Christmas", "line 1 is outside of any component; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR"},
		"another component":   {"BEGIN:VEVENT\nEND:VEVENT", "the file does not begin with BEGIN:VCALENDAR; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR"},
		"half a file":         {"BEGIN:VCALENDAR\nBEGIN:VEVENT\n", "the file ends in the middle; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR"},
		"an end too many":     {"BEGIN:VCALENDAR\nEND:VEVENT\n", "line 2: END:VEVENT ends nothing; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR"},
		"two calendars":       {file("DTSTART:20261224") + file("DTSTART:20261224"), "there is more than one calendar in the file; use one iCalendar file each, in calendars that include each other"},
		"nesting":             {"BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:X\n", 9), "line 9: components are nested more than 8 deep; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR"},
		"a date that is none": {file("DTSTART;VALUE=DATE:20260230"), `the event "Works holiday", number 1: DTSTART "20260230" is not a date such as 20261224; correct the file, or give explicit dates in holidays`},
		"no date":             {file("STATUS:CONFIRMED"), `the event "Works holiday", number 1: DTSTART "" is not a date such as 20261224; correct the file, or give explicit dates in holidays`},
		"a length in hours":   {file("DTSTART:20261224\r\nDURATION:PT24H"), `the event "Works holiday", number 1: DURATION "PT24H" is not a number of days such as P1D; correct the file, or give explicit dates in holidays`},
		"a century":           {file("DTSTART:20261224\r\nDTEND:21261224"), `the event "Works holiday", number 1: it is 36524 days long, and 366 are allowed; correct the file, or give explicit dates in holidays`},
		"two rules":           {file("DTSTART:20261224\r\nRRULE:FREQ=YEARLY\r\nRRULE:FREQ=DAILY"), `the event "Works holiday", number 1: EXRULE, or more than one RRULE, is not supported; correct the file, or give explicit dates in holidays`},
		"a rule by hours":     {file("DTSTART:20261224\r\nRRULE:FREQ=HOURLY"), `the event "Works holiday": RRULE FREQ=HOURLY: FREQ=HOURLY is not supported; set cron, such as "*/15 * * * *", or every; change the file, or give explicit dates in holidays`},
		"a rule by weeks":     {file("DTSTART:20261224\r\nRRULE:FREQ=YEARLY;BYWEEKNO=20"), `the event "Works holiday": RRULE FREQ=YEARLY;BYWEEKNO=20: BYWEEKNO is not supported; write BYMONTH with BYDAY, or FREQ=WEEKLY with INTERVAL; change the file, or give explicit dates in holidays`},
		"every day for ever":  {file("DTSTART:20261224\r\nRRULE:FREQ=DAILY"), `the event "Works holiday": with it the events are more than 20000 days; change the file, or give explicit dates in holidays`},
		"no value":            {file(`DTSTART;VALUE="DATE:20261224`), "DTSTART before line 8 has no value; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := calendar.Of("test", calendar.Spec{ICalendar: test.text})
			if got, want := refusal(t, err).Error(), `calendar "test": iCalendar: `+test.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func FuzzICalendar(f *testing.F) {
	for _, event := range []string{
		"DTSTART;VALUE=DATE:20261224", "DTSTART:20261224T090000Z", "DTSTART;VALUE=DATE:20261224\r\nRRULE:FREQ=YEARLY;COUNT=3\r\nEXDATE:20271224",
		"DTSTART:20261224\r\nDURATION:P2W", "DTSTART:2026\r\n 1224\r\nBEGIN:VALARM\r\nEND:VALARM", "RDATE:20270101\r\nRECURRENCE-ID:20261224",
		`DTSTART;X="a:b";Y=\,:20261224`, "DTSTART;=", "SUMMARY;A=\"",
	} {
		f.Add(file(event))
	}
	f.Add("BEGIN:VCALENDAR\nBEGIN:VCALENDAR\nEND:VCALENDAR")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := calendar.Of("test", calendar.Spec{ICalendar: text})
		if err != nil {
			if refused := refusal(t, err); refused.Reason == "" || refused.Hint == "" || len(err.Error()) > 700 || strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Fatalf("not fit to be shown: %q", err)
			}
			return
		}
		last := calendar.Date(-1 << 31)
		for h := range c.Holidays(date(t, "1970-01-01"), date(t, "2100-12-31")) {
			if h.Date <= last || c.IsBusinessDay(h.Date) || strings.ContainsAny(h.Name, "\r\n\x00") {
				t.Fatalf("%s %q after %s", h.Date, h.Name, last)
			}
			last = h.Date
		}
	})
}
