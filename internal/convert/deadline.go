package convert

import (
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// longestDay is more than there ever is between a time of day and the next one:
// a day, and what the clocks are put back by.
const longestDay = 49 * time.Hour

// Deadlines says until when the reminders of a schedule may be submitted: for a
// length of time after the due time, or up to a time of day.
type Deadlines struct {
	after time.Duration
	at    *schedule.TimeOfDay // nil where after counts
}

// DeadlinesOf are those of spec.delivery.
func DeadlinesOf(obj *v1alpha1.ReminderSchedule) Deadlines {
	if d := obj.Spec.Delivery; d != nil && d.DeadlineTimeOfDay != "" {
		// The schema has checked the form; what passes it by has the default.
		if at, err := schedule.ParseTimeOfDay(d.DeadlineTimeOfDay); err == nil {
			return Deadlines{at: &at}
		}
	}
	return Deadlines{after: Deadline(obj)}
}

// ByClock tells whether a time of day says it.
func (d Deadlines) ByClock() bool { return d.at != nil }

// Of is the deadline of an occurrence of a series: the instant from which on
// nothing is submitted. It is whole seconds, and one at least, after the due time.
func (d Deadlines) Of(s *schedule.Schedule, due time.Time) time.Time {
	if d.at == nil {
		return due.Add(d.after)
	}
	if at, ok := s.NextTimeOfDay(due, *d.at); ok {
		return at
	}
	return due.Add(v1alpha1.DefaultDeadline) // at the end of time
}

// Bound is at least as long as the time from any due time to its deadline.
func (d Deadlines) Bound() time.Duration {
	if d.at == nil {
		return d.after
	}
	return longestDay
}

// watched is how many occurrences are looked at, and for how long ahead, for what
// is the longest time to a deadline: a year has each change of the clocks.
const (
	watched      = 2000
	watchedAhead = 366 * 24 * time.Hour
)

// Longest is the longest time from a due time to its deadline, among the
// occurrences that are ahead.
func (d Deadlines) Longest(obj *v1alpha1.ReminderSchedule, series []Series, now time.Time) time.Duration {
	if d.at == nil {
		return d.after
	}
	longest, seen := time.Duration(0), 0
	for i := range series {
		for o := range OccurrencesOf(obj, series[i]).Between(now, now.Add(watchedAhead)) {
			longest = max(longest, d.Of(series[i].Schedule, o.Due).Sub(o.Due))
			if seen++; seen == watched {
				return longest
			}
		}
	}
	return longest
}
