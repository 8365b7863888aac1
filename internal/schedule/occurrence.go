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

// Note says what a change of the clocks and the calendar did to an occurrence. It is packed into three words, so that an
// Occurrence is passed in registers: a year of minutes passes half a million. Two notes that say the same are equal.
type Note struct {
	holiday string
	bits    uint64 // from the lowest: by, merged, kind, day kind, weekend, early close
}

// The places in Note.bits, and how many bits by and merged have: a change of the clocks is less than three days, and
// the times that roll to one instant are capped.
const (
	byBits, mergedBits = 18, 31
	mergedAt           = byBits
	kindAt             = mergedAt + mergedBits
	dayKindAt          = kindAt + 3
	weekendAt          = dayKindAt + 2
	earlyCloseAt       = weekendAt + 1
)

// clockNote packs what a change of the clocks did.
func clockNote(kind NoteKind, by wall) Note {
	return Note{bits: uint64(kind)<<kindAt | uint64(by)&(1<<byBits-1)}
}

// with returns the note with what a calendar did.
func (n Note) with(d DayNote) Note {
	n.holiday = d.Holiday
	n.bits |= uint64(d.Merged)&(1<<mergedBits-1)<<mergedAt | uint64(d.Kind)<<dayKindAt | bit(d.Weekend)<<weekendAt | bit(d.EarlyClose)<<earlyCloseAt
	return n
}

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

// Kind says what a change of the clocks did.
func (n Note) Kind() NoteKind { return NoteKind(n.bits >> kindAt & 7) }

// By is, for the gap kinds, how far on the wall, whole seconds; else 0.
func (n Note) By() time.Duration { return time.Duration(n.bits&(1<<byBits-1)) * time.Second }

// Day says what a calendar did.
func (n Note) Day() DayNote {
	return DayNote{
		Holiday: n.holiday, Merged: int32(n.bits >> mergedAt & (1<<mergedBits - 1)), Kind: DayNoteKind(n.bits >> dayKindAt & 3),
		Weekend: n.bits>>weekendAt&1 == 1, EarlyClose: n.bits>>earlyCloseAt&1 == 1,
	}
}

// String returns the note for people, such as "gap: shifted by 1h", or "".
func (n Note) String() string { return joined(n.Day().String(), "; ", n.clocks()) }

// clocks says what a change of the clocks did.
func (n Note) clocks() string {
	by := short(n.By())
	switch n.Kind() {
	case NoteGapShifted:
		return "gap: shifted by " + by
	case NoteGapFirstValid:
		return "gap: moved by " + by + " to the first valid time"
	case NoteGapMerged:
		return "gap: merged with the missing time " + by + " earlier"
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
