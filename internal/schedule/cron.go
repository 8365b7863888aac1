package schedule

import (
	"math/bits"
	"time"
)

// cron is a parsed cron expression: a set of times of day on a set of days, as bits.
type cron struct {
	minutes  uint64 // bit m: minute m, 0 to 59
	hours    uint32 // bit h: hour h, 0 to 23
	months   uint16 // bit m: month m, 1 to 12
	days     dayRule
	interval bool // the hour field is a wildcard: the expression counts hours rather than naming times of day
}

// limitWall bounds the search on both sides: one year more than the instants that count.
var (
	minWall = dateWall(0, time.January, 1)
	maxWall = dateWall(10000, time.December, 31)
)

// next implements walls.
func (c *cron) next(from, upTo wall) (wall, bool) {
	from, upTo = ceilMinute(max(from, minWall)), min(upTo, maxWall)
	if from > upTo {
		return 0, false
	}
	year, month, day, second := from.date()
	midnight := from - second
	days := c.daysIn(year, month) >> day
	if days&1 == 1 {
		if minute, ok := c.minuteFrom(uint(second / wallMinute)); ok {
			w := midnight + wall(minute)*wallMinute
			return w, w <= upTo
		}
	}
	first, _ := c.minuteFrom(0)
	if days &^= 1; days != 0 {
		midnight += wall(bits.TrailingZeros32(days)) * wallDay
	} else {
		midnight = c.firstDayAfter(midnight, year, month, day, upTo)
	}
	w := midnight + wall(first)*wallMinute
	return w, w <= upTo
}

// previous implements walls.
func (c *cron) previous(from, upTo wall) (wall, bool) {
	from, upTo = max(from, minWall), min(upTo, maxWall)
	if from > upTo {
		return 0, false
	}
	year, month, day, second := upTo.date()
	midnight := upTo - second
	days := c.daysIn(year, month)
	if days>>day&1 == 1 {
		if minute, ok := c.minuteUpTo(uint(second / wallMinute)); ok {
			w := midnight + wall(minute)*wallMinute
			return w, w >= from
		}
	}
	last, _ := c.minuteUpTo(24*60 - 1)
	if days &= 1<<day - 1; days != 0 {
		midnight -= wall(day-(bits.Len32(days)-1)) * wallDay
	} else {
		midnight = c.lastDayBefore(midnight, year, month, day, from)
	}
	w := midnight + wall(last)*wallMinute
	return w, w >= from
}

// each implements walls, a day at a time.
func (c *cron) each(from, upTo wall, yield func([]wall) bool) bool {
	var all batch
	for w, ok := c.next(from, upTo); ok; {
		midnight := w.midnight()
		if !c.eachInDay(&all, midnight, w-midnight, min(upTo-midnight, wallDay-1), yield) {
			return false
		}
		w, ok = c.next(midnight+wallDay, upTo)
	}
	return true
}

// eachInDay is each within one day, which matches; from and upTo are seconds of it, from a full minute.
func (c *cron) eachInDay(all *batch, midnight, from, upTo wall, yield func([]wall) bool) bool {
	skipped := from % wallHour / wallMinute
	minutes := c.minutes >> skipped << skipped
	for hour := from / wallHour; hour*wallHour <= upTo; hour, minutes = hour+1, c.minutes {
		if last := (upTo - hour*wallHour) / wallMinute; last < 59 {
			minutes &= 1<<(last+1) - 1
		}
		if c.hours>>hour&1 == 1 && minutes != 0 && !yield(all.of(midnight+hour*wallHour, minutes)) {
			return false
		}
	}
	return true
}

func ceilMinute(w wall) wall {
	midnight := w.midnight()
	return midnight + (w-midnight+wallMinute-1)/wallMinute*wallMinute
}

// minuteFrom returns the first minute of a day that is in the set and not before from, a minute of a day.
func (c *cron) minuteFrom(from uint) (uint, bool) {
	hour, minute := from/60, from%60
	if c.hours>>hour&1 == 1 {
		if rest := c.minutes >> minute; rest != 0 {
			return from + uint(bits.TrailingZeros64(rest)), true
		}
	}
	later := c.hours >> (hour + 1)
	if later == 0 {
		return 0, false
	}
	hour += 1 + uint(bits.TrailingZeros32(later))
	return hour*60 + uint(bits.TrailingZeros64(c.minutes)), true
}

// minuteUpTo returns the last minute of a day that is in the set and not after upTo, a minute of a day.
func (c *cron) minuteUpTo(upTo uint) (uint, bool) {
	hour, minute := upTo/60, upTo%60
	if c.hours>>hour&1 == 1 {
		if rest := c.minutes << (63 - minute); rest != 0 {
			return upTo - uint(bits.LeadingZeros64(rest)), true
		}
	}
	earlier := c.hours & (1<<hour - 1)
	if earlier == 0 {
		return 0, false
	}
	hour = uint(bits.Len32(earlier)) - 1
	return hour*60 + uint(bits.Len64(c.minutes)) - 1, true
}

// firstDayAfter returns the start of the first matching day after the month of a day, or a time after upTo if there is none
// before.
func (c *cron) firstDayAfter(midnight wall, year int, month time.Month, day int, upTo wall) wall {
	begin := midnight + wall(daysIn(year, month)-day+1)*wallDay
	for begin <= upTo {
		if month++; month > time.December {
			year, month = year+1, time.January
		}
		if days := c.daysIn(year, month); days != 0 {
			return begin + wall(bits.TrailingZeros32(days)-1)*wallDay
		}
		begin += wall(daysIn(year, month)) * wallDay
	}
	return begin
}

// lastDayBefore returns the start of the last matching day before the month of a day, or a time days before from if there is
// none after.
func (c *cron) lastDayBefore(midnight wall, year int, month time.Month, day int, from wall) wall {
	begin := midnight - wall(day-1)*wallDay
	for begin > from {
		if month--; month < time.January {
			year, month = year-1, time.December
		}
		begin -= wall(daysIn(year, month)) * wallDay
		if days := c.daysIn(year, month); days != 0 {
			return begin + wall(bits.Len32(days)-2)*wallDay
		}
	}
	return minWall - 2*wallDay
}

// daysIn returns the matching days of a month, bit d for day d.
func (c *cron) daysIn(year int, month time.Month) uint32 {
	if c.months>>month&1 == 0 {
		return 0
	}
	return c.days.in(year, month)
}
