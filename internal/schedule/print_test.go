package schedule_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func TestTheCanonicalForm(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec schedule.Spec
		want string
	}{
		"a macro":                               {schedule.Spec{Cron: "@weekly"}, "0 0 * * 0"},
		"names, zeros and blanks":               {schedule.Spec{Cron: " 00  09 * JAN-MAR  MON-FRI"}, "0 9 * 1-3 1-5"},
		"Sunday as 7":                           {schedule.Spec{Cron: "0 9 * * 5-7"}, "0 9 * * 0,5-6"},
		"a list that is a step":                 {schedule.Spec{Cron: "0,15,30,45 8,10,12 * * *"}, "*/15 8-12/2 * * *"},
		"every hour, named":                     {schedule.Spec{Cron: "0 0-23 * * *"}, "0 0-23 * * *"},
		"every hour, counted":                   {schedule.Spec{Cron: "0 */1 * * *"}, "0 * * * *"},
		"hours counted and named":               {schedule.Spec{Cron: "0 */8,9 * * *"}, "0 */8,9 * * *"},
		"midnight":                              {schedule.Spec{Cron: "0 */24 * * *"}, "0 0 * * *"},
		"either day field":                      {schedule.Spec{Cron: "0 9 1-31 * 1"}, "0 9 1-31 * 1"},
		"both day fields":                       {schedule.Spec{Cron: "0 9 */2 * 1"}, "0 9 */2 * 1"},
		"both day fields, by the day":           {schedule.Spec{Cron: "0 9 5 * */3"}, "0 9 5 * */3"},
		"both day fields, by policy":            {schedule.Spec{Cron: "0 9 1,8 * 1", DayMatch: schedule.DayMatchAll}, "0 9 1,8 * 1"},
		"what only days know":                   {schedule.Spec{Cron: "0 9 LW,1,l * fril,MON#2,7#1"}, "0 9 1,L,LW * 0#1,1#2,5L"},
		"a rule":                                {schedule.Spec{RRule: "BYDAY=FR,+1MO,FR;BYSETPOS=2,-1,2;FREQ=MONTHLY;WKST=MO;INTERVAL=1"}, "FREQ=MONTHLY;BYDAY=FR,1MO;BYSETPOS=-1,2"},
		"a rule until a day":                    {schedule.Spec{RRule: "FREQ=DAILY;UNTIL=20271231T235959;BYHOUR=9,08"}, "FREQ=DAILY;UNTIL=20271231;BYHOUR=8,9"},
		"a local time":                          {schedule.Spec{At: "2026-11-03T09:00:00"}, "2026-11-03T09:00:00"},
		"a time with an offset":                 {schedule.Spec{At: "2026-11-03T09:00:00+05:30"}, "2026-11-03T09:00:00+05:30"},
		"a time with the offset of UTC":         {schedule.Spec{At: "2026-11-03T09:00:00+00:00"}, "2026-11-03T09:00:00Z"},
		"an interval":                           {schedule.Spec{Every: 90 * time.Minute, Origin: fuzzFrom}, "1h30m"},
		"a date of each recipient has none":     {schedule.Spec{Anchor: &schedule.Anchor{Attribute: "date", Time: "09:00"}}, ""},
		"a weekly rule without a day":           {schedule.Spec{RRule: "FREQ=WEEKLY", Start: fuzzFrom}, "FREQ=WEEKLY"},
		"a rule that counts from the month end": {schedule.Spec{RRule: "FREQ=YEARLY;BYMONTH=2,1;BYMONTHDAY=-1,15;WKST=SU"}, "FREQ=YEARLY;BYMONTH=1,2;BYMONTHDAY=15,-1;WKST=SU"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := compile(t, test.spec).Expression(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// checkExpression wants the canonical form to stand for the same schedule, and to be its own canonical form.
func checkExpression(t failer, spec schedule.Spec, s *schedule.Schedule, from time.Time) {
	t.Helper()
	text := s.Expression()
	switch {
	case spec.Cron != "":
		spec.Cron = text
	case spec.RRule != "":
		spec.RRule = text
	case spec.At != "":
		spec.At = text
	case spec.Every != 0:
		every, err := time.ParseDuration(text)
		if err != nil || every != spec.Every {
			t.Fatalf("%s is printed %s", spec.Every, text)
		}
	}
	again, err := schedule.Compile(spec)
	if err != nil || again.Expression() != text || !slices.Equal(again.Warnings(), s.Warnings()) {
		t.Fatalf("%+v: %v", spec, err)
	}
	if got, want := collect(again, from, 20), collect(s, from, 20); !slices.Equal(got, want) {
		t.Fatalf("%+v:\n got %v\nwant %v", spec, got, want)
	}
}

// failer is a test or a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func TestTheCanonicalFormIsTheSameSchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		checkExpression(t, spec, s, drawInstant(t, s.Location(), "from"))
	})
}

func TestTheCanonicalFormOfARuleIsTheSameSchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s, from := drawBusiness(t)
		checkExpression(t, spec, s, from)
	})
}

func TestTimesOfDayPrintWhatTheyAreReadFrom(t *testing.T) {
	t.Parallel()
	for minute := range 24 * 60 {
		text := schedule.Wall(2026, 1, 1, 0, minute, 0).String()[len("2026-01-01T"):][:len("00:00")]
		if got, err := schedule.ParseTimeOfDay(text); err != nil || got.String() != text {
			t.Errorf("%s is read as %s, %v", text, got, err)
		}
	}
}
