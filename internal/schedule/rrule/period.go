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
	if len(r.setPos) > 0 {
		return r.chosen(&days, base, func(w int64) bool { return w >= from }, func(a, b int64) bool { return a < b })
	}
	index, second := 0, int64(0)
	if floor := from - base*day; floor > 0 && from > minWall-day {
		index, second = int(floor/day), floor%day
	}
	for i, ok := days.from(index); ok; i, ok = days.from(i + 1) {
		for _, t := range r.times {
			if i > index || t >= second {
				return (base+int64(i))*day + t, true
			}
		}
	}
	return 0, false
}

// previousIn returns the last hit of a period that is not after upTo.
func (r *Rule) previousIn(base, p, upTo int64) (int64, bool) {
	days := r.daysIn(base, p)
	if len(r.setPos) > 0 {
		return r.chosen(&days, base, func(w int64) bool { return w <= upTo }, func(a, b int64) bool { return a > b })
	}
	index := min(int((upTo-base*day)/day), maxDays-1)
	second := upTo - base*day - int64(index)*day
	for i, ok := days.upTo(index); ok; i, ok = days.upTo(i - 1) {
		for _, t := range slices.Backward(r.times) {
			if i < index || t <= second {
				return (base+int64(i))*day + t, true
			}
		}
	}
	return 0, false
}

// chosen returns the best of the hits that BYSETPOS chooses and that are wanted.
func (r *Rule) chosen(days *daySet, base int64, wanted func(int64) bool, better func(a, b int64) bool) (best int64, found bool) {
	n := days.len() * len(r.times)
	for _, pos := range r.setPos {
		w, ok := r.at(days, base, n, pos)
		if ok && wanted(w) && (!found || better(w, best)) {
			best, found = w, true
		}
	}
	return best, found
}

// at returns the hit at a position of BYSETPOS among the n of a period.
func (r *Rule) at(days *daySet, base int64, n, pos int) (int64, bool) {
	k := pos - 1
	if pos < 0 {
		k = n + pos
	}
	if k < 0 || k >= n {
		return 0, false
	}
	return (base+int64(days.nth(k/len(r.times))))*day + r.times[k%len(r.times)], true
}

// rank returns the number of hits of a period that are not after upTo.
func (r *Rule) rank(base, p, upTo int64) int {
	if upTo < base*day {
		return 0
	}
	days := r.daysIn(base, p)
	if len(r.setPos) > 0 {
		return r.chosenUpTo(&days, base, upTo)
	}
	index := (upTo - base*day) / day
	if index >= maxDays {
		return days.len() * len(r.times)
	}
	n := days.before(int(index)) * len(r.times)
	if days.has(int(index)) {
		second := upTo - (base+index)*day
		for _, t := range r.times {
			if t <= second {
				n++
			}
		}
	}
	return n
}

// chosenUpTo is rank with BYSETPOS. A position may be named from both ends.
func (r *Rule) chosenUpTo(days *daySet, base, upTo int64) (count int) {
	n := days.len() * len(r.times)
	for _, pos := range r.setPos {
		w, ok := r.at(days, base, n, pos)
		if ok && w <= upTo && (pos > 0 || !slices.Contains(r.setPos, n+pos+1)) {
			count++
		}
	}
	return count
}
