package schedule

// nextShown returns the first hit not before from whose wall time the clocks show in period p, as the policy for
// repeated times has it.
func (r *resolver) nextShown(p period, from instant) (hit, bool) {
	begin, end := r.taken(p)
	w, ok := r.walls.next(max(p.wall(from), begin), end-1)
	if !ok {
		return hit{}, false
	}
	return p.clock().hit(w), true
}

// previousShown returns the last hit not after upTo whose wall time the clocks show in period p.
func (r *resolver) previousShown(p period, upTo instant) (hit, bool) {
	begin, end := r.taken(p)
	w, ok := r.walls.previous(begin, min(p.wall(upTo), end-1))
	if !ok {
		return hit{}, false
	}
	return p.clock().hit(w), true
}

// taken returns the wall times of p that count: begin <= wall < end. First leaves out the second pass at the start of a
// period, Last the first pass at its end.
func (r *resolver) taken(p period) (begin, end wall) {
	begin, end = p.firstWall(), p.endWall()
	switch r.overlap {
	case OverlapFirst:
		begin = p.repeatsUntil()
	case OverlapLast:
		end = p.repeatedFrom()
	}
	return begin, end
}

// clock is what it takes to read a period's wall times: fixed for the period, so that long runs look it up once.
type clock struct {
	offset       wall
	repeatsUntil wall
	repeatedFrom wall
}

func (p period) clock() clock {
	return clock{offset: p.offset, repeatsUntil: p.repeatsUntil(), repeatedFrom: p.repeatedFrom()}
}

// hit returns what a wall time stands for that the clock shows.
func (c clock) hit(w wall) hit {
	h := hit{at: instant(w - c.offset), wall: w}
	switch {
	case w < c.repeatsUntil:
		h.kind = NoteSecondPass
	case w >= c.repeatedFrom:
		h.kind = NoteFirstPass
	}
	return h
}

// runs yields what wall times stand for that the clock shows, and says whether yield wanted more.
func (c clock) runs(all []wall, yield func(run) bool) bool {
	if all[0] >= c.repeatsUntil && all[len(all)-1] < c.repeatedFrom {
		return yield(run{walls: all, offset: c.offset})
	}
	for i, w := range all {
		if !yield(run{walls: all[i : i+1], offset: c.offset, kind: c.hit(w).kind}) {
			return false
		}
	}
	return true
}
