package tzdb

import (
	"slices"
	"time"
)

// Zone is one zone of the database.
type Zone struct {
	*time.Location          // for showing times; its String is the canonical name
	changes        []change // in order, up to tableEnd
	first          int      // the offset before the first change
}

// change is an instant at which the offset of a zone from UTC changes. A change of the abbreviation alone is none.
type change struct {
	at     int64 // seconds since 1970-01-01T00:00:00Z
	offset int   // seconds east of UTC from then on
}

// Span is a stretch of time in which a zone keeps one offset from UTC, and the offsets on both of its sides. Where time
// has no change on a side any more, the bound is far outside of the years 1 to 9999 and the offset beyond is the same.
type Span struct {
	Start, End            int64 // seconds since 1970-01-01T00:00:00Z: Start <= t < End
	Before, Offset, After int   // seconds east of UTC
}

// cycle is the length of the Gregorian calendar's cycle, in seconds: after 400 years dates fall on the same weekdays, so
// rules such as "last Sunday of March" come to the same instants.
const cycle = (400*365 + 97) * 24 * 60 * 60

// The list of changes ends at tableEnd; from tableEnd-cycle on, the database has nothing but rules that repeat.
var (
	tableStart = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	tableEnd   = time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC)
)

const distant = 1 << 60

// Span returns the stretch of time that holds an instant, in seconds since 1970-01-01T00:00:00Z.
func (z *Zone) Span(at int64) Span {
	var shift int64
	if z.repeats() && at >= z.lastChange() {
		// The last change of the table has no successor in it, but a cycle earlier it has.
		shift = ((at-z.lastChange())/cycle + 1) * cycle
	}
	return z.span(at-shift, shift)
}

// repeats tells whether the zone changes its clocks for ever.
func (z *Zone) repeats() bool {
	return len(z.changes) > 0 && z.lastChange() >= tableEnd.Unix()-cycle
}

func (z *Zone) lastChange() int64 { return z.changes[len(z.changes)-1].at }

func (z *Zone) span(at, shift int64) Span {
	i, past := 0, len(z.changes) // changes before i are not after at, changes from past on are
	for i < past {
		if middle := (i + past) / 2; z.changes[middle].at <= at {
			i = middle + 1
		} else {
			past = middle
		}
	}
	s := Span{Start: -distant, End: distant, Offset: z.first}
	if i > 0 {
		s.Start, s.Offset = z.changes[i-1].at+shift, z.changes[i-1].offset
	}
	s.Before, s.After = s.Offset, s.Offset
	switch {
	case i == 1:
		s.Before = z.first
	case i > 1:
		s.Before = z.changes[i-2].offset
	}
	if i < len(z.changes) {
		s.End, s.After = z.changes[i].at+shift, z.changes[i].offset
	}
	return s
}

// newZone lists the changes of a zone, from what the standard library says of its bounds.
//
// Beyond the last change that a zone's file lists, where it works from a rule, the library also ends a stretch at the
// year's end, and in a leap year one day before that, even if asked about that very day. So a
// bound counts only if the offset does change there, and one that does not lead on is replaced by the next new year.
func newZone(location *time.Location) *Zone {
	z := &Zone{Location: location}
	defer func() { z.changes = slices.Clip(z.changes) }()
	t := tableStart.In(location)
	_, z.first = t.Zone()
	for offset := z.first; ; {
		_, end := t.ZoneBounds()
		if end.IsZero() {
			return z
		}
		if !end.After(t) {
			end = time.Date(t.UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).In(location)
		}
		if !end.Before(tableEnd) {
			return z
		}
		if _, next := end.Zone(); next != offset {
			z.changes = append(z.changes, change{end.Unix(), next})
			offset = next
		}
		t = end
	}
}
