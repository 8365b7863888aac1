package calendar

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"iter"
	"slices"
	"time"
)

// Calendar is a compiled Spec. It is immutable and safe for concurrent use.
type Calendar struct {
	name     string
	weekend  uint8        // bit d: day d of the week
	holidays []Holiday    // ascending, one for each date
	closed   []uint64     // bit i: the ith day from origin is a holiday
	early    []EarlyClose // ascending, of business days only
	longest  stretch      // of days that are not business days from morning to night
}

// stretch is a run of days.
type stretch struct {
	from Date
	days int
}

var (
	origin  = NewDate(FirstYear, time.January, 1)
	horizon = NewDate(LastYear, time.December, 31)
)

// Name returns the name under which the calendar was compiled.
func (c *Calendar) Name() string { return c.name }

// Digest identifies what the calendar says: two calendars with the same digest have the same business days and early
// closes. Names do not count.
func (c *Calendar) Digest() string {
	h := fnv.New128a()
	h.Write([]byte{c.weekend})
	for _, holiday := range c.holidays {
		_ = binary.Write(h, binary.BigEndian, int32(holiday.Date))
	}
	for _, e := range c.early {
		_ = binary.Write(h, binary.BigEndian, [2]int32{int32(e.Date), int32(e.Minute)})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// IsBusinessDay tells whether a date is neither on the weekend nor a holiday. A day that ends early is a business day.
func (c *Calendar) IsBusinessDay(d Date) bool { return !c.Weekend(d) && !c.isHoliday(d) }

// Weekend tells whether a date is on the weekend.
func (c *Calendar) Weekend(d Date) bool { return c.weekend>>d.Weekday()&1 == 1 }

func (c *Calendar) isHoliday(d Date) bool {
	i := int(d - origin)
	return i >= 0 && i/64 < len(c.closed) && c.closed[i/64]>>(i%64)&1 == 1
}

// Holiday returns the name of the holiday on a date, which may be empty, and whether there is one; a weekend alone is none.
func (c *Calendar) Holiday(d Date) (name string, ok bool) {
	i, ok := slices.BinarySearchFunc(c.holidays, d, func(h Holiday, d Date) int { return int(h.Date - d) })
	if !ok {
		return "", false
	}
	return c.holidays[i].Name, true
}

// Holidays returns the holidays from one date to another, both included, in order.
func (c *Calendar) Holidays(from, upTo Date) iter.Seq[Holiday] {
	i, _ := slices.BinarySearchFunc(c.holidays, from, func(h Holiday, d Date) int { return int(h.Date - d) })
	return func(yield func(Holiday) bool) {
		for _, h := range c.holidays[i:] {
			if h.Date > upTo || !yield(h) {
				return
			}
		}
	}
}

// Closes returns the minute of the day at which business ends on a date: 0 if it is no business day, 1440 if it does not
// end early.
func (c *Calendar) Closes(d Date) int {
	if !c.IsBusinessDay(d) {
		return 0
	}
	if early, ok := c.EarlyClose(d); ok {
		return early.Minute
	}
	return minutesOfDay
}

const minutesOfDay = 24 * 60

// EarlyClose returns the early close on a date, if there is one.
func (c *Calendar) EarlyClose(d Date) (EarlyClose, bool) {
	i, ok := slices.BinarySearchFunc(c.early, d, func(e EarlyClose, d Date) int { return int(e.Date - d) })
	if !ok {
		return EarlyClose{}, false
	}
	return c.early[i], true
}
