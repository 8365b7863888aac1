package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func TestAnchors(t *testing.T) {
	t.Parallel()
	german := business(t, "DE")
	tests := map[string]struct {
		spec  schedule.Spec
		value string
		want  []string
	}{
		"three days before":                   {schedule.Spec{Anchor: &schedule.Anchor{Offset: "-P3D"}}, "2026-11-03", []string{"2026-10-31T09:00:00 due 2026-10-31T09:00:00Z", "none"}},
		"the day itself":                      {schedule.Spec{Anchor: &schedule.Anchor{}}, "2026-11-03", []string{"2026-11-03T09:00:00 due 2026-11-03T09:00:00Z", "none"}},
		"two weeks after":                     {schedule.Spec{Anchor: &schedule.Anchor{Offset: "P2W"}}, "2026-11-03", []string{"2026-11-17T09:00:00 due 2026-11-17T09:00:00Z", "none"}},
		"a month before the 31st is the 30th": {schedule.Spec{Anchor: &schedule.Anchor{Offset: "-P1M"}}, "2026-07-31", []string{"2026-06-30T09:00:00 due 2026-06-30T09:00:00Z", "none"}},
		"T11: a year after a leap day":        {schedule.Spec{Anchor: &schedule.Anchor{Offset: "P1Y"}}, "2028-02-29", []string{"2029-02-28T09:00:00 due 2029-02-28T09:00:00Z", "none"}},
		"T11: the leap day itself":            {schedule.Spec{Anchor: &schedule.Anchor{}}, "2028-02-29", []string{"2028-02-29T09:00:00 due 2028-02-29T09:00:00Z", "none"}},
		"months first, then days":             {schedule.Spec{Anchor: &schedule.Anchor{Offset: "P1M1D"}}, "2026-01-31", []string{"2026-03-01T09:00:00 due 2026-03-01T09:00:00Z", "none"}},
		"three business days before":          {schedule.Spec{Anchor: &schedule.Anchor{Offset: "-P3BD"}, Calendar: german}, "2026-12-28", []string{"2026-12-22T09:00:00 due 2026-12-22T09:00:00Z", "none"}},
		"three days before, and to a business day": {
			schedule.Spec{Anchor: &schedule.Anchor{Offset: "-P3D"}, Calendar: german}, "2026-12-28",
			[]string{"2026-12-25T09:00:00 due 2026-12-28T09:00:00Z holiday Weihnachtstag: moved to the next business day", "none"},
		},
		"T1: into a gap":         {schedule.Spec{Anchor: &schedule.Anchor{Time: "02:30"}, TimeZone: "America/New_York"}, "2026-03-08", []string{"2026-03-08T02:30:00 due 2026-03-08T07:30:00Z gap: shifted by 1h", "none"}},
		"dropped by a policy":    {schedule.Spec{Anchor: &schedule.Anchor{Time: "02:30"}, TimeZone: "America/New_York", Gap: schedule.GapSkip}, "2026-03-08", []string{"none"}},
		"before startTime":       {schedule.Spec{Anchor: &schedule.Anchor{}, Start: instant(t, "2027-01-01T00:00:00Z")}, "2026-03-08", []string{"none"}},
		"both of two passes":     {schedule.Spec{Anchor: &schedule.Anchor{Time: "02:30"}, TimeZone: "Europe/Berlin", Overlap: schedule.OverlapBoth}, "2026-10-25", []string{"2026-10-25T02:30:00 due 2026-10-25T00:30:00Z overlap: first pass", "2026-10-25T02:30:00 due 2026-10-25T01:30:00Z overlap: second pass", "none"}},
		"a date long ago is one": {schedule.Spec{Anchor: &schedule.Anchor{Offset: "P99Y"}}, "1950-05-01", []string{"2049-05-01T09:00:00 due 2049-05-01T09:00:00Z", "none"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anchor := *test.spec.Anchor
			anchor.Attribute = "renewalDate"
			if anchor.Time == "" {
				anchor.Time = "09:00"
			}
			test.spec.Anchor = &anchor
			s := compile(t, test.spec)
			if o, ok := s.Next(time.Time{}); ok || !s.Anchored() {
				t.Errorf("the schedule itself has the occurrence %v", o)
			}
			own, err := s.ForRecipient(map[string]string{"renewalDate": test.value})
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(own, time.Time{}, len(test.want)); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestADateThatIsNoneIsAnErrorOfItsRecipientOnly(t *testing.T) {
	t.Parallel()
	s := compile(t, schedule.Spec{Anchor: &schedule.Anchor{Attribute: "renewalDate", Offset: "P99Y", Time: "09:00"}})
	const hint = "; write a date such as 2026-11-03 into it"
	for value, want := range map[string]string{
		"":                     `is missing`,
		"2026-02-30":           `is not a day of the calendar`,
		"2026-11-03T09:00:00Z": `has a time in it`,
		"2026-11-03 09:00":     `has a time in it`,
		"03.11.2026":           `is not a day of the calendar`,
		"2026-11-3":            `is not a day of the calendar`,
		"9950-01-01":           `with the offset P99Y is outside the years 1 to 9999`,
	} {
		_, err := s.ForRecipient(map[string]string{"renewalDate": value})
		if want = `anchor.attribute: the recipient's attribute "renewalDate" ` + want + hint; err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", value, err, want)
		}
	}
	if _, err := s.ForRecipient(nil); err == nil {
		t.Error("no attributes at all are accepted")
	}
	if _, err := s.ForRecipient(map[string]string{"renewalDate": "2026-11-03"}); err != nil {
		t.Error(err)
	}
	plain := compile(t, schedule.Spec{Cron: "@daily"})
	if own, err := plain.ForRecipient(nil); err != nil || own != plain {
		t.Errorf("a schedule without an anchor needs no attributes: %v", err)
	}
}

func TestAnchorsThatAreRefused(t *testing.T) {
	t.Parallel()
	const hint = "write a period such as -P3D, P2W, -P1M, or -P3BD for business days"
	for want, anchor := range map[string]schedule.Anchor{
		"anchor.attribute: the attribute is empty; write the attribute that holds the date, such as renewalDate": {Time: "09:00"},
		`anchor.time: "9:00" is not a time of day; write hours and minutes, from 00:00 to 23:59, such as 09:00`:  {Attribute: "a", Time: "9:00"},
		`anchor.time: "24:00" is not a time of day; write hours and minutes, from 00:00 to 23:59, such as 09:00`: {Attribute: "a", Time: "24:00"},
		"anchor.offset: business days need a calendar; set calendarName, or write -P3D":                          {Attribute: "a", Time: "09:00", Offset: "-P3BD"},
		`anchor.offset: "P" is not a period; ` + hint:                                                            {Attribute: "a", Time: "09:00", Offset: "P"},
		`anchor.offset: character 2: "-3D" is not the next part of a period; ` + hint:                            {Attribute: "a", Time: "09:00", Offset: "P-3D"},
		`anchor.offset: character 3: an offset counts days, not hours; set the time of day in time; ` + hint:     {Attribute: "a", Time: "09:00", Offset: "-PT3H"},
		`anchor.offset: character 4: "1M" is not the next part of a period; ` + hint:                             {Attribute: "a", Time: "09:00", Offset: "P1D1M"},
		"anchor.offset: business days need a calendar; set calendarName, or write P0D":                           {Attribute: "a", Time: "09:00", Offset: "P0BD"},
		"anchor.offset: business days are counted alone; write the business days only, such as -P3BD":            {Attribute: "a", Time: "09:00", Offset: "P1M3BD"},
		`anchor.offset: character 2: 100Y is more than 99Y; ` + hint:                                             {Attribute: "a", Time: "09:00", Offset: "P100Y"},
		`anchor.offset: character 2: "1.5D" is not the next part of a period; ` + hint:                           {Attribute: "a", Time: "09:00", Offset: "P1.5D"},
	} {
		if got := refusal(t, schedule.Spec{Anchor: &anchor}).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestInReadsTheSameTimesByOtherClocks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec schedule.Spec
		zone string
		want string
	}{
		"cron":                      {schedule.Spec{Cron: "0 9 * * *", TimeZone: "Europe/Berlin"}, "Asia/Tokyo", "2026-12-01T00:00:00Z"},
		"no zone":                   {schedule.Spec{Cron: "0 9 * * *", TimeZone: "Europe/Berlin"}, "", "2026-11-30T08:00:00Z"},
		"a rule":                    {schedule.Spec{RRule: "FREQ=DAILY;BYHOUR=9"}, "America/New_York", "2026-11-30T14:00:00Z"},
		"a local time":              {schedule.Spec{At: "2026-12-01T09:00:00"}, "America/New_York", "2026-12-01T14:00:00Z"},
		"an instant":                {schedule.Spec{At: "2026-12-01T09:00:00Z"}, "America/New_York", "2026-12-01T09:00:00Z"},
		"a gap of its own":          {schedule.Spec{At: "2027-03-14T02:30:00", TimeZone: "Europe/Berlin"}, "America/New_York", "2027-03-14T07:30:00Z"},
		"a business day of its own": {schedule.Spec{At: "2026-12-05T09:00:00", Calendar: business(t, "")}, "Asia/Tokyo", "2026-12-07T00:00:00Z"},
	}
	for name, test := range tests {
		s, err := compile(t, test.spec).In(test.zone)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o, ok := s.Next(instant(t, "2026-11-30T00:00:00Z")); !ok || o.Due.Format(time.RFC3339) != test.want {
			t.Errorf("%s: %v, want %s", name, o.Due, test.want)
		}
	}
	if _, err := compile(t, schedule.Spec{Cron: "@daily"}).In("CEST"); err == nil {
		t.Error("an abbreviation is accepted as a recipient's zone")
	}
}
