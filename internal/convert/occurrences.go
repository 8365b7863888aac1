package convert

import (
	"iter"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// Occurrences are those of a series as the identity of its schedule counts them: with BusinessDate the first of each date,
// else all.
type Occurrences struct {
	*schedule.Schedule

	byDate bool
}

// OccurrencesOf are the occurrences of a series of a schedule.
func OccurrencesOf(obj *v1alpha1.ReminderSchedule, s Series) Occurrences {
	return Occurrences{s.Schedule, obj.Spec.Identity == v1alpha1.IdentityBusinessDate}
}

// Counts tells whether an occurrence of the schedule is one of these.
func (s Occurrences) Counts(o schedule.Occurrence) bool { return !s.byDate || s.FirstOfDate(o) }

// Next is the first that is due strictly after a time.
func (s Occurrences) Next(after time.Time) (schedule.Occurrence, bool) {
	if s.byDate {
		return s.NextDate(after)
	}
	return s.Schedule.Next(after)
}

// Previous is the last that is due at a time or before it.
func (s Occurrences) Previous(before time.Time) (schedule.Occurrence, bool) {
	if s.byDate {
		return s.PreviousDate(before)
	}
	return s.Schedule.Previous(before)
}

// Count is how many fall due behind from and up to through.
func (s Occurrences) Count(from, through time.Time) int64 {
	if s.byDate {
		return int64(s.CountDates(from, through))
	}
	return int64(s.Schedule.Count(from, through))
}

// Between are those that fall due behind from and up to through, in order.
func (s Occurrences) Between(from, through time.Time) iter.Seq[schedule.Occurrence] {
	if !s.byDate {
		return s.Schedule.Between(from, through)
	}
	return func(yield func(schedule.Occurrence) bool) {
		o, ok := s.NextDate(from)
		for ok && !o.Due.After(through) && yield(o) {
			o, ok = s.NextDate(o.Due)
		}
	}
}
