package schedule

import (
	"math/bits"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// each implements walls, a day at a time.
func (r *rolled) each(from, upTo wall, yield func([]wall) bool) bool {
	from, upTo = max(from, minWall), min(upTo, maxWall)
	for d, more := dateOf(from), from <= upTo; more; d, more = r.dateAfter(d, upTo) {
		if !r.eachOn(d, max(0, from-midnightOf(d)), min(wallDay-1, upTo-midnightOf(d)), yield) {
			return false
		}
	}
	return true
}

// eachOn is each on a day, from one time of day to another.
func (r *rolled) eachOn(d calendar.Date, from, upTo wall, yield func([]wall) bool) bool {
	closes := r.closes(d)
	upTo = min(upTo, closes-1)
	switch source, begin, n := r.sources(d, from, upTo); n {
	case 0:
		return true
	case 1:
		moved := midnightOf(d) - midnightOf(source)
		return r.walls.each(midnightOf(source)+begin, midnightOf(source)+upTo, func(all []wall) bool {
			for i := range all {
				all[i] += moved
			}
			return yield(all)
		})
	default:
		all := r.union(d, from, upTo)
		return all.each(midnightOf(d), yield)
	}
}

// count implements walls, from day to day.
func (r *rolled) count(from, upTo wall) (n int) {
	from, upTo = max(from, minWall), min(upTo, maxWall)
	for d, more := dateOf(from), from <= upTo; more; d, more = r.dateAfter(d, upTo) {
		n += r.countOn(d, max(0, from-midnightOf(d)), min(wallDay-1, upTo-midnightOf(d)))
	}
	return n
}

// countOn is count on a day, from one time of day to another.
func (r *rolled) countOn(d calendar.Date, from, upTo wall) int {
	upTo = min(upTo, r.closes(d)-1)
	switch source, begin, n := r.sources(d, from, upTo); n {
	case 0:
		return 0
	case 1:
		return r.walls.count(midnightOf(source)+begin, midnightOf(source)+upTo)
	default:
		all := r.union(d, from, upTo)
		return all.len()
	}
}

// sources returns how many days it takes to know what falls on a day, from one time of day to another: none, one, or more
// than one. If it is one it is source, from begin on.
func (r *rolled) sources(d calendar.Date, from, upTo wall) (source calendar.Date, begin wall, n int) {
	if from > upTo {
		return 0, 0, 0
	}
	r.eachSource(d, upTo+1, func(s calendar.Date, first wall) bool {
		if _, ok := r.walls.next(midnightOf(s)+max(from, first), midnightOf(s)+upTo); ok {
			n++
			source, begin = s, max(from, first)
		}
		return n == 0 || n == 1 && !r.alike
	})
	return source, begin, n
}

// times are times of day: a set of minutes, which all have the same second.
type times struct {
	minutes [24]uint64 // one for each hour
	second  wall
}

// union returns the times that fall on a day from whatever days, from one time of day to another.
func (r *rolled) union(d calendar.Date, from, upTo wall) (all times) {
	r.eachSource(d, upTo+1, func(source calendar.Date, first wall) bool {
		midnight := midnightOf(source)
		return r.walls.each(midnight+max(from, first), midnight+upTo, func(walls []wall) bool {
			for _, w := range walls {
				all.add(w - midnight)
			}
			return true
		})
	})
	return all
}

// add adds a time of day.
func (t *times) add(w wall) {
	t.minutes[w/wallHour] |= 1 << (w % wallHour / wallMinute)
	t.second = w % wallMinute
}

func (t *times) len() (n int) {
	for _, minutes := range t.minutes {
		n += bits.OnesCount64(minutes)
	}
	return n
}

// each yields the times of a day in order.
func (t *times) each(midnight wall, yield func([]wall) bool) bool {
	var all batch
	for hour, minutes := range t.minutes {
		if minutes != 0 && !yield(all.of(midnight+wall(hour)*wallHour+t.second, minutes)) {
			return false
		}
	}
	return true
}

// of returns the wall times of an hour of a set of minutes.
func (b *batch) of(hour wall, minutes uint64) []wall {
	n := 0
	for ; minutes != 0; minutes &= minutes - 1 {
		b[n] = hour + wall(bits.TrailingZeros64(minutes))*wallMinute
		n++
	}
	return b[:n]
}
