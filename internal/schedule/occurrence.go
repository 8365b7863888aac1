package schedule

import (
	"strings"
	"time"
)

// Occurrence is one due instant of a schedule.
type Occurrence struct {
	// Nominal is the local time that the schedule names, also where the clocks skip it.
	Nominal WallTime
	// Actual is the local time to which the calendar moves Nominal; it is Nominal if it leaves it where it is.
	Actual WallTime
	// Due is the instant that Actual stands for, in UTC, whole seconds. Read in the schedule's zone it is never
	// earlier than Actual.
	Due time.Time
	// Note says what the clocks of the zone and the calendar did to it; the zero Note says nothing.
	Note Note
}

// BusinessDate returns the local date on which the occurrence takes place, as 2026-11-03: the slot of schedules whose
// identity is BusinessDate. It is the date of Actual, so that a recipient gets one reminder for it whatever the time of day
// is changed to, and whichever of the clocks' changes shifts it.
func (o Occurrence) BusinessDate() string { return o.Actual.utc().Format(time.DateOnly) }

// NoteKind says how a change of the clocks affected an occurrence.
type NoteKind uint8

const (
	// NoteNone: the clocks show Nominal exactly once, at Due.
	NoteNone NoteKind = iota
	// NoteGapShifted: the clocks skip Nominal; Due is By later on the wall.
	NoteGapShifted
	// NoteGapFirstValid: the clocks skip Nominal; Due is the first instant after the gap, By later on the wall.
	NoteGapFirstValid
	// NoteGapMerged: Due stands also for a time that the clocks skip, which was By earlier on the wall.
	NoteGapMerged
	// NoteFirstPass: the clocks show Nominal twice, and Due is the first time.
	NoteFirstPass
	// NoteSecondPass: the clocks show Nominal twice, and Due is the second time.
	NoteSecondPass
)

// Note says what a change of the clocks and the calendar did to an occurrence.
type Note struct {
	By   time.Duration // for the gap kinds, whole seconds; else 0
	Day  DayNote
	Kind NoteKind
}

// String returns the note for people, such as "gap: shifted by 1h", or "".
func (n Note) String() string { return joined(n.Day.String(), "; ", n.clocks()) }

// clocks says what a change of the clocks did.
func (n Note) clocks() string {
	switch n.Kind {
	case NoteGapShifted:
		return "gap: shifted by " + short(n.By)
	case NoteGapFirstValid:
		return "gap: moved by " + short(n.By) + " to the first valid time"
	case NoteGapMerged:
		return "gap: merged with the missing time " + short(n.By) + " earlier"
	case NoteFirstPass:
		return "overlap: first pass"
	case NoteSecondPass:
		return "overlap: second pass"
	default:
		return ""
	}
}

// short prints a duration without the zero parts at its end: "1h", not "1h0m0s".
func short(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 && d != 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 && d != 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
