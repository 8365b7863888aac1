package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule/internal/tzdb"
)

// single is the series of one wall time.
type single wall

func (s single) next(from, upTo wall) (wall, bool) { return wall(s), s.count(from, upTo) > 0 }

func (s single) previous(from, upTo wall) (wall, bool) { return s.next(from, upTo) }

func (s single) each(from, upTo wall, yield func([]wall) bool) bool {
	return s.count(from, upTo) == 0 || yield([]wall{wall(s)})
}

// moment is the source of one instant that was written with its offset, so that no zone has a say in it.
type moment struct {
	at   instant
	zone *tzdb.Zone // for the nominal wall time
}

func (m moment) next(from instant) (hit, bool)     { return m.hit(), from <= m.at }
func (m moment) previous(upTo instant) (hit, bool) { return m.hit(), upTo >= m.at }

func (m moment) each(from, upTo instant, yield func(run) bool) {
	if m.count(from, upTo) > 0 {
		yield(m.hit().run())
	}
}

func (m moment) hit() hit {
	return hit{at: m.at, wall: wallAt(m.zone, m.at)}
}

// setAt makes the schedule one of a single time, and refuses a time that policy or bounds would drop.
func (s *Schedule) setAt(spec Spec) *FieldError {
	written, f := parseAt(spec.At)
	if f != nil {
		return f.in("at", spec.At)
	}
	s.expression = written.String()
	m := moment{at: instant(written.time.Unix()), zone: s.zone}
	switch {
	case !written.absolute:
		s.source = s.resolved(single(written.time.Unix()))
	case s.days.policy != calendar.Keep && !s.days.open(m.hit().wall):
		s.source = s.resolved(single(m.hit().wall)) // the calendar moves the local time
	default:
		s.source = m
	}
	if f := s.checkSingle(); f != nil {
		return f.in("at", spec.At)
	}
	return nil
}

// checkSingle says why the only time of a schedule would never come.
func (s *Schedule) checkSingle() *fault {
	first, ok := s.source.next(minInstant)
	last, _ := s.source.previous(maxInstant)
	switch {
	case !ok && s.days.policy == calendar.Skip && s.days.days != nil && s.dropped():
		return never(-1, "it is on a day that is no business day, and onNonBusinessDay Skip drops it", "write another time or another policy")
	case !ok && s.gap == GapSkip:
		return never(-1, "the clocks of "+s.Zone()+" skip it, and dst.gap Skip drops it", "write another time or another policy")
	case !ok:
		return &fault{pos: -1, reason: "this is outside the years 1 to 9999 in UTC", hint: "write an earlier time"}
	case first.at >= s.end:
		return never(-1, "it is not before endTime", "move one of the two")
	case last.at < s.start:
		return never(-1, "it is before startTime", "move one of the two")
	default:
		return nil
	}
}

// dropped tells whether the calendar drops the only time of a schedule.
func (s *Schedule) dropped() bool {
	one, ok := s.source.(*resolver)
	if !ok {
		return false
	}
	_, left := one.walls.next(minWall, maxWall)
	return !left
}

// written is a time as it was written: absolute if it says its offset, else wall time as if in UTC.
type written struct {
	time     time.Time
	absolute bool
}

// String returns the time in the form in which it was written.
func (w written) String() string {
	if w.absolute {
		return w.time.Format(time.RFC3339)
	}
	return w.time.Format(wallLayout)
}

const atHint = "write a local time such as 2026-11-03T09:00:00, or one with an offset such as 2026-11-03T09:00:00+01:00"

// parseAt reads both forms of Spec.At. It takes exactly the layouts; the standard library's parser alone would also
// take fractions of a second, with a point or a comma.
func parseAt(text string) (written, *fault) {
	if len(text) > len(time.RFC3339)+10 {
		return written{}, &fault{pos: -1, reason: "this is too long for a time", hint: atHint}
	}
	if i := strings.IndexAny(text, ".,"); i >= 0 {
		return written{}, &fault{pos: i, reason: "a time counts whole seconds", hint: atHint}
	}
	layout, absolute := wallLayout, len(text) > len(wallLayout)
	if absolute {
		layout = time.RFC3339
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return written{}, &fault{pos: -1, reason: fmt.Sprintf("%q is not a time: %s", shown(text), atReason(text, err)), hint: atHint}
	}
	if t.Year() < 1970 {
		return written{}, &fault{pos: 0, reason: "times begin with the year 1970", hint: atHint}
	}
	return written{time: t, absolute: absolute}, nil
}

// atReason says in our words why the standard library refused a time.
func atReason(text string, err error) string {
	parseError, ok := errors.AsType[*time.ParseError](err)
	switch {
	case ok && strings.Contains(parseError.Message, "out of range"):
		return strings.TrimPrefix(parseError.Message, ": ")
	case len(text) == len("2026-11-03"):
		return "the time of day is missing"
	case len(text) == len("2026-11-03T09:00"):
		return "the seconds are missing"
	default:
		return "it does not have the form"
	}
}
