package schedule

import (
	"errors"
	"slices"

	"github.com/reminder-operator/reminder-operator/internal/schedule/rrule"
)

// recurrence is the series of a recurrence rule.
type recurrence struct{ rule *rrule.Rule }

func (r recurrence) next(from, upTo wall) (wall, bool) {
	w, ok := r.rule.NextIn(int64(from), int64(upTo))
	return wall(w), ok
}

func (r recurrence) previous(from, upTo wall) (wall, bool) {
	w, ok := r.rule.PreviousIn(int64(from), int64(upTo))
	return wall(w), ok
}

func (r recurrence) each(from, upTo wall, yield func([]wall) bool) bool {
	var all batch
	return r.rule.Each(int64(from), int64(upTo), func(midnight int64, times []int64) bool {
		for part := range slices.Chunk(times, len(all)) {
			for i, t := range part {
				all[i] = wall(midnight + t)
			}
			if !yield(all[:len(part)]) {
				return false
			}
		}
		return true
	})
}

func (r recurrence) count(from, upTo wall) int { return r.rule.Count(int64(from), int64(upTo)) }

// setRRule makes the schedule one of a recurrence rule. It is anchored at Start as the clocks of the zone show it.
func (s *Schedule) setRRule(spec Spec) *FieldError {
	anchor := wall(0)
	if !spec.Start.IsZero() {
		anchor = wallAt(s.zone, s.start)
	}
	rule, err := rrule.Compile(spec.RRule, int64(anchor), !spec.Start.IsZero())
	if refused, ok := errors.AsType[*rrule.Error](err); ok {
		f := &fault{pos: refused.Pos, reason: refused.Reason, hint: refused.Hint, never: refused.Never}
		return f.in("rrule", spec.RRule)
	}
	if rule.OpenMinute() {
		s.warnings = append(s.warnings, "BYHOUR stands without BYMINUTE, so the minute and the second are those of startTime in the zone: write BYMINUTE=0, and a startTime in full minutes")
	}
	s.expression = rule.String()
	s.source = s.resolved(recurrence{rule})
	if at, utc := rule.Until(); utc {
		s.end = min(s.end, clamp(at)+1)
	}
	if f := s.checkSkip(); f != nil {
		return f
	}
	s.setCount(rule.Limit())
	s.warnEmpty(spec)
	return nil
}

// setCount ends the schedule after n occurrences. It counts what falls due, not what the rule names, so that COUNT=5 is
// five reminders also where a policy drops a date or two dates become one. It does not count beyond a thousand years: a rule
// that takes longer has no end.
func (s *Schedule) setCount(n int) {
	if n == 0 {
		return
	}
	const years = 1000 * 366 * 24 * 60 * 60
	s.source.each(s.start, min(s.end-1, s.start+years, maxInstant), func(r run) bool {
		if n <= len(r.walls) {
			s.end = instant(r.walls[n-1]-r.offset) + 1
		}
		n -= len(r.walls)
		return n > 0
	})
}
