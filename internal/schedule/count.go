package schedule

import (
	"math/bits"
	"time"
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
		w, ok := r.walls.next(wall(p.end)-reach, maxWall)
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
