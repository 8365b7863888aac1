package schedule

import (
	"fmt"
	"math/bits"
	"time"
)

const (
	allMinutes uint64 = 1<<60 - 1
	allHours   uint32 = 1<<24 - 1
	allMonths  uint16 = 1<<13 - 2

	// manyPerDay is how many occurrences of named hours are not remarkable yet: one for each hour.
	manyPerDay = 24
)

// warnings returns what is allowed but seldom meant.
func (c *cron) warnings(spec Spec) []string {
	var warnings []string
	switch n := c.perDay(); {
	case c.dense():
		warnings = append(warnings, fmt.Sprintf("%d occurrences on each matching day, minute by minute: for one an hour write 0 in the minute field", n))
	case n > manyPerDay && !c.interval && c.hours != allHours:
		warnings = append(warnings, fmt.Sprintf("%d occurrences on each matching day, within the %s: for one an hour write 0 in the minute field", n, hoursText(c.hours)))
	}
	if spec.DayMatch != DayMatchAll && !c.days.both {
		warnings = append(warnings, "both day fields are restricted: a day that matches either is taken, as crontab(5) has it; for days that match both set dayMatch: All")
	}
	return warnings
}

// dense tells whether an expression runs every minute although it restricts something else: the * was probably left
// standing.
func (c *cron) dense() bool {
	everyDay := c.months == allMonths && c.days.in(2000, time.January) == 1<<32-2
	return c.minutes == allMinutes && (c.hours != allHours || !everyDay)
}

// hoursText names hours for people: hour 9, hours 9 to 17, or how many there are if others are between.
func hoursText(hours uint32) string {
	first, last := bits.TrailingZeros32(hours), bits.Len32(hours)-1
	switch n := bits.OnesCount32(hours); n {
	case 1:
		return fmt.Sprintf("hour %d", first)
	case last - first + 1:
		return fmt.Sprintf("hours %d to %d", first, last)
	default:
		return fmt.Sprintf("%d hours that are named", n)
	}
}
