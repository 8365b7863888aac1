package schedule

import (
	"math"
	"time"
)

// period is a stretch of real time during which a zone keeps one offset from UTC, and the offsets on its two sides.
type period struct {
	start, end instant // start <= instant < end
	offset     wall    // wall time minus real time, in seconds
	before     wall    // the offset before start; equal to offset if there was none
	after      wall    // the offset from end on; equal to offset if there is none
}

// periodAt returns the period of zone that holds at.
func periodAt(zone *time.Location, at instant) period {
	t := time.Unix(int64(at), 0).In(zone)
	offset := offsetOf(t)
	p := period{start: math.MinInt64 / 2, end: math.MaxInt64 / 2, offset: offset, before: offset, after: offset}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = instant(start.Unix())
		p.before = offsetOf(start.Add(-time.Second))
	}
	if !end.IsZero() {
		p.end = instant(end.Unix())
		p.after = offsetOf(end)
	}
	return p
}

func offsetOf(t time.Time) wall {
	_, seconds := t.Zone()
	return wall(seconds)
}

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
