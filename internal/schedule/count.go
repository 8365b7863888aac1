package schedule

import (
	"math/bits"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// Count returns the number of occurrences with from < Due <= to: as many as Between yields, without going through them. It
// takes some microseconds for each year, however dense the schedule.
func (s *Schedule) Count(from, to time.Time) int {
	first, last := max(clamp(from)+1, s.start), min(clamp(to), s.end-1)
	if first > last {
		return 0
	}
	return s.source.count(first, last)
}

func (r *resolver) count(from, upTo instant) (n int) {
	for from <= upTo {
		p := periodAt(r.zone, from)
		n += r.countIn(p, from, min(upTo, p.end-1))
		w, ok := r.walls.next(wall(p.end) - reach)
		if !ok {
			break
		}
		from = max(p.end, instant(w)-reach)
	}
	return n
}

// countIn is count within one period.
func (r *resolver) countIn(p period, from, upTo instant) (n int) {
	for from < p.mixedUntil() && from <= upTo {
		h, ok := r.nextIn(p, from)
		if !ok || h.at > upTo {
			return n
		}
		n++
		from = h.at + 1
	}
	begin, end := r.taken(p)
	begin, end = max(p.wall(from), begin), min(p.wall(upTo)+1, end)
	if begin < end {
		n += r.walls.count(begin, end-1)
	}
	return n
}

func (e *every) count(from, upTo instant) int {
	if upTo = min(upTo, maxInstant); upTo < e.origin {
		return 0
	}
	from = max(from, e.origin)
	return int((upTo-e.origin)/e.step - (from-e.origin+e.step-1)/e.step + 1)
}

func (m moment) count(from, upTo instant) int {
	if from <= m.at && m.at <= upTo {
		return 1
	}
	return 0
}

func (s single) count(from, upTo wall) int {
	if from <= wall(s) && wall(s) <= upTo {
		return 1
	}
	return 0
}

func (c *cron) count(from, upTo wall) int {
	from, upTo = max(from, minWall), min(upTo, maxWall)
	if from > upTo {
		return 0
	}
	first, last := from.midnight(), upTo.midnight()
	n := -c.countBefore(first, from-first)
	for month := first; month < last; {
		year, m, day, _ := month.date()
		begin := month - wall(day-1)*wallDay
		days := c.daysIn(year, m) >> day << day
		if end := (last - begin) / wallDay; end < 31 { // the month of upTo: up to the day before
			days &= 1<<(end+1) - 1
		}
		n += bits.OnesCount32(days) * c.perDay()
		month = begin + wall(daysIn(year, m))*wallDay
	}
	return n + c.countBefore(last, upTo-last+1)
}

// countBefore returns the number of hits on a day before a second of it.
func (c *cron) countBefore(midnight, second wall) int {
	year, month, day, _ := midnight.date()
	if c.daysIn(year, month)>>day&1 == 0 || second <= 0 {
		return 0
	}
	minute := uint((second - 1) / wallMinute) // the last that counts
	n := bits.OnesCount32(c.hours&(1<<(minute/60)-1)) * bits.OnesCount64(c.minutes)
	if c.hours>>(minute/60)&1 == 1 {
		n += bits.OnesCount64(c.minutes & (2<<(minute%60) - 1))
	}
	return n
}

func (c *cron) perDay() int { return bits.OnesCount64(c.minutes) * bits.OnesCount32(c.hours) }

// count goes from day to day.
func (r *rolled) count(from, upTo wall) (n int) {
	from, upTo = max(from, minWall), min(upTo, maxWall)
	if from > upTo {
		return 0
	}
	for d := dateOf(from); midnightOf(d) <= upTo; {
		n += r.countOn(d, max(0, from-midnightOf(d)), min(wallDay-1, upTo-midnightOf(d)))
		later, ok := r.dateAfter(d)
		if !ok {
			break
		}
		d = later
	}
	return n
}

// countOn returns the number of hits on a day from one time of day to another.
func (r *rolled) countOn(d calendar.Date, from, upTo wall) (n int) {
	closes := r.closes(d)
	if upTo = min(upTo, closes-1); from > upTo {
		return 0
	}
	if r.policy == calendar.Skip || r.full(d+r.toSource()) {
		return r.walls.count(midnightOf(d)+from, midnightOf(d)+upTo)
	}
	if _, same := r.walls.(*cron); same { // each of its days has the same times
		found, whole := false, true
		r.eachSource(d, closes, func(source calendar.Date, first wall) {
			if found {
				return
			}
			whole = whole && first <= from
			n = r.walls.count(midnightOf(source)+from, midnightOf(source)+upTo)
			found = n > 0
		})
		if whole {
			return n
		}
	}
	n = 0
	for w, ok := r.nextOn(d, from); ok && w <= midnightOf(d)+upTo; w, ok = r.nextOn(d, w-midnightOf(d)+1) {
		n++
	}
	return n
}
