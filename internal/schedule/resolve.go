package schedule

import (
	"github.com/reminder-operator/reminder-operator/internal/schedule/internal/tzdb"
)

// walls is an ascending series of nominal wall times: the part of a schedule that knows nothing of zones.
type walls interface {
	// next returns the first wall time from one to another, both included, and does not look beyond.
	next(from, upTo wall) (wall, bool)
	// previous returns the last wall time from one to another, both included, and does not look beyond.
	previous(from, upTo wall) (wall, bool)
	// each yields all wall times from one to another, both included, and says whether yield wanted more. They come in
	// batches, never empty, that are yield's to change and valid until it returns.
	each(from, upTo wall, yield func([]wall) bool) bool
	// count returns the number of wall times from one to another, both included.
	count(from, upTo wall) int
}

// resolver turns wall times into instants: the one place where a zone's clocks meet a schedule.
//
// It goes through the zone period by period. Within one period wall time and real time advance together, so the hits
// come out in order and no instant comes out twice, whatever the clocks do in between.
type resolver struct {
	walls   walls
	zone    *tzdb.Zone
	gap     GapPolicy
	overlap OverlapPolicy
}

// batch has room for the wall times of an hour: a year may have half a million, and a call for each takes longer than
// working it out.
type batch [60]wall

// hit is an occurrence before it is dressed for the outside.
type hit struct {
	at   instant
	wall wall
	by   wall // how much later on the wall at is, for the gap kinds
	kind NoteKind
}

// run is hits that have the same note, and the same offset between wall time and instant.
type run struct {
	walls  []wall
	offset wall
	by     wall
	kind   NoteKind
}

// run is a hit as a run of one.
func (h hit) run() run {
	return run{walls: []wall{h.wall}, offset: h.wall - wall(h.at), by: h.by, kind: h.kind}
}

// reach bounds how far a wall time and the instant that it stands for may be apart: the largest offset from UTC that the
// tz database knows, 16 hours, and the largest gap, 24 hours.
const reach = 40 * 60 * 60

func (r *resolver) next(from instant) (hit, bool) {
	for from <= maxInstant {
		p := periodAt(r.zone, from)
		if h, ok := r.nextIn(p, from); ok {
			return h, h.at <= maxInstant
		}
		// Nothing can come from a wall time that is still further off than its instant may be from it.
		w, ok := r.walls.next(wall(p.end)-reach, maxWall)
		if !ok {
			break
		}
		from = max(p.end, instant(w)-reach)
	}
	return hit{}, false
}

func (r *resolver) previous(upTo instant) (hit, bool) {
	for upTo >= minInstant {
		p := periodAt(r.zone, upTo)
		if h, ok := r.previousIn(p, upTo); ok {
			return h, h.at >= minInstant
		}
		w, ok := r.walls.previous(minWall, wall(p.start)+reach)
		if !ok {
			break
		}
		upTo = min(p.start-1, instant(w)+reach)
	}
	return hit{}, false
}

// each implements source.
func (r *resolver) each(from, upTo instant, yield func(run) bool) {
	for from <= upTo {
		p := periodAt(r.zone, from)
		if !r.eachIn(p, from, min(upTo, p.end-1), yield) {
			return
		}
		w, ok := r.walls.next(wall(p.end)-reach, maxWall)
		if !ok {
			return
		}
		from = max(p.end, instant(w)-reach)
	}
}

// eachIn is each within one period.
func (r *resolver) eachIn(p period, from, upTo instant, yield func(run) bool) bool {
	for from < p.mixedUntil() && from <= upTo {
		h, ok := r.nextIn(p, from)
		if !ok || h.at > upTo {
			return true
		}
		if !yield(h.run()) {
			return false
		}
		from = h.at + 1
	}
	begin, end := r.taken(p)
	begin, end = max(p.wall(from), begin), min(p.wall(upTo)+1, end)
	c := p.clock()
	return begin >= end || r.walls.each(begin, end-1, func(all []wall) bool { return c.runs(all, yield) })
}

// nextIn returns the first hit of period p that is not before from, an instant of p.
func (r *resolver) nextIn(p period, from instant) (hit, bool) {
	shown, ok := r.nextShown(p, from)
	if from >= p.mixedUntil() {
		return shown, ok
	}
	missing, gapOK := r.nextMissing(p, from)
	switch {
	case !gapOK:
		return shown, ok
	case !ok || missing.at < shown.at:
		return missing, true
	case missing.at == shown.at:
		return merge(shown, missing), true
	default:
		return shown, true
	}
}

// previousIn returns the last hit of period p that is not after upTo, an instant of p.
func (r *resolver) previousIn(p period, upTo instant) (hit, bool) {
	shown, ok := r.previousShown(p, upTo)
	if ok && shown.at >= p.mixedUntil() {
		return shown, true
	}
	missing, gapOK := r.previousMissing(p, upTo)
	switch {
	case !gapOK:
		return shown, ok
	case !ok || missing.at > shown.at:
		return missing, true
	case missing.at == shown.at:
		return merge(shown, missing), true
	default:
		return shown, true
	}
}

// merge makes one hit of a wall time that the clocks show and one that they skip, when both stand for one instant.
func merge(shown, missing hit) hit {
	shown.kind, shown.by = NoteGapMerged, shown.wall-missing.wall
	return shown
}
