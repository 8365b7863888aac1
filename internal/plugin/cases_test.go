package plugin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What people reported of other systems: the schedule, and what must come of it.
func TestNextShows(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fields, from string
		want         []string
		wantNote     string // of the first
	}{
		"a time in the gap an hour later (T1)": {
			`cron: "30 2 * * *", timeZone: America/New_York`, "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"}, "gap: shifted by 1h",
		},
		"a repeated time once (T3)": {
			`cron: "0 2 * * *", timeZone: Europe/Berlin`, "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z"}, "overlap: first pass",
		},
		"a repeated time twice if asked for (T3)": {
			`cron: "0 2 * * *", timeZone: Europe/Berlin, dst: {overlap: Both}`, "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"}, "overlap: first pass",
		},
		"an interval through the repeated hour (T6)": {
			`cron: "*/30 * * * *", timeZone: America/New_York`, "2026-11-01T04:45:00Z",
			[]string{"2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:00:00Z"}, "overlap: first pass",
		},
		"a midnight that does not exist (T7)": {
			`cron: "0 0 * * *", timeZone: America/Santiago`, "2026-09-05T12:00:00Z",
			[]string{"2026-09-06T04:00:00Z"}, "gap: shifted by 1h",
		},
		"half an hour of a gap (T8)": {
			`cron: "15 2 * * *", timeZone: Australia/Lord_Howe`, "2026-10-03T00:00:00Z",
			[]string{"2026-10-03T15:45:00Z"}, "gap: shifted by 30m",
		},
		"a leap day after eight years (T11)": {`cron: "0 0 29 2 *"`, "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}, ""},
		"days of the month or of the week (T18)": {
			`cron: "0 9 1 * 1"`, "2026-11-30T10:00:00Z",
			[]string{"2026-12-01T09:00:00Z", "2026-12-07T09:00:00Z", "2026-12-14T09:00:00Z", "2026-12-21T09:00:00Z"}, "",
		},
		"every second day if it is a Monday (T18)": {`cron: "0 9 */2 * 1"`, "2026-11-30T10:00:00Z", []string{"2026-12-07T09:00:00Z", "2026-12-21T09:00:00Z"}, ""},
		"7 as Sunday (T19)":                        {`cron: "0 9 * * 7"`, "2026-11-30T10:00:00Z", []string{"2026-12-06T09:00:00Z"}, ""},
		"L as the last day (T19)":                  {`cron: "0 9 L * *"`, "2026-11-30T10:00:00Z", []string{"2026-12-31T09:00:00Z", "2027-01-31T09:00:00Z"}, ""},
		"each 36 hours from the creation (T21)":    {`every: 36h`, "2026-11-30T10:00:00Z", []string{"2026-12-01T22:00:00Z", "2026-12-03T10:00:00Z"}, ""},
		"the last Friday of the month":             {`rrule: FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9, timeZone: Europe/Berlin`, "2026-11-30T10:00:00Z", []string{"2026-12-25T08:00:00Z"}, ""},
		"a single time":                            {`at: "2026-12-03T09:00:00", timeZone: Europe/Berlin`, "2026-11-30T10:00:00Z", []string{"2026-12-03T08:00:00Z"}, ""},
		"a single time, unquoted":                  {`at: 2026-12-03T09:00:00Z`, "2026-11-30T10:00:00Z", []string{"2026-12-03T09:00:00Z"}, ""},
		"nothing of a time that is past (M10)":     {`at: "2020-01-01T00:00:00"`, "2026-11-30T10:00:00Z", nil, ""},
		"nothing after the end":                    {`cron: "@daily", endTime: 2026-01-01T00:00:00Z`, "2026-11-30T10:00:00Z", nil, ""},
		"nothing that is due exactly at --from":    {`at: "2026-11-30T10:00:00"`, "2026-11-30T10:00:00Z", nil, ""},
		"what is due later than a local --from":    {`at: "2026-11-30T10:00:01"`, "2026-11-30T11:00:00+01:00", []string{"2026-11-30T10:00:01Z"}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, a := one(t, c.fields, "--from", c.from)
			if a.code != 0 || a.err != "" || got.Error != "" {
				t.Fatalf("%+v", a)
			}
			if diff := cmp.Diff(c.want, got.dues()[:min(len(got.Occurrences), len(c.want))]); diff != "" && len(c.want) > 0 {
				t.Error(diff)
			}
			if len(c.want) == 0 && (len(got.Occurrences) > 0 || !strings.Contains(strings.Join(got.Warnings, "\n"), "nothing is due after")) {
				t.Errorf("%+v", got)
			}
			if len(got.Occurrences) > 0 && got.Occurrences[0].Note != c.wantNote {
				t.Errorf("the note is %q", got.Occurrences[0].Note)
			}
		})
	}
}

func TestNextShowsOneOfEachDateByBusinessDate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		document string
		from     string
		want     []string
	}{
		"of every hour": {
			byDate(`cron: "0 9-12 * * *"`), "2026-11-30T10:00:00Z",
			[]string{"2026-12-01T09:00:00Z", "2026-12-02T09:00:00Z", "2026-12-03T09:00:00Z"},
		},
		"of both passes of a repeated hour": {
			byDate(`cron: "30 1 * * *", timeZone: America/New_York, dst: {overlap: Both}`), "2026-11-01T00:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z", "2026-11-03T06:30:00Z"},
		},
		"of every minute, by the recipients' clocks": {
			strings.Replace(byDate(`cron: "* * * * *", timeZoneFrom: Recipient`), "{id: acct_1,", "{id: acct_1, timeZone: Asia/Tokyo,", 1), "2026-11-30T10:00:00Z",
			[]string{"2026-11-30T15:00:00Z", "2026-12-01T15:00:00Z", "2026-12-02T15:00:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, a := previews(t, c.document, "--from", c.from, "--count", "3")
			if a.code != 0 || len(all) != 1 {
				t.Fatalf("%+v", a)
			}
			if diff := cmp.Diff(c.want, all[0].dues()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNextWarns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, want string }{
		"of a minute that was left standing (T20)":   {`cron: "* 0 * * *"`, "60 occurrences on each matching day, minute by minute"},
		"of two restricted day fields (T18)":         {`cron: "0 18 1-7,15-21 * TUE"`, "both day fields are restricted"},
		"of an old name of a zone (T15)":             {`cron: "@daily", timeZone: Asia/Calcutta`, "Asia/Calcutta is another name of Asia/Kolkata"},
		"of an abbreviation that is a zone (T15)":    {`cron: "@daily", timeZone: EST5EDT`, "EST5EDT is another name of America/New_York"},
		"of standard time all year":                  {`cron: "@daily", timeZone: EST`, "EST keeps standard time all year"},
		"of the other sign":                          {`cron: "@daily", timeZone: Etc/GMT+5`, "the opposite of the usual one"},
		"of a creation that it assumes (T21)":        {`every: 36h`, "assumes creation at 2026-11-30T10:00:00Z"},
		"of another spelling of UTC":                 {`cron: "@daily", timeZone: utc`, "utc is another name of UTC"},
		"of nothing that is due":                     {`at: "2020-01-01T00:00:00"`, "nothing is due after 2026-11-30T10:00:00Z"},
		"of nothing where there is nothing to warn:": {`cron: "0 9 * * *", timeZone: Europe/Berlin`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, a := one(t, c.fields)
			if a.code != 0 || got.Error != "" {
				t.Fatalf("%+v", a)
			}
			if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, c.want) || c.want == "" && all != "" {
				t.Errorf("it warns %q, want %q", all, c.want)
			}
		})
	}
}

// bad are time fields that are refused, with a part of what is said; next and lint agree on them.
var bad = map[string]struct{ fields, want string }{
	"nothing":                             {``, "spec.schedule: none of cron, rrule, at, every and anchor is set"},
	"an empty cron":                       {`cron: ""`, "spec.schedule"},
	"30 February (T12)":                   {`cron: "0 0 31 2 *"`, "spec.schedule.cron: character 5: this can never occur"},
	"31 in short months (T12)":            {`cron: "0 0 31 4,6,9,11 *"`, "this can never occur"},
	"a bare zone (T13)":                   {`cron: "TZ=Europe/Rome"`, "spec.schedule.cron: "},
	"an empty zone (T13)":                 {`cron: "TZ="`, "spec.schedule.cron: "},
	"zones of zones (T13)":                {`cron: "TZ=TZ=TZ="`, "spec.schedule.cron: "},
	"CRON_TZ (T13)":                       {`cron: "CRON_TZ=UTC"`, "spec.schedule.cron: "},
	"a zone in two places (T14)":          {`cron: "TZ=Asia/Kolkata 0 9 * * *", timeZone: Europe/Paris`, "timeZone"},
	"Factory (T15)":                       {`cron: "@daily", timeZone: Factory`, "spec.schedule.timeZone: "},
	"posixrules (T15)":                    {`cron: "@daily", timeZone: posixrules`, "spec.schedule.timeZone: "},
	"Local (T15)":                         {`cron: "@daily", timeZone: Local`, "spec.schedule.timeZone: "},
	"an empty timeZone (T15)":             {`cron: "@daily", timeZone: ""`, "spec.schedule.timeZone: "},
	"lower case (T15)":                    {`cron: "@daily", timeZone: asia/kolkata`, "did you mean Asia/Kolkata?"},
	"GMT+2 (T15)":                         {`cron: "@daily", timeZone: GMT+2`, "spec.schedule.timeZone: "},
	"CEST (T15)":                          {`cron: "@daily", timeZone: CEST`, "spec.schedule.timeZone: "},
	"an offset (T15)":                     {`cron: "@daily", timeZone: "UTC+02:00"`, "spec.schedule.timeZone: "},
	"a blank in front (T15)":              {`cron: "@daily", timeZone: " Europe/Berlin"`, "spec.schedule.timeZone: "},
	"a line break behind (T15)":           {`cron: "@daily", timeZone: "Europe/Berlin\n"`, "spec.schedule.timeZone: "},
	"NUL in a zone":                       {`cron: "@daily", timeZone: "Europe/Berlin\0"`, "spec.schedule.timeZone: "},
	"a zone that was dropped (T15)":       {`cron: "@daily", timeZone: US/Pacific-New`, "spec.schedule.timeZone: "},
	"a step without a range (T19)":        {`cron: "5/15 * * * *"`, "write 5-59/15"},
	"hour 24 (T19)":                       {`cron: "0 24 * * *"`, "spec.schedule.cron: "},
	"@reboot (T19)":                       {`cron: "@reboot"`, "spec.schedule.cron: "},
	"a range backwards (T19)":             {`cron: "0 9 * * 5-1"`, "write 5-6,0-1"},
	"six fields":                          {`cron: "* * * * * *"`, "spec.schedule.cron: "},
	"a step of 0":                         {`cron: "*/0 * * * *"`, "spec.schedule.cron: "},
	"an empty entry":                      {`cron: "1,2,,3 * * * *"`, "spec.schedule.cron: "},
	"every 0s (T22)":                      {`every: 0s`, "spec.schedule.every: "},
	"every -1h (T22)":                     {`every: -1h`, "spec.schedule.every: "},
	"every 500ms (T22)":                   {`every: 500ms`, "spec.schedule.every: "},
	"every 1ns (T22)":                     {`every: 1ns`, "spec.schedule.every: "},
	"every in days":                       {`every: 2d`, "spec.schedule.every: "},
	"every as a number":                   {`every: 3600`, "spec.schedule.every: "},
	"a rule by the minute":                {`rrule: FREQ=MINUTELY;BYSETPOS=366;BYMONTH=2`, "spec.schedule.rrule: "},
	"a rule by the second":                {`rrule: FREQ=SECONDLY;COUNT=100000000`, "spec.schedule.rrule: "},
	"two ways at once":                    {`cron: "@daily", every: 36h`, "set exactly one of cron, rrule, at, every and anchor"},
	"an end before the start":             {`cron: "@daily", startTime: 2026-02-01T00:00:00Z, endTime: 2026-01-01T00:00:00Z`, "spec.schedule.endTime: "},
	"a start that is no time":             {`cron: "@daily", startTime: tomorrow`, "spec.schedule.startTime: "},
	"at in 9999 (M10)":                    {`at: "9999-12-31T23:59:59Z"`, "the horizon of at is the years 1970 to 2100"},
	"at on a day that is none":            {`at: "2026-02-30T09:00:00"`, "spec.schedule.at: "},
	"jitter above the deadline":           {`cron: "@daily", jitter: 5h`, "spec.schedule.jitter: jitter must not be longer than delivery.deadline"},
	"dayMatch without cron":               {`every: 36h, dayMatch: All`, "spec.schedule.dayMatch: dayMatch goes with cron only"},
	"a policy that there is not":          {`cron: "@daily", dst: {gap: Shfit}`, `spec.schedule.dst.gap: unknown policy "Shfit"`},
	"a roll without a calendar":           {`cron: "@daily", onNonBusinessDay: Next`, "spec.schedule.onNonBusinessDay: "},
	"a calendar that is not there":        {`cron: "@daily", calendarName: de`, "spec.schedule.calendarName: the documents have no BusinessCalendar de; add it to the file"},
	"a field in other letters":            {`cron: "@daily", timezone: Europe/Berlin`, "spec.schedule.timezone: there is no such field"},
	"recipients' zones with every":        {`every: 36h, timeZoneFrom: Recipient`, "spec.schedule.timeZoneFrom: "},
	"64 KiB of cron":                      {`cron: "` + strings.Repeat("1,", 32<<10) + `"`, "spec.schedule.cron: "},
	"an offset of an anchor that is none": {`anchor: {attribute: a, offset: three days, time: "09:00"}`, "spec.schedule.anchor.offset: "},
}

func TestNextAndLintRefuse(t *testing.T) {
	t.Parallel()
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, a := one(t, c.fields)
			if a.code != 1 || !strings.Contains(got.Error, c.want) || len(got.Occurrences) > 0 || a.err != "" {
				t.Errorf("next says %+v, want %q", a, c.want)
			}
			a = run(schedule("renewal", c.fields), "lint", "-f", "-")
			if a.code != 1 || !strings.Contains(a.out, "stdin: ReminderSchedule/renewal: error: ") || !strings.Contains(a.out, c.want) {
				t.Errorf("lint says %+v, want %q", a, c.want)
			}
			if len(a.out) > 4000 {
				t.Errorf("lint says %d bytes", len(a.out))
			}
		})
	}
}

// T24, with the calendar in the same input: holidays move on and on.
func TestNextRollsOverHolidays(t *testing.T) {
	t.Parallel()
	const gb = "---\napiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: gb}\nspec: {country: GB"
	fields := `cron: "0 9 1 * *", timeZone: Europe/London, calendarName: gb`
	for name, c := range map[string]struct{ fields, calendar, want, wantNote string }{
		"to the Monday":       {fields, gb + "}\n", "2027-01-04T09:00:00Z", "holiday New Year's Day: moved to the next business day"},
		"to the Tuesday":      {fields, gb + `, holidays: [{date: "2027-01-04"}]}` + "\n", "2027-01-05T09:00:00Z", "holiday New Year's Day: moved to the next business day"},
		"back":                {fields + ", onNonBusinessDay: Previous", gb + "}\n", "2026-12-31T09:00:00Z", "holiday New Year's Day: moved to the previous business day"},
		"to the next date":    {fields + ", onNonBusinessDay: Skip", gb + "}\n", "2027-02-01T09:00:00Z", ""},
		"and says what stays": {fields + ", onNonBusinessDay: Keep", gb + "}\n", "2027-01-01T09:00:00Z", "holiday New Year's Day: kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, a := previews(t, schedule("rent", c.fields)+c.calendar, "--from", "2026-12-30T00:00:00Z", "--count", "1")
			if a.code != 0 || len(all) != 1 || len(all[0].Occurrences) != 1 {
				t.Fatalf("%+v", a)
			}
			if o := all[0].Occurrences[0]; o.Due != c.want || o.Note != c.wantNote {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A deadline by the clock is shown, in the zone of each recipient, over the change of
// the clocks too.
func TestNextShowsDeadlinesByTheClock(t *testing.T) {
	t.Parallel()
	byClock := strings.Replace(schedule("a", `cron: "0 9 * * *", timeZone: Europe/Berlin`), "{body: Hello}", "{body: Hello}\n  delivery: {deadlineTimeOfDay: '02:30'}", 1)
	all, _ := previews(t, byClock, "--from", "2027-03-27T00:00:00Z", "--count", "2")
	if len(all) != 1 || len(all[0].Occurrences) != 2 || all[0].Occurrences[0].Deadline != "2027-03-28T01:30:00Z" || all[0].Occurrences[1].Deadline != "2027-03-29T00:30:00Z" {
		t.Errorf("got %+v", all)
	}
	if got, _ := one(t, `cron: "0 9 * * *"`); got.Occurrences[0].Deadline != "" {
		t.Errorf("shows the deadline %s of a length of time", got.Occurrences[0].Deadline)
	}
}
