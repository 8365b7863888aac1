package schedule

import (
	"math/bits"
	"time"
)

// dayRule says which days of a month match, by the day of the month, the day of the week, or both.
type dayRule struct {
	month       uint32 // bit d: day d of the month, 1 to 31
	last        bool   // L: the last day of the month
	lastWorkday bool   // LW: the last Monday to Friday of the month
	week        uint8  // bit d: day d of the week, 0 is Sunday
	nth         [7]uint8
	lastOf      uint8 // bit d: FRIL, the last such day of the week in the month
	both        bool  // a day must match both fields, not only one
}

const (
	allWeek = 1<<7 - 1
	// weekly has the bits 0, 7, 14, 21 and 28: shifted by d, all days of a month that fall on the weekday of day d.
	weekly uint32 = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
)

// in returns the matching days of a month, bit d for day d.
func (r *dayRule) in(year int, month time.Month) uint32 {
	n := daysIn(year, month)
	all := uint32(1)<<(n+1) - 2
	if r.both && r.month&all == all && r.week == allWeek {
		return all
	}
	first := weekdayOfFirst(year, month)
	byMonth, byWeek := r.byMonth(n, first)&all, r.byWeek(n, first)&all
	if r.both {
		return byMonth & byWeek
	}
	return byMonth | byWeek
}

// byMonth returns the days that the day-of-month field names, in a month of n days whose first is the given weekday.
func (r *dayRule) byMonth(n int, first time.Weekday) uint32 {
	days := r.month
	if r.last {
		days |= 1 << n
	}
	if r.lastWorkday {
		switch last := (int(first) + n - 1) % 7; time.Weekday(last) {
		case time.Saturday:
			days |= 1 << (n - 1)
		case time.Sunday:
			days |= 1 << (n - 2)
		default:
			days |= 1 << n
		}
	}
	return days
}

// byWeek returns the days that the day-of-week field names.
func (r *dayRule) byWeek(n int, first time.Weekday) uint32 {
	var days uint32
	for weekday := range 7 {
		on := weekly << (1 + (weekday-int(first)+7)%7)
		if r.week>>weekday&1 == 1 {
			days |= on
		}
		if r.nth[weekday] != 0 {
			days |= nthOf(on, r.nth[weekday])
		}
		if r.lastOf>>weekday&1 == 1 {
			days |= 1 << (bits.Len32(on&(1<<(n+1)-1)) - 1)
		}
	}
	return days
}

// nthOf keeps the nth of the days in on, for each bit n of nth, 1 to 5.
func nthOf(on uint32, nth uint8) uint32 {
	first := bits.TrailingZeros32(on)
	var days uint32
	for n := 1; n <= 5; n++ {
		if nth>>n&1 == 1 {
			days |= 1 << (first + 7*(n-1))
		}
	}
	return days & on
}

func daysIn(year int, month time.Month) int {
	switch month {
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	default:
		return 31
	}
}

func weekdayOfFirst(year int, month time.Month) time.Weekday {
	return Wall(year, month, 1, 0, 0, 0).Weekday()
}

// everMatches tells whether the rule finds a day in one of the months at all. The calendar repeats after 400 years.
func (c *cron) everMatches() bool {
	for year := 2000; year < 2400; year++ {
		for month := time.January; month <= time.December; month++ {
			if c.daysIn(year, month) != 0 {
				return true
			}
		}
	}
	return false
}
