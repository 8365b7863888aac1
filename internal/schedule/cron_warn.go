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
)

// warnings returns what is allowed but seldom meant.
func (c *cron) warnings(spec Spec) []string {
	var warnings []string
	if c.dense() {
		n := bits.OnesCount64(c.minutes) * bits.OnesCount32(c.hours)
		warnings = append(warnings, fmt.Sprintf("%d occurrences on each matching day, minute by minute: for one an hour write 0 in the minute field", n))
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
