package schedule

// nextMissing returns the first hit not before from that comes of a wall time that the clocks skipped on entering
// period p.
func (r *resolver) nextMissing(p period, from instant) (hit, bool) {
	switch r.gap {
	case GapShift:
		return r.shiftedNext(p, from)
	case GapFirstValid:
		return r.firstValid(p, from <= p.start)
	default:
		return hit{}, false
	}
}

// previousMissing returns the last hit not after upTo that comes of a wall time that the clocks skipped on entering
// period p.
func (r *resolver) previousMissing(p period, upTo instant) (hit, bool) {
	if p.gapStart() == p.firstWall() {
		return hit{}, false
	}
	switch r.gap {
	case GapShift:
		return r.shiftedPrevious(p, upTo)
	case GapFirstValid:
		return r.firstValid(p, true)
	default:
		return hit{}, false
	}
}

func (r *resolver) shiftedNext(p period, from instant) (hit, bool) {
	w, ok := r.walls.next(max(p.gapStart(), wall(from)+p.before), p.firstWall()-1)
	if !ok {
		return hit{}, false
	}
	return p.shifted(w), true
}

func (r *resolver) shiftedPrevious(p period, upTo instant) (hit, bool) {
	w, ok := r.walls.previous(p.gapStart(), min(wall(upTo)+p.before, p.firstWall()-1))
	if !ok {
		return hit{}, false
	}
	return p.shifted(w), true
}

// shifted reads a missing wall time with the offset before the gap (RFC 5545, section 3.3.5).
func (p period) shifted(w wall) hit {
	return hit{at: instant(w - p.before), wall: w, kind: NoteGapShifted, by: p.offset - p.before}
}

// firstValid lets all missing wall times stand for the first instant after the gap, if that is still wanted.
func (r *resolver) firstValid(p period, wanted bool) (hit, bool) {
	if !wanted {
		return hit{}, false
	}
	w, ok := r.walls.next(p.gapStart(), p.firstWall()-1)
	if !ok {
		return hit{}, false
	}
	return hit{at: p.start, wall: w, kind: NoteGapFirstValid, by: p.firstWall() - w}, true
}
