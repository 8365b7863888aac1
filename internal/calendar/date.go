package calendar

import (
	"fmt"
	"time"
)

// Date is a day of the Gregorian calendar, in no zone. It counts days from 1970-01-01, so that dates compare with == and <,
// and the difference of two is a number of days.
type Date int32

// Years for which holidays are known.
const (
	FirstYear = 1970
	LastYear  = 2100
)

const secondsOfDay = 24 * 60 * 60

// NewDate returns the date of a year, month and day; values out of range carry over, as time.Date has it.
func NewDate(year int, month time.Month, day int) Date {
	return Date(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), secondsOfDay))
}

// DateOf returns the date of a time in the time's own zone.
func DateOf(t time.Time) Date { return NewDate(t.Date()) }

// ParseDate reads exactly the form 2026-12-24, a day that exists.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a day of the calendar such as 2026-12-24", clip(text))
	}
	return DateOf(t), nil
}

func (d Date) utc() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// Date returns the year, the month and the day of the month.
func (d Date) Date() (year int, month time.Month, day int) { return d.utc().Date() }

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return time.Weekday((int64(d)%7 + 4 + 7) % 7) }

// String returns the date as 2026-12-24.
func (d Date) String() string { return d.utc().Format(time.DateOnly) }

// MarshalText is String, for JSON.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// clip shortens text that an error repeats, and keeps it on one line.
func clip(text string) string { return cleaned(text, 64) }
