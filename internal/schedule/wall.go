package schedule

import (
	"fmt"
	"time"
)

// WallTime is what a calendar and a clock on the wall show together, to the second, in no particular zone. Two of them
// compare with ==. The zero value is 1970-01-01T00:00:00.
type WallTime struct{ w wall }

// wall counts seconds of wall time from 1970-01-01T00:00:00, each day having 86400. instant counts seconds of real time
// from 1970-01-01T00:00:00Z. They are two types so that one is never taken for the other.
type (
	wall    int64
	instant int64
)

const (
	wallMinute wall = 60
	wallHour        = 60 * wallMinute
	wallDay         = 24 * wallHour
)

// wallLayout is the local form of RFC 3339, and of ISO 8601.
const wallLayout = "2006-01-02T15:04:05"

// Wall returns the wall time of a date and a time of day; values out of range carry over, as time.Date has it.
func Wall(year int, month time.Month, day, hour, minute, second int) WallTime {
	return WallTime{wall(time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix())}
}

// ParseWallTime reads the form of String, years 0 to 9999, and nothing else. The error is a *FieldError of the field
// "localTime".
func ParseWallTime(text string) (WallTime, error) {
	at, err := time.Parse(wallLayout, text)
	if err != nil || len(text) != len(wallLayout) {
		f := whole("localTime", text, fmt.Sprintf("%q is not a local time", shown(text)), "write one such as 2026-11-03T09:00:00, without an offset")
		return WallTime{}, f
	}
	return WallTime{wall(at.Unix())}, nil
}

// String returns the wall time as "2006-01-02T15:04:05", without a zone or an offset.
func (t WallTime) String() string { return t.utc().Format(wallLayout) }

// MarshalText is String, for JSON.
func (t WallTime) MarshalText() ([]byte, error) { return t.utc().AppendFormat(nil, wallLayout), nil }

// Date returns the calendar date.
func (t WallTime) Date() (year int, month time.Month, day int) { return t.utc().Date() }

// Clock returns the time of day.
func (t WallTime) Clock() (hour, minute, second int) { return t.utc().Clock() }

// Weekday returns the day of the week.
func (t WallTime) Weekday() time.Weekday { return t.utc().Weekday() }

// Add returns the wall time d later on the clock on the wall; a fraction of a second is dropped.
func (t WallTime) Add(d time.Duration) WallTime { return WallTime{t.w + wall(d/time.Second)} }

// utc is the wall time as if it were read in UTC: the standard library's calendar, without a zone.
func (t WallTime) utc() time.Time { return time.Unix(int64(t.w), 0).UTC() }

// date returns the date of w and the second of its day.
func (w wall) date() (year int, month time.Month, day int, second wall) {
	year, month, day = time.Unix(int64(w), 0).UTC().Date()
	return year, month, day, w - w.midnight()
}

// midnight returns the start of the day of w.
func (w wall) midnight() wall {
	day := w / wallDay
	if w%wallDay < 0 {
		day--
	}
	return day * wallDay
}

func dateWall(year int, month time.Month, day int) wall { return Wall(year, month, day, 0, 0, 0).w }
