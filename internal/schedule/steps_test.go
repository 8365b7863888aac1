package schedule

import (
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// counted counts how often a series is asked, and how many wall times it yields.
type counted struct {
	walls
	steps *int
}

func (c counted) next(from, upTo wall) (wall, bool) {
	*c.steps++
	return c.walls.next(from, upTo)
}

func (c counted) previous(from, upTo wall) (wall, bool) {
	*c.steps++
	return c.walls.previous(from, upTo)
}

func (c counted) count(from, upTo wall) int {
	*c.steps++
	return c.walls.count(from, upTo)
}

func (c counted) each(from, upTo wall, yield func([]wall) bool) bool {
	*c.steps++
	return c.walls.each(from, upTo, func(all []wall) bool {
		*c.steps += len(all)
		return yield(all)
	})
}

// stepsOf counts the steps of what is asked of a schedule.
func stepsOf(t *testing.T, spec Spec) (*Schedule, *int) {
	t.Helper()
	s, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := s.source.(*resolver)
	if !ok {
		t.Fatalf("%T", s.source)
	}
	steps := new(int)
	if days, ok := r.walls.(*rolled); ok {
		days.walls = counted{days.walls, steps}
	} else {
		r.walls = counted{r.walls, steps}
	}
	return s, steps
}

// shut has some years with one business day, of which the others end early, one minute earlier each: what rolls as far as can be.
func shut(t *testing.T) *calendar.Calendar {
	t.Helper()
	var spec calendar.Spec
	first := calendar.NewDate(2026, time.January, 1)
	for d := range calendar.Date(1000) {
		switch {
		case d%366 == 0:
		case d < 366:
			spec.EarlyCloses = append(spec.EarlyCloses, calendar.EarlyClose{Date: first + d, Minute: 1 + int(d)})
		default:
			spec.Holidays = append(spec.Holidays, calendar.Holiday{Date: first + d})
		}
	}
	c, err := calendar.Of("shut", spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// However sparse or dense a schedule and however far it is moved, an answer takes a bounded number of steps: not by the clock,
// which a busy machine slows down.
func TestAnAnswerTakesABoundedNumberOfSteps(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)
	for name, spec := range map[string]Spec{
		"the rarest day":         {Cron: "0 0 29 2 FRI#5", DayMatch: DayMatchAll, TimeZone: "Africa/Casablanca", Gap: GapSkip},
		"minutes":                {Cron: "* * * * *", TimeZone: "Asia/Gaza"},
		"minutes, moved on":      {Cron: "* * * * *", TimeZone: "Asia/Gaza", Calendar: shut(t)},
		"minutes, moved back":    {Cron: "* * * * *", TimeZone: "Asia/Gaza", Calendar: shut(t), OnNonBusinessDay: calendar.Previous},
		"a day, moved on":        {Cron: "0 0 29 2 MON", DayMatch: DayMatchAll, Calendar: shut(t)},
		"a day, moved back":      {Cron: "0 0 29 2 MON", DayMatch: DayMatchAll, Calendar: shut(t), OnNonBusinessDay: calendar.Previous},
		"a day, left out":        {Cron: "0 0 29 2 MON", DayMatch: DayMatchAll, Calendar: shut(t), OnNonBusinessDay: calendar.Skip},
		"a choice, moved on":     {RRule: "FREQ=YEARLY;BYDAY=MO,TU;BYHOUR=1,2,3,4,5,6,7,8;BYSETPOS=1,100,200,-1", Start: now, Calendar: shut(t)},
		"a choice, moved back":   {RRule: "FREQ=YEARLY;BYDAY=MO,TU;BYHOUR=1,2,3,4,5,6,7,8;BYSETPOS=1,100,200,-1", Start: now, Calendar: shut(t), OnNonBusinessDay: calendar.Previous},
		"a count, moved on":      {RRule: "FREQ=DAILY;COUNT=10000", Start: now, TimeZone: "Asia/Gaza", Calendar: shut(t)},
		"the end of an interval": {RRule: "FREQ=MONTHLY;INTERVAL=10000;BYMONTHDAY=31", Start: now, Calendar: shut(t)},
	} {
		s, steps := stepsOf(t, spec)
		for _, at := range []time.Time{{}, now, now.AddDate(1, 1, 1), now.AddDate(2, 10, 0), now.AddDate(5000, 0, 0), now.AddDate(8000, 0, 0)} {
			for what, ask := range map[string]struct {
				most int
				do   func()
			}{
				"Next":         {15_000, func() { s.Next(at) }},
				"Previous":     {15_000, func() { s.Previous(at) }},
				"10 years":     {40_000, func() { s.Count(at, at.AddDate(10, 0, 0)) }},
				"the dates":    {40_000, func() { s.CountDates(at, at.AddDate(10, 0, 0)) }},
				"NextDate":     {15_000, func() { s.NextDate(at) }},
				"PreviousDate": {15_000, func() { s.PreviousDate(at) }},
			} {
				*steps = 0
				ask.do()
				if *steps > ask.most {
					t.Errorf("%s: %s at %s took %d steps", name, what, at.Format(time.DateOnly), *steps)
				}
			}
		}
	}
}
