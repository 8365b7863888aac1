package schedule

import "github.com/reminder-operator/reminder-operator/internal/calendar"

// rolled is a series of wall times of which those on days that are no business days are moved or dropped, as a calendar
// and a policy have it. It is ascending like the one below it, although a move can overtake: Saturday 10:00 comes before
// Monday 09:00, and Monday 10:00 after it.
//
// Its hits are found day by day: those of a day come from that day itself and from the run of days that roll to it.
// Business ends at calendar.Closes; what comes later on a day is moved like what comes on a holiday.
type rolled struct {
	walls  walls
	days   *calendar.Calendar
	policy calendar.Policy // Next, Previous or Skip
}

// lastDate is the last day that is looked at.
var lastDate = dateOf(maxWall)

func dateOf(w wall) calendar.Date             { return calendar.Date(w.midnight() / wallDay) }
func midnightOf(d calendar.Date) wall         { return wall(d) * wallDay }
func (r *rolled) closes(d calendar.Date) wall { return wall(r.days.Closes(d)) * wallMinute }
func (r *rolled) full(d calendar.Date) bool   { return r.days.Closes(d) == 24*60 }

// toSource is the way from a day to those that roll to it.
func (r *rolled) toSource() calendar.Date {
	if r.policy == calendar.Previous {
		return 1
	}
	return -1
}

// eachSource calls visit for each day whose wall times can fall on day d, with the time of day from which on they do.
// They do up to the close of d itself.
func (r *rolled) eachSource(d calendar.Date, closes wall, visit func(source calendar.Date, from wall)) {
	visit(d, 0)
	if r.policy == calendar.Skip {
		return
	}
	from, step := wall(0), r.toSource()
	for source := d + step; ; source += step {
		if from = max(from, r.closes(source)); from >= closes {
			return
		}
		visit(source, from)
	}
}

// next implements walls.
func (r *rolled) next(from wall) (wall, bool) {
	if from = max(from, minWall); from > maxWall {
		return 0, false
	}
	for d := dateOf(from); d <= lastDate; {
		if w, ok := r.nextOn(d, max(0, from-midnightOf(d))); ok {
			return w, true
		}
		later, ok := r.dateAfter(d)
		if !ok {
			break
		}
		d = later
	}
	return 0, false
}

// nextOn returns the first hit on a day from a time of day on.
func (r *rolled) nextOn(d calendar.Date, from wall) (best wall, found bool) {
	closes := r.closes(d)
	if closes == 0 {
		return 0, false
	}
	r.eachSource(d, closes, func(source calendar.Date, first wall) {
		midnight := midnightOf(source)
		w, ok := r.walls.next(midnight + max(from, first))
		if w -= midnight; ok && w < closes && (!found || w < best) {
			best, found = w, true
		}
	})
	return midnightOf(d) + best, found
}

// dateAfter returns a day after d such that no hits fall in between.
func (r *rolled) dateAfter(d calendar.Date) (calendar.Date, bool) {
	if r.policy == calendar.Next && !r.full(d) {
		return d + 1, true // what d does not take rolls on
	}
	w, ok := r.walls.next(midnightOf(d + 1))
	if !ok {
		return 0, false
	}
	later := dateOf(w)
	for r.policy == calendar.Previous && later > d+1 && !r.full(later) {
		later--
	}
	return later, true
}

// previous implements walls.
func (r *rolled) previous(upTo wall) (wall, bool) {
	if upTo = min(upTo, maxWall); upTo < minWall {
		return 0, false
	}
	for d := dateOf(upTo); midnightOf(d) >= minWall; {
		if w, ok := r.previousOn(d, min(wallDay-1, upTo-midnightOf(d))); ok {
			return w, true
		}
		earlier, ok := r.dateBefore(d)
		if !ok {
			break
		}
		d = earlier
	}
	return 0, false
}

// previousOn returns the last hit on a day up to a time of day.
func (r *rolled) previousOn(d calendar.Date, upTo wall) (best wall, found bool) {
	closes := r.closes(d)
	if closes == 0 {
		return 0, false
	}
	r.eachSource(d, closes, func(source calendar.Date, first wall) {
		midnight := midnightOf(source)
		w, ok := r.walls.previous(midnight + min(upTo, closes-1))
		if w -= midnight; ok && w >= first && (!found || w > best) {
			best, found = w, true
		}
	})
	return midnightOf(d) + best, found
}

// dateBefore returns a day before d such that no hits fall in between.
func (r *rolled) dateBefore(d calendar.Date) (calendar.Date, bool) {
	if r.policy == calendar.Previous && !r.full(d) {
		return d - 1, true
	}
	w, ok := r.walls.previous(midnightOf(d) - 1)
	if !ok {
		return 0, false
	}
	earlier := dateOf(w)
	for r.policy == calendar.Next && earlier < d-1 && !r.full(earlier) {
		earlier++
	}
	return earlier, true
}

// each implements walls.
func (r *rolled) each(from, upTo wall, yield func(wall) bool) bool {
	for w, ok := r.next(from); ok && w <= upTo; w, ok = r.next(w + 1) {
		if !yield(w) {
			return false
		}
	}
	return true
}

// origin returns the first of the wall times that a hit stands for, and how many more there are.
func (r *rolled) origin(w wall) (first wall, more int) {
	d := dateOf(w)
	second := w - midnightOf(d)
	more = -1
	r.eachSource(d, r.closes(d), func(source calendar.Date, from wall) {
		named := midnightOf(source) + second
		if n, ok := r.walls.next(named); !ok || n != named || second < from {
			return
		}
		if more++; more == 0 || named < first {
			first = named
		}
	})
	return first, max(more, 0)
}
