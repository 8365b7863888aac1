package rrule

import (
	"slices"
	"time"
)

// Periods are numbered: days and weeks from 1970-01-01, months and years from year 0. A week begins on WKST.

// period returns the number of the period that holds a day.
func (r *Rule) period(d int64) int64 {
	switch r.freq {
	case Daily:
		return d
	case Weekly:
		return floorDiv(d-r.weekOrigin(), 7)
	case Monthly:
		year, month, _ := date(d)
		return int64(year)*12 + int64(month) - 1
	default:
		year, _, _ := date(d)
		return int64(year)
	}
}

// weekOrigin is the first day from 1970-01-01, a Thursday, on that is WKST.
func (r *Rule) weekOrigin() int64 { return (int64(r.parts.weekStart) - int64(time.Thursday) + 7) % 7 }

// base returns the first day of a period.
func (r *Rule) base(p int64) int64 {
	switch r.freq {
	case Daily:
		return p
	case Weekly:
		return p*7 + r.weekOrigin()
	case Monthly:
		return dayOf(int(floorDiv(p, 12)), time.Month(p-floorDiv(p, 12)*12+1), 1)
	default:
		return dayOf(int(p), time.January, 1)
	}
}

// periodFrom returns the period of the rule that holds a day, or else the first one after it.
func (r *Rule) periodFrom(d int64) int64 {
	return r.first + ceilDiv(r.period(d)-r.first, r.interval)*r.interval
}

// periodUpTo returns the period of the rule that holds a day, or else the last one before it.
func (r *Rule) periodUpTo(d int64) int64 {
	return r.first + floorDiv(r.period(d)-r.first, r.interval)*r.interval
}

// skipMonths returns the last period of the rule, from p on, before the next month that BYMONTH names or in which a day of
// the month can be hit, so that a rule of days need not look at each.
func (r *Rule) skipMonths(p int64) int64 {
	if r.freq != Daily {
		return p
	}
	next := r.days.nextDay(p + 1)
	return r.first + (ceilDiv(next-r.first, r.interval)-1)*r.interval
}

// skipMonthsBack is skipMonths the other way.
func (r *Rule) skipMonthsBack(p int64) int64 {
	if r.freq != Daily {
		return p
	}
	previous := r.days.previousDay(p - 1)
	return r.first + (floorDiv(previous-r.first, r.interval)+1)*r.interval
}

// nextIn returns the first hit of a period that is not before from.
func (r *Rule) nextIn(base, p, from int64) (int64, bool) {
	days := r.daysIn(base, p)
	if r.chosen != nil {
		n := days.len() * len(r.times)
		k, ok := r.chosen.from(r.upTo(&days, base, from-1), n)
		return r.at(&days, base, k), ok
	}
	index, second := 0, int64(0)
	if ahead := from - base*day; ahead > 0 {
		index, second = int(ahead/day), ahead%day
	}
	i, ok := days.from(index)
	if ok && i == index {
		if k, _ := slices.BinarySearch(r.times, second); k < len(r.times) {
			return (base+int64(i))*day + r.times[k], true
		}
		i, ok = days.from(i + 1)
	}
	return (base+int64(i))*day + r.times[0], ok
}

// previousIn returns the last hit of a period that is not after upTo.
func (r *Rule) previousIn(base, p, upTo int64) (int64, bool) {
	days := r.daysIn(base, p)
	if r.chosen != nil {
		n := days.len() * len(r.times)
		k, ok := r.chosen.upTo(r.upTo(&days, base, upTo)-1, n)
		return r.at(&days, base, k), ok
	}
	index := min(int((upTo-base*day)/day), maxDays-1)
	second := upTo - (base+int64(index))*day
	i, ok := days.upTo(index)
	if ok && i == index {
		if k, _ := slices.BinarySearch(r.times, second+1); k > 0 {
			return (base+int64(i))*day + r.times[k-1], true
		}
		i, ok = days.upTo(i - 1)
	}
	return (base+int64(i))*day + r.times[len(r.times)-1], ok
}

// at returns the kth time of a period, from 0, before BYSETPOS chooses.
func (r *Rule) at(days *daySet, base int64, k int) int64 {
	return (base+int64(days.nth(k/len(r.times))))*day + r.times[k%len(r.times)]
}

// upTo returns how many times of a period are not after a wall time, before BYSETPOS chooses.
func (r *Rule) upTo(days *daySet, base, wall int64) int {
	if wall < base*day {
		return 0
	}
	index := (wall - base*day) / day
	if index >= maxDays {
		return days.len() * len(r.times)
	}
	n := days.before(int(index)) * len(r.times)
	if days.has(int(index)) {
		k, _ := slices.BinarySearch(r.times, wall-(base+index)*day+1)
		n += k
	}
	return n
}

// rank returns the number of hits of a period that are not after a wall time.
func (r *Rule) rank(base, p, wall int64) int {
	days := r.daysIn(base, p)
	n := r.upTo(&days, base, wall)
	if r.chosen != nil {
		n = r.chosen.count(n, days.len()*len(r.times))
	}
	return n
}
