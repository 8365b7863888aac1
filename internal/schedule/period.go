package schedule

import "github.com/reminder-operator/reminder-operator/internal/schedule/internal/tzdb"

// period is a stretch of real time during which a zone keeps one offset from UTC, and the offsets on its two sides.
type period struct {
	start, end instant // start <= instant < end
	offset     wall    // wall time minus real time, in seconds
	before     wall    // the offset before start; equal to offset if it never changed before
	after      wall    // the offset from end on; equal to offset if it never changes again
}

// periodAt returns the period of a zone that holds an instant.
func periodAt(zone *tzdb.Zone, at instant) period {
	s := zone.Span(int64(at))
	return period{
		start:  instant(s.Start),
		end:    instant(s.End),
		offset: wall(s.Offset),
		before: wall(s.Before),
		after:  wall(s.After),
	}
}

// wallAt returns what the clocks of a zone show at an instant.
func wallAt(zone *tzdb.Zone, at instant) wall { return periodAt(zone, at).wall(at) }

// wall returns what the clocks show at an instant of the period.
func (p period) wall(at instant) wall { return wall(at) + p.offset }

// firstWall and endWall bound what the clocks show during the period: firstWall <= wall < endWall.
func (p period) firstWall() wall { return p.wall(p.start) }
func (p period) endWall() wall   { return p.wall(p.end) }

// repeatsUntil is where the wall times end that the clocks show for the second time; it is firstWall if none are.
func (p period) repeatsUntil() wall { return max(p.firstWall(), wall(p.start)+p.before) }

// repeatedFrom is where the wall times begin that the clocks will show again; it is endWall if none are.
func (p period) repeatedFrom() wall { return min(p.endWall(), wall(p.end)+p.after) }

// gapStart is where the wall times begin that the clocks skipped at the start of the period; they end at firstWall.
func (p period) gapStart() wall { return min(p.firstWall(), wall(p.start)+p.before) }

// mixedUntil is where the instants end at which a missing wall time and one that is shown may both fall due: as far
// from the start as the clocks went forward.
func (p period) mixedUntil() instant { return p.start + instant(p.firstWall()-p.gapStart()) }
