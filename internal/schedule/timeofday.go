package schedule

import (
	"fmt"
	"time"
)

// TimeOfDay is an hour and a minute on a clock on the wall.
type TimeOfDay struct{ minute int }

// ParseTimeOfDay reads the form 17:00. The error is a *FieldError of the field "time".
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	t, f := parseTimeOfDay(text)
	if f != nil {
		return TimeOfDay{}, f.in("time", text)
	}
	return t, nil
}

func parseTimeOfDay(text string) (TimeOfDay, *fault) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return TimeOfDay{}, &fault{pos: -1, reason: fmt.Sprintf("%q is not a time of day", shown(text)), hint: "write hours and minutes, from 00:00 to 23:59, such as 09:00"}
	}
	return TimeOfDay{t.Hour()*60 + t.Minute()}, nil
}

// String returns the time of day as 17:00.
func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", t.minute/60, t.minute%60) }

// NextTimeOfDay returns the first instant strictly after the given one at which the clocks of the schedule's zone show a
// time of day: what deadlineTimeOfDay means for an occurrence that is due then. Where the clocks skip it, it is read with the
// offset before the gap, whatever the schedule's policy: a deadline is never dropped. Of two passes of a repeated hour the
// next counts. It returns false only at the end of the year 9999.
func (s *Schedule) NextTimeOfDay(after time.Time, t TimeOfDay) (time.Time, bool) {
	daily := &cron{minutes: 1 << (t.minute % 60), hours: 1 << (t.minute / 60), months: allMonths, days: everyDay()}
	h, ok := (&resolver{walls: daily, zone: s.zone, gap: GapShift, overlap: OverlapBoth}).next(clamp(after) + 1)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(int64(h.at), 0).UTC(), true
}

func everyDay() dayRule { return dayRule{month: 1<<32 - 2, week: allWeek, both: true} }
