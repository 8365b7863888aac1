package schedule

import (
	"fmt"
	"math"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// DayNoteKind says what a calendar did to an occurrence.
type DayNoteKind uint8

const (
	// DayUntouched: Nominal is on a business day, and nothing was moved to it.
	DayUntouched DayNoteKind = iota
	// DayMovedNext: Nominal is on no business day; Actual is on the next one.
	DayMovedNext
	// DayMovedPrevious: Nominal is on no business day; Actual is on the one before.
	DayMovedPrevious
	// DayKept: Nominal is on no business day, and the policy leaves it there.
	DayKept
)

// DayNote says what a calendar did to an occurrence, and why.
type DayNote struct {
	// Holiday is the name of the holiday or early close that Nominal is on; "" if it has none, or for a weekend.
	Holiday string
	// Merged is the number of further nominal times for which the occurrence stands too.
	Merged int32
	Kind   DayNoteKind
	// Weekend and EarlyClose tell that it is no holiday but that.
	Weekend, EarlyClose bool
}

// String returns the note for people, such as "holiday New Year's Day: moved to the next business day", or "".
func (n DayNote) String() string {
	text := ""
	if n.Kind != DayUntouched {
		what := map[DayNoteKind]string{
			DayMovedNext: "moved to the next business day", DayMovedPrevious: "moved to the previous business day", DayKept: "kept",
		}
		text = n.reason() + ": " + what[n.Kind]
	}
	if n.Merged > 0 {
		times := "times"
		if n.Merged == 1 {
			times = "time"
		}
		text = joined(text, ", ", fmt.Sprintf("merged with %d other %s of days that are no business days", n.Merged, times))
	}
	return text
}

func (n DayNote) reason() string {
	switch {
	case n.Weekend:
		return "weekend"
	case n.EarlyClose:
		return joined("early close", " ", n.Holiday)
	default:
		return joined("holiday", " ", n.Holiday)
	}
}

func joined(a, separator, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}

// dayPolicy is a calendar and what to do on days that are no business days.
type dayPolicy struct {
	days   *calendar.Calendar // nil: every day is a business day
	policy calendar.Policy
}

// open tells whether a wall time is in the business hours of a business day.
func (p dayPolicy) open(w wall) bool {
	d := dateOf(w)
	return p.days == nil || w-midnightOf(d) < wall(p.days.Closes(d))*wallMinute
}

// roll makes a series one that keeps to business days.
func (p dayPolicy) roll(w walls) walls {
	if p.days == nil || p.policy == calendar.Keep {
		return w
	}
	return &rolled{walls: w, days: p.days, policy: p.policy, alike: alike(w)}
}

// alike tells whether all days that have wall times have the same ones.
func alike(w walls) bool {
	rule, ok := w.(recurrence)
	return !ok || rule.rule.Alike()
}

// span is a stretch of wall times: from <= wall < until.
type span struct{ from, until wall }

func (s span) has(w wall) bool { return s.from <= w && w < s.until }

// steady returns the wall times behind one on its day of which note says what it says of that one. What becomes of a time
// depends on which days close before it: its own, and those from which it may have been moved to it.
func (p dayPolicy) steady(source source, w wall) span {
	d := dateOf(w)
	midnight := midnightOf(d)
	until := p.changes(d, w-midnight)
	series, ok := rolledOf(source)
	if !ok || p.policy == calendar.Skip {
		return span{w + 1, midnight + until}
	}
	for range farthest {
		d += series.toSource()
		if p.days.Closes(d) == allDay {
			return span{w + 1, midnight + until}
		}
		if !series.alike {
			return span{}
		}
		until = min(until, p.changes(d, w-midnight))
	}
	return span{}
}

// farthest is how many days steady looks at. Only a calendar with early closes day after day has more.
const farthest = 400

// changes returns when a day closes, if that is behind a time of day; else the end of the day.
func (p dayPolicy) changes(d calendar.Date, at wall) wall {
	if closes := wall(p.days.Closes(d)) * wallMinute; closes > at {
		return closes
	}
	return wallDay
}

// allDay is calendar.Closes of a business day that does not end early.
const allDay = 24 * 60

// rolledOf returns the series of a source whose wall times a calendar moves or drops.
func rolledOf(source source) (*rolled, bool) {
	r, ok := source.(*resolver)
	if !ok {
		return nil, false
	}
	series, ok := r.walls.(*rolled)
	return series, ok
}

// note returns for a hit its nominal time and what the calendar did to it.
func (p dayPolicy) note(source source, actual wall) (nominal wall, note DayNote) {
	if p.days == nil {
		return actual, DayNote{}
	}
	if p.policy == calendar.Keep {
		if p.open(actual) {
			return actual, DayNote{}
		}
		return actual, p.because(DayKept, actual)
	}
	series, ok := rolledOf(source)
	if !ok {
		return actual, DayNote{}
	}
	nominal, merged := series.origin(actual)
	switch {
	case nominal < actual && !p.open(nominal):
		note = p.because(DayMovedNext, nominal)
	case nominal > actual:
		note = p.because(DayMovedPrevious, nominal)
	}
	note.Merged = int32(min(merged, math.MaxInt32))
	return nominal, note
}

// because says why a wall time is not in business hours.
func (p dayPolicy) because(kind DayNoteKind, w wall) DayNote {
	d := dateOf(w)
	if name, ok := p.days.Holiday(d); ok {
		return DayNote{Kind: kind, Holiday: name}
	}
	if p.days.Weekend(d) {
		return DayNote{Kind: kind, Weekend: true}
	}
	early, _ := p.days.EarlyClose(d)
	return DayNote{Kind: kind, Holiday: early.Name, EarlyClose: true}
}
