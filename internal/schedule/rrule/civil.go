package rrule

import "time"

// Days are counted from 1970-01-01. The two conversions are those of the standard library, without its times of day:
// rules do little else. Years are shifted so that they begin in March, with the leap day at their end.

// date returns the date of a day.
func date(d int64) (year int, month time.Month, monthDay int) {
	d += 719468 // from 0000-03-01
	era := floorDiv(d, 146097)
	inEra := d - era*146097
	yearOfEra := (inEra - inEra/1460 + inEra/36524 - inEra/146096) / 365
	inYear := inEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*inYear + 2) / 153
	monthDay = int(inYear-(153*shifted+2)/5) + 1
	year, month = int(yearOfEra+era*400), time.Month(shifted+3)
	if month > time.December {
		year, month = year+1, month-12
	}
	return year, month, monthDay
}

// dayOf returns the day of a date that exists.
func dayOf(year int, month time.Month, monthDay int) int64 {
	y, shifted := int64(year), int64(month)-3
	if shifted < 0 {
		y, shifted = y-1, shifted+12
	}
	era := floorDiv(y, 400)
	yearOfEra := y - era*400
	inYear := (153*shifted+2)/5 + int64(monthDay) - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + inYear - 719468
}

// weekdayOfDay returns the day of the week of a day.
func weekdayOfDay(d int64) time.Weekday { return time.Weekday(d + 4 - floorDiv(d+4, 7)*7) }

func lengthOf(year int, month time.Month) int {
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

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
