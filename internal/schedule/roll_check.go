package schedule

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// setDays takes over the calendar.
func (s *Schedule) setDays(spec Spec) *FieldError {
	policy := orDefault(spec.OnNonBusinessDay, calendar.Next)
	switch policy {
	case calendar.Next, calendar.Previous, calendar.Skip, calendar.Keep:
	default:
		return unknownPolicy("onNonBusinessDay", string(policy), "Next, Previous, Skip or Keep")
	}
	switch {
	case spec.Calendar == nil && spec.OnNonBusinessDay != "":
		return whole("onNonBusinessDay", string(policy), "there is no calendar that knows the business days", "set calendarName")
	case spec.Calendar != nil && spec.Every != 0:
		return whole("calendarName", spec.Calendar.Name(), "every counts elapsed time, which no calendar moves", "use cron or rrule, or leave calendarName out")
	}
	s.days = dayPolicy{days: spec.Calendar, policy: policy}
	return nil
}

// checkSkip refuses a repeating schedule of which Skip leaves nothing in the years whose holidays are known.
func (s *Schedule) checkSkip() *FieldError {
	if s.days.days == nil || s.days.policy != calendar.Skip {
		return nil
	}
	series, ok := rolledOf(s.source)
	if !ok {
		return nil
	}
	first := max(wall(s.start), dateWall(calendar.FirstYear, time.January, 1)) - reach
	last := first + (calendar.LastYear-calendar.FirstYear+1)*366*wallDay
	named := false
	for w, ok := series.walls.next(first, last); ok; w, ok = series.walls.next(midnightOf(dateOf(w)+1), last) {
		if named = true; s.days.open(w) {
			return nil
		}
	}
	if !named {
		return nil // it has ended by itself
	}
	f := never(-1, "all its dates are on days that are no business days, and Skip drops them", "write Next, Previous or Keep, or other dates")
	return f.in("onNonBusinessDay", string(s.days.policy))
}
