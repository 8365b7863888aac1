package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func TestExpressionsThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cron string
		want string // the whole message after "cron: "
	}{
		"T12: a day that February does not have": {
			cron: "0 0 31 2 *",
			want: "character 5: this can never occur: February has at most 29 days; write a date that exists",
		},
		"T12: a day that none of the months has": {
			cron: "0 0 31 4,6,9,11 *",
			want: "character 5: this can never occur: the months have at most 30 days; write a date that exists",
		},
		"T13: a bare zone prefix": {
			cron: "TZ=Europe/Rome",
			want: "character 1: an expression has no time zone; leave it out and set timeZone: Europe/Rome",
		},
		"T13: an empty zone prefix": {
			cron: "TZ=",
			want: "character 1: an expression has no time zone; leave it out and set timeZone",
		},
		"T13: zone prefixes in a row": {
			cron: "TZ=TZ=TZ=",
			want: "character 1: an expression has no time zone; leave it out and set timeZone",
		},
		"T13: zone prefixes before a zone": {
			cron: "TZ=CRON_TZ=Europe/Rome 0 9 * * *",
			want: "character 1: an expression has no time zone; leave it out and set timeZone: Europe/Rome",
		},
		"T13: the long zone prefix": {
			cron: "CRON_TZ=UTC",
			want: "character 1: an expression has no time zone; leave it out and set timeZone: UTC",
		},
		"T14: a zone prefix before an expression": {
			cron: "TZ=Asia/Kolkata 0 9 * * *",
			want: "character 1: an expression has no time zone; leave it out and set timeZone: Asia/Kolkata",
		},
		"T19: a value with a step and no range": {
			cron: "5/15 * * * *",
			want: `character 1: "5/15" has a step but no range; write 5-59/15 to count on from 5`,
		},
		"T19: hour 24": {
			cron: "0 24 * * *",
			want: "character 3: 24 is not a valid hour; write 0 for midnight",
		},
		"T19: minute 60": {
			cron: "60 * * * *",
			want: "character 1: 60 is not a valid minute; write 0 for the full hour",
		},
		"T19: @reboot": {
			cron: "@reboot",
			want: "character 1: @reboot is not a time; set at for a single time",
		},
		"T19: @every": {
			cron: "@every 5m",
			want: "character 1: @every is not a macro here; set every instead of cron, such as every: 36h",
		},
		"T19: a question mark": {
			cron: "0 9 ? * MON",
			want: "character 5: ? is of another dialect; write *",
		},
		"T19: a backward range of days": {
			cron: "0 9 * * 5-1",
			want: "character 9: the range 5-1 ends before it begins; write 5-6,0-1",
		},
		"T19: a backward range of names": {
			cron: "0 9 * * FRI-MON",
			want: "character 9: the range FRI-MON ends before it begins; write FRI-SAT,SUN-MON",
		},
		"T19: a backward range of hours": {
			cron: "0 22-4 * * *",
			want: "character 3: the range 22-4 ends before it begins; write 22-23,0-4",
		},
		"T19: a hash of Jenkins": {
			cron: "H * * * *",
			want: "character 1: H is of another dialect; write a value, and set jitter to spread the load",
		},
		"T19: a random range of OpenBSD": {
			cron: "0~59 * * * *",
			want: "character 1: ~ is of another dialect; write a value, and set jitter to spread the load",
		},
		"six fields": {
			cron: "* * * * * *",
			want: `character 11: 6 fields, and five are needed; there is no field for seconds or years: leave it out; ` + example,
		},
		"seven fields": {cron: "0 0 9 * * * 2026", want: "character 11: 7 fields, and five are needed; " + example},
		"four fields": {
			cron: "0 9 * *",
			want: "character 8: 4 of five fields: the day of the week is missing; " + example,
		},
		"a single word": {
			cron: "daily",
			want: "character 6: 1 of five fields: the hour is missing; " + example,
		},
		"blanks only": {cron: " \t ", want: "the expression is blank; " + example},
		"a line break": {
			cron: "0 9 * * *\n",
			want: "character 10: a character that no field has (code 0x0a); use plain letters, digits and blanks on one line",
		},
		"a digit of another script": {
			cron: "0 ٩ * * *",
			want: "character 3: a character that no field has (code 0xd9); use plain letters, digits and blanks on one line",
		},
		"64 KiB": {
			cron: strings.Repeat("1,", 32<<10),
			want: "the expression has 65536 characters, 256 are allowed; " + example,
		},
		"a step of nothing": {
			cron: "*/0 * * * *",
			want: "character 3: a step of 0 never moves on; write 1 or more, or leave the step out",
		},
		"a step that is longer than an hour": {
			cron: "*/90 * * * *",
			want: "character 3: a step of 90 leaves the range 0 to 59 at once, it does not carry over into the next; " +
				"write 0 for that value alone, or use every for a longer interval",
		},
		"a step that is a word":  {cron: "*/x * * * *", want: `character 3: "x" is not a step; write a number, such as */5`},
		"a step that is missing": {cron: "*/ * * * *", want: `character 3: "" is not a step; write a number, such as */5`},
		"two steps":              {cron: "*/2/3 * * * *", want: `character 3: "2/3" is not a step; write a number, such as */5`},
		"an empty element": {
			cron: "1,2,,3 * * * *",
			want: "character 5: the minute has an empty element; write a value, or remove the comma",
		},
		"a comma at the end": {
			cron: "0 9, * * *",
			want: "character 5: the hour has an empty element; write a value, or remove the comma",
		},
		"a day 0":               {cron: "0 9 0 * *", want: "character 5: 0 is not a valid day of the month; write 1 to 31"},
		"a month 13":            {cron: "0 9 1 13 *", want: "character 7: 13 is not a valid month; write 1 to 12"},
		"a weekday 8":           {cron: "0 9 * * 8", want: "character 9: 8 is not a valid day of the week; write 0 to 7"},
		"a number out of sight": {cron: "99999999999 * * * *", want: `character 1: "99999999999" is not a valid minute; write 0 to 59`},
		"a negative number":     {cron: "-5 * * * *", want: "character 1: a value of the minute is missing; write 0 to 59"},
		"a range without end":   {cron: "0 9- * * *", want: "character 5: a value of the hour is missing; write 0 to 23"},
		"a full name": {
			cron: "0 9 * * MON,TUESDAY",
			want: `character 13: "TUESDAY" is not a valid day of the week; write TUE`,
		},
		"an unknown name": {
			cron: "0 9 * MAI *",
			want: `character 7: "MAI" is not a valid month; write 1 to 12, or JAN to DEC`,
		},
		"a name where there are none": {cron: "MON 9 * * *", want: `character 1: "MON" is not a valid minute; write 0 to 59`},
		"days before the last": {
			cron: "0 9 L-3 * *",
			want: "character 5: days counted from the end of the month are not supported; " +
				"write L for the last day, LW for the last working day, or a list of days",
		},
		"the nearest working day": {
			cron: "0 9 15W * *",
			want: "character 5: the working day nearest to a date is not supported; " +
				"write LW for the last one of the month, or use a calendar with onNonBusinessDay",
		},
		"L as a day of the week": {
			cron: "0 9 * * L",
			want: "character 9: L alone is not a day of the week; write SAT for Saturday, or SATL for the last Saturday of the month",
		},
		"L as an hour": {cron: "0 L * * *", want: `character 3: "L" is not a valid hour; write 0 to 23`},
		"a sixth Monday": {
			cron: "0 9 * * MON#6",
			want: `character 13: "6" does not count a day of the month's weeks; write 1 to 5, or MONL for the last of the month`,
		},
		"# as a day of the month": {cron: "0 9 1#2 * *", want: `character 5: "1#2" is not a valid day of the month; write 1 to 31`},
		"an unknown macro": {
			cron: "@fortnightly",
			want: `character 1: there is no macro "@fortnightly"; write @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually`,
		},
		"something after a macro": {
			cron: "@daily 5",
			want: "character 8: nothing may follow @daily; write the macro alone",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := refusal(t, schedule.Spec{Cron: test.cron})
			if got.NeverOccurs != strings.Contains(test.want, "can never occur") {
				t.Errorf("NeverOccurs = %v", got.NeverOccurs)
			}
			if got.Error() != "cron: "+test.want {
				t.Errorf("Compile(%.80q):\n got %s\nwant cron: %s", test.cron, got, test.want)
			}
		})
	}
}

const example = `write five fields, minute hour day-of-month month day-of-week, such as "0 9 * * MON-FRI"`

func TestDaysThatCanNeverMatchBothFieldsAreRefused(t *testing.T) {
	t.Parallel()
	got := refusal(t, schedule.Spec{Cron: "0 9 LW * SAT", DayMatch: schedule.DayMatchAll})
	if want := "cron: character 5: this can never occur: no day matches both day fields; write a date that exists"; got.Error() != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSpecsThatAreRefused(t *testing.T) {
	t.Parallel()
	origin := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		spec schedule.Spec
		want string
	}{
		"nothing": {want: "none of cron, rrule, at, every and anchor is set; set exactly one of them"},
		"two kinds": {
			spec: schedule.Spec{Cron: "@daily", Every: time.Hour},
			want: "cron and every are both set; set exactly one of cron, rrule, at, every and anchor",
		},
		"three kinds": {
			spec: schedule.Spec{Cron: "@daily", At: "2026-11-03T09:00:00", Every: time.Hour},
			want: "cron and at are both set; set exactly one of cron, rrule, at, every and anchor",
		},
		"T14: a zone in two places": {
			spec: schedule.Spec{Cron: "TZ=Asia/Kolkata 0 9 * * *", TimeZone: "Europe/Paris"},
			want: "cron: character 1: an expression has no time zone; leave it out and set timeZone: Asia/Kolkata",
		},
		"T22: every 0s is none": {
			spec: schedule.Spec{Every: 0, Origin: origin},
			want: "none of cron, rrule, at, every and anchor is set; set exactly one of them",
		},
		"T22: every 500ms": {
			spec: schedule.Spec{Every: 500 * time.Millisecond, Origin: origin},
			want: "every: an interval of 500ms is too short; write 10s or more, such as 36h",
		},
		"T22: every -1h": {
			spec: schedule.Spec{Every: -time.Hour, Origin: origin},
			want: "every: an interval of -1h is too short; write 10s or more, such as 36h",
		},
		"T22: every 1ns": {
			spec: schedule.Spec{Every: 1, Origin: origin},
			want: "every: an interval of 1ns is too short; write 10s or more, such as 36h",
		},
		"every 1.5s": {
			spec: schedule.Spec{Every: 1500 * time.Millisecond, Origin: origin},
			want: "every: an interval counts whole seconds; write 10s",
		},
		"every 100 years": {
			spec: schedule.Spec{Every: 876000 * time.Hour, Origin: origin},
			want: "every: an interval of 876000h is longer than ten years (87600h); use at for a single time",
		},
		"every without an origin": {
			spec: schedule.Spec{Every: time.Hour},
			want: "every: an interval needs an origin, and there is none; set startTime",
		},
		"an end that is not after the start": {
			spec: schedule.Spec{Cron: "@daily", Start: origin, End: origin},
			want: "endTime: endTime is not after startTime, so nothing can occur; write a time after 2026-11-30T10:00:00Z",
		},
		"an unknown dayMatch": {
			spec: schedule.Spec{Cron: "@daily", DayMatch: "Both"},
			want: `dayMatch: unknown policy "Both"; write Any or All`,
		},
		"an unknown gap policy": {
			spec: schedule.Spec{Cron: "@daily", Gap: "shift"},
			want: `dst.gap: unknown policy "shift"; write Shift, FirstValid or Skip`,
		},
		"an unknown overlap policy": {
			spec: schedule.Spec{Cron: "@daily", Overlap: "None"},
			want: `dst.overlap: unknown policy "None"; write First, Last or Both`,
		},
		"T15: an unknown zone": {
			spec: schedule.Spec{Cron: "@daily", TimeZone: "europe/berlin"},
			want: `timeZone: there is no zone "europe/berlin" in the tz database ` + schedule.TZDataVersion() + `; did you mean Europe/Berlin?`,
		},
		"at a date that does not exist": {
			spec: schedule.Spec{At: "2026-02-30T09:00:00"},
			want: `at: "2026-02-30T09:00:00" is not a time: day out of range; ` + atHint,
		},
		"at a date alone": {
			spec: schedule.Spec{At: "2026-11-03"},
			want: `at: "2026-11-03" is not a time: the time of day is missing; ` + atHint,
		},
		"at a time without seconds": {
			spec: schedule.Spec{At: "2026-11-03T09:00"},
			want: `at: "2026-11-03T09:00" is not a time: the seconds are missing; ` + atHint,
		},
		"at a fraction": {
			spec: schedule.Spec{At: "2026-11-03T09:00:00.5Z"},
			want: `at: character 20: a time counts whole seconds; ` + atHint,
		},
		"at a time with a blank": {
			spec: schedule.Spec{At: "2026-11-03 09:00:00"},
			want: `at: "2026-11-03 09:00:00" is not a time: it does not have the form; ` + atHint,
		},
		"at a leap second": {
			spec: schedule.Spec{At: "2026-12-31T23:59:60Z"},
			want: `at: "2026-12-31T23:59:60Z" is not a time: second out of range; ` + atHint,
		},
		"at a time of Unix's past": {
			spec: schedule.Spec{At: "1969-12-31T23:59:59"},
			want: `at: character 1: times begin with the year 1970; ` + atHint,
		},
		"at a year of five digits": {
			spec: schedule.Spec{At: "10000-01-01T00:00:00Z"},
			want: `at: "10000-01-01T00:00:00Z" is not a time: it does not have the form; ` + atHint,
		},
		"at a local time that is past the last instant": {
			spec: schedule.Spec{At: "9999-12-31T23:59:59", TimeZone: "America/New_York"},
			want: "at: this is outside the years 1 to 9999 in UTC; write an earlier time",
		},
		"at something long": {
			spec: schedule.Spec{At: strings.Repeat("2", 64<<10)},
			want: "at: this is too long for a time; " + atHint,
		},
		"at a time that policy drops": {
			spec: schedule.Spec{At: "2026-03-08T02:30:00", TimeZone: "America/New_York", Gap: schedule.GapSkip},
			want: "at: this can never occur: the clocks of America/New_York skip it, and dst.gap Skip drops it; " +
				"write another time or another policy",
		},
		"at the end": {
			spec: schedule.Spec{At: "2026-11-30T10:00:00", End: origin},
			want: "at: this can never occur: it is not before endTime; move one of the two",
		},
		"at a time before the start": {
			spec: schedule.Spec{At: "2026-11-30T09:59:59", Start: origin},
			want: "at: this can never occur: it is before startTime; move one of the two",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := refusal(t, test.spec); got.Error() != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

const atHint = "write a local time such as 2026-11-03T09:00:00, or one with an offset such as 2026-11-03T09:00:00+01:00"

func TestARefusalPointsAtTheCharacter(t *testing.T) {
	t.Parallel()
	got := refusal(t, schedule.Spec{Cron: "0 24 * * *"})
	if want := "0 24 * * *\n  ^"; got.Caret() != want {
		t.Errorf("Caret() = %q, want %q", got.Caret(), want)
	}
	if got.Field != "cron" || got.Pos != 2 || got.Value != "0 24 * * *" {
		t.Errorf("got field %q, position %d, value %q", got.Field, got.Pos, got.Value)
	}
}

func TestARefusalRepeatsLittleOfTheValue(t *testing.T) {
	t.Parallel()
	got := refusal(t, schedule.Spec{At: strings.Repeat("\n\x00\xff", 1000)})
	if len(got.Value) > 300 || strings.ContainsAny(got.Value, "\n\x00") {
		t.Errorf("Value = %q", got.Value)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	bothDays := "both day fields are restricted: a day that matches either is taken, as crontab(5) has it; " +
		"for days that match both set dayMatch: All"
	tests := map[string]struct {
		spec schedule.Spec
		want string
	}{
		"T20: a minute that was left standing": {
			spec: schedule.Spec{Cron: "* 0 * * *"},
			want: "60 occurrences on each matching day, minute by minute: for one an hour write 0 in the minute field",
		},
		"T20: every minute of every second hour": {
			spec: schedule.Spec{Cron: "* */2 * * *"},
			want: "720 occurrences on each matching day, minute by minute: for one an hour write 0 in the minute field",
		},
		"T20: every minute of a day":     {spec: schedule.Spec{Cron: "* * 1 * *"}, want: "1440 occurrences on each matching day, minute by minute: for one an hour write 0 in the minute field"},
		"T20: every minute but one":      {spec: schedule.Spec{Cron: "0-58 9 * * *"}, want: "59 occurrences on each matching day, within the hour 9: for one an hour write 0 in the minute field"},
		"T20: every second minute":       {spec: schedule.Spec{Cron: "*/2 9 * * *"}, want: "30 occurrences on each matching day, within the hour 9: for one an hour write 0 in the minute field"},
		"T20: hours in a row":            {spec: schedule.Spec{Cron: "*/15 9-17 * * *"}, want: "36 occurrences on each matching day, within the hours 9 to 17: for one an hour write 0 in the minute field"},
		"T20: hours apart":               {spec: schedule.Spec{Cron: "*/4 9,17 * * *"}, want: "30 occurrences on each matching day, within the 2 hours that are named: for one an hour write 0 in the minute field"},
		"two an hour through the day":    {spec: schedule.Spec{Cron: "*/30 8-19 * * *"}},
		"every five minutes are meant":   {spec: schedule.Spec{Cron: "*/5 * * * *"}},
		"and all hours written out":      {spec: schedule.Spec{Cron: "*/5 0-23 * * *"}},
		"every minute is meant":          {spec: schedule.Spec{Cron: "* * * * *"}},
		"every quarter of one hour":      {spec: schedule.Spec{Cron: "*/15 9 * * *"}},
		"T18: both day fields":           {spec: schedule.Spec{Cron: "0 9 1 * 1"}, want: bothDays},
		"T18: both day fields with L":    {spec: schedule.Spec{Cron: "0 9 L * FRIL"}, want: bothDays},
		"T18: both day fields, and said": {spec: schedule.Spec{Cron: "0 9 1 * 1", DayMatch: schedule.DayMatchAll}},
		"T18: one of them is a step":     {spec: schedule.Spec{Cron: "0 9 */2 * 1"}},
		"T15: an abbreviation that is a name": {
			spec: schedule.Spec{Cron: "0 9 * * *", TimeZone: "EST"},
			want: "EST keeps standard time all year (it is America/Panama): for clocks that change write America/New_York",
		},
		"T15: an offset the other way round": {
			spec: schedule.Spec{Cron: "0 9 * * *", TimeZone: "Etc/GMT+5"},
			want: "Etc/GMT+5 is UTC-5: the sign in these names is the opposite of the usual one",
		},
		"bounds between two occurrences": {
			spec: schedule.Spec{
				Cron:  "0 9 * * *",
				Start: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), End: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC),
			},
			want: "nothing occurs between startTime and endTime",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(compile(t, test.spec).Warnings(), "|"); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
