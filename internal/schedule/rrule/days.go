package rrule

import (
	"math/bits"
	"time"
)

// dayRule says which days match, as BYMONTH, BYMONTHDAY and BYDAY have it, with what the start fills in.
type dayRule struct {
	months    uint16    // bit m: month m, 1 to 12
	monthDays uint32    // bit d: day d of the month, 1 to 31
	fromEnd   uint32    // bit d: day d from the end of the month, 1 is the last
	byMonth   bool      // BYMONTHDAY, or a start in its stead, restricts
	byWeek    bool      // BYDAY restricts
	weekdays  uint8     // bit d: every day d of the week, 0 is Sunday
	nth       [7]uint64 // bit n: the nth such day of the month or year
	last      [7]uint64 // bit n: the nth from the end
	inYear    bool      // nth and last count in the year, not in the month
}

const (
	maxDays = 6 * 64 // more than a year has
	allDays = 1<<32 - 2
)

// daySet is the days of a period that match: bit i is the ith day from its first.
type daySet [6]uint64

// daysIn returns the matching days of a period.
func (r *Rule) daysIn(base, p int64) (set daySet) {
	switch r.freq {
	case Yearly:
		return r.years[kindOf(base, int(p))]
	case Monthly:
		year := int(floorDiv(p, 12))
		set[0] = uint64(r.days.inMonth(year, time.Month(p-int64(year)*12+1)) >> 1)
	case Weekly:
		year, month, first := date(base)
		set[0] = uint64(r.days.inMonth(year, month) >> first)
		if rest := lengthOf(year, month) - first + 1; rest < 7 {
			year, month, _ = date(base + 6)
			set[0] |= uint64(r.days.inMonth(year, month)>>1) << rest
		}
		set[0] &= 1<<7 - 1
	default:
		year, month, d := date(base)
		set[0] = uint64(r.days.inMonth(year, month) >> d & 1)
	}
	return set
}

// inMonth returns the matching days of a month, bit d for day d; days that BYDAY counts in a year are not among them.
func (r *dayRule) inMonth(year int, month time.Month) uint32 {
	if r.months>>month&1 == 0 {
		return 0
	}
	n := lengthOf(year, month)
	days := uint32(allDays) & (1<<(n+1) - 1)
	if r.byMonth {
		days &= r.monthDays | uint32(bits.Reverse64(uint64(r.fromEnd))>>(62-n))
	}
	if r.byWeek && !r.inYear {
		days &= r.byWeekday(n, weekdayOfDay(dayOf(year, month, 1)))
	}
	return days
}

// byWeekday returns the days that BYDAY names in a month of n days whose first is the given weekday.
func (r *dayRule) byWeekday(n int, first time.Weekday) (days uint32) {
	const weekly = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	for weekday := range 7 {
		start := 1 + (weekday-int(first)+7)%7
		if r.weekdays>>weekday&1 == 1 {
			days |= weekly << start
		}
		for mask := r.nth[weekday]; mask != 0; mask &= mask - 1 {
			days |= 1 << min(start+7*(bits.TrailingZeros64(mask)-1), 63)
		}
		end := start + (n-start)/7*7
		for mask := r.last[weekday]; mask != 0; mask &= mask - 1 {
			if d := end - 7*(bits.TrailingZeros64(mask)-1); d > 0 {
				days |= 1 << d
			}
		}
	}
	return days
}

// kinds is how many kinds of year there are: they begin on one of seven days, and are leap years or not.
const kinds = 14

// kindOf returns the kind of a year, of which base is the first day.
func kindOf(base int64, year int) int {
	return int(weekdayOfDay(base)) + 7*(lengthOf(year, time.February)-28)
}

// setYears works out the matching days of each kind of year, so that a yearly rule is not worked out anew in each.
func (r *Rule) setYears() {
	if r.freq != Yearly {
		return
	}
	r.years = &[kinds]daySet{}
	for year := 2000; year < 2028; year++ {
		r.years[kindOf(dayOf(year, time.January, 1), year)] = r.days.inYearOf(year)
	}
}

// inYearOf returns the matching days of a year.
func (r *dayRule) inYearOf(year int) (set daySet) {
	offset := 0
	for month := time.January; month <= time.December; month++ {
		set.add(offset, uint64(r.inMonth(year, month)>>1))
		offset += lengthOf(year, month)
	}
	if !r.byWeek || !r.inYear {
		return set
	}
	named := r.weekdaysOfYear(offset, weekdayOfDay(dayOf(year, time.January, 1)))
	for i := range set {
		set[i] &= named[i]
	}
	return set
}

// weekdaysOfYear returns the days that BYDAY names in a year of n days whose first is the given weekday.
func (r *dayRule) weekdaysOfYear(n int, first time.Weekday) (set daySet) {
	for weekday := range 7 {
		start := (weekday - int(first) + 7) % 7
		end := start + (n-1-start)/7*7
		if r.weekdays>>weekday&1 == 1 {
			for i := start; i < n; i += 7 {
				set.add(i, 1)
			}
		}
		for mask := r.nth[weekday]; mask != 0; mask &= mask - 1 {
			if i := start + 7*(bits.TrailingZeros64(mask)-1); i < n {
				set.add(i, 1)
			}
		}
		for mask := r.last[weekday]; mask != 0; mask &= mask - 1 {
			if i := end - 7*(bits.TrailingZeros64(mask)-1); i >= 0 {
				set.add(i, 1)
			}
		}
	}
	return set
}

// nextDay returns the first day from d on that matches in its month.
func (r *dayRule) nextDay(d int64) int64 {
	year, month, first := date(d)
	mask := r.inMonth(year, month) >> first << first
	for ; mask == 0 && year <= 10000; mask = r.inMonth(year, month) {
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
	return dayOf(year, month, max(1, bits.TrailingZeros32(mask)))
}

// previousDay returns the last day up to d that matches in its month.
func (r *dayRule) previousDay(d int64) int64 {
	year, month, last := date(d)
	mask := r.inMonth(year, month) & (1<<(last+1) - 1)
	for ; mask == 0 && year >= 0; mask = r.inMonth(year, month) {
		if month--; month < time.January {
			year, month = year-1, time.December
		}
	}
	return dayOf(year, month, bits.Len32(mask)-1)
}

// add sets the days of mask, its bit 0 being the ith day.
func (s *daySet) add(i int, mask uint64) {
	s[i/64] |= mask << (i % 64)
	if rest := mask >> (63 - i%64) >> 1; rest != 0 {
		s[i/64+1] |= rest
	}
}

func (s *daySet) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s *daySet) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// before returns the number of days before the ith.
func (s *daySet) before(i int) (n int) {
	for _, word := range s[:i/64] {
		n += bits.OnesCount64(word)
	}
	return n + bits.OnesCount64(s[i/64]&(1<<(i%64)-1))
}

// nth returns the kth day of the set, from 0.
func (s *daySet) nth(k int) int {
	for i, word := range s {
		if n := bits.OnesCount64(word); k >= n {
			k -= n
			continue
		}
		for ; k > 0; k-- {
			word &= word - 1
		}
		return i*64 + bits.TrailingZeros64(word)
	}
	return maxDays
}

// from returns the first day of the set that is not before the ith.
func (s *daySet) from(i int) (int, bool) {
	for ; i < maxDays; i = (i/64 + 1) * 64 {
		if word := s[i/64] >> (i % 64); word != 0 {
			return i + bits.TrailingZeros64(word), true
		}
	}
	return 0, false
}

// upTo returns the last day of the set that is not after the ith.
func (s *daySet) upTo(i int) (int, bool) {
	for ; i >= 0; i = i/64*64 - 1 {
		if word := s[i/64] << (63 - i%64); word != 0 {
			return i - bits.LeadingZeros64(word), true
		}
	}
	return 0, false
}
