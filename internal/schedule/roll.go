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
	alike  bool            // all days that have wall times have the same ones: the nearest source of a day has those of all
}

func dateOf(w wall) calendar.Date             { return calendar.Date(w.midnight() / wallDay) }
func midnightOf(d calendar.Date) wall         { return wall(d) * wallDay }
func (r *rolled) closes(d calendar.Date) wall { return wall(r.days.Closes(d)) * wallMinute }
func (r *rolled) full(d calendar.Date) bool   { return r.days.Closes(d) == allDay }

// toSource is the way from a day to those that roll to it.
func (r *rolled) toSource() calendar.Date {
	if r.policy == calendar.Previous {
		return 1
	}
	return -1
}

// eachSource calls visit for each day whose wall times can fall on day d, with the time of day from which on they do, until
// it has seen enough. They do up to the close of d itself.
func (r *rolled) eachSource(d calendar.Date, closes wall, visit func(source calendar.Date, from wall) bool) {
	if !visit(d, 0) || r.policy == calendar.Skip {
		return
	}
	from, step := wall(0), r.toSource()
	for source := d + step; ; source += step {
		if from = max(from, r.closes(source)); from >= closes || !visit(source, from) {
			return
		}
	}
}

// next implements walls.
func (r *rolled) next(from, upTo wall) (wall, bool) {
	from, upTo = max(from, minWall), min(upTo, maxWall)
	for d, more := dateOf(from), from <= upTo; more; d, more = r.dateAfter(d, upTo) {
		if w, ok := r.nextOn(d, max(0, from-midnightOf(d)), min(wallDay-1, upTo-midnightOf(d))); ok {
			return w, true
		}
	}
	return 0, false
}

// nextOn returns the first hit on a day from one time of day to another.
func (r *rolled) nextOn(d calendar.Date, from, upTo wall) (best wall, found bool) {
	closes := r.closes(d)
	if upTo = min(upTo, closes-1); from > upTo {
		return 0, false
	}
	r.eachSource(d, closes, func(source calendar.Date, first wall) bool {
		midnight := midnightOf(source)
		w, ok := r.walls.next(midnight+max(from, first), midnight+upTo)
		if w -= midnight; ok && (!found || w < best) {
			best, found = w, true
		}
		return !found || !r.alike
	})
	return midnightOf(d) + best, found
}

// slack is more than an occurrence is ever moved.
const slack = (calendar.MaxRoll + 1) * wallDay

// dateAfter returns a day after d such that no hits fall in between, or false if none fall between d and upTo.
func (r *rolled) dateAfter(d calendar.Date, upTo wall) (calendar.Date, bool) {
	if r.policy == calendar.Next && !r.full(d) {
		return d + 1, midnightOf(d+1) <= upTo // what d does not take rolls on
	}
	w, ok := r.walls.next(midnightOf(d+1), upTo+slack)
	later := dateOf(w)
	for ok && r.policy == calendar.Previous && later > d+1 && !r.full(later) {
		later--
	}
	return later, ok && midnightOf(later) <= upTo
}

// previous implements walls.
func (r *rolled) previous(from, upTo wall) (wall, bool) {
	from, upTo = max(from, minWall), min(upTo, maxWall)
	for d, more := dateOf(upTo), from <= upTo; more; d, more = r.dateBefore(d, from) {
		if w, ok := r.previousOn(d, max(0, from-midnightOf(d)), min(wallDay-1, upTo-midnightOf(d))); ok {
			return w, true
		}
	}
	return 0, false
}

// previousOn returns the last hit on a day from one time of day to another.
func (r *rolled) previousOn(d calendar.Date, from, upTo wall) (best wall, found bool) {
	closes := r.closes(d)
	if upTo = min(upTo, closes-1); from > upTo {
		return 0, false
	}
	r.eachSource(d, closes, func(source calendar.Date, first wall) bool {
		midnight := midnightOf(source)
		w, ok := r.walls.previous(midnight+max(from, first), midnight+upTo)
		if w -= midnight; ok && (!found || w > best) {
			best, found = w, true
		}
		return !found || !r.alike
	})
	return midnightOf(d) + best, found
}

// dateBefore returns a day before d such that no hits fall in between, or false if none fall between from and d.
func (r *rolled) dateBefore(d calendar.Date, from wall) (calendar.Date, bool) {
	if r.policy == calendar.Previous && !r.full(d) {
		return d - 1, midnightOf(d) > from
	}
	w, ok := r.walls.previous(from-slack, midnightOf(d)-1)
	earlier := dateOf(w)
	for ok && r.policy == calendar.Next && earlier < d-1 && !r.full(earlier) {
		earlier++
	}
	return earlier, ok && midnightOf(earlier+1) > from
}

// origin returns the first of the wall times that a hit stands for, and how many more there are.
func (r *rolled) origin(w wall) (first wall, more int) {
	d := dateOf(w)
	second := w - midnightOf(d)
	more = -1
	r.eachSource(d, r.closes(d), func(source calendar.Date, from wall) bool {
		named := midnightOf(source) + second
		if second < from {
			return true
		}
		if _, ok := r.walls.next(named, named); ok {
			if more++; more == 0 || named < first {
				first = named
			}
		}
		return true
	})
	return first, max(more, 0)
}
