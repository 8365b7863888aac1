// Package rrule expands recurrence rules of RFC 5545 in wall time: floating dates and times, in no zone.
//
// A rule is a set of days in each period (a day, a week, a month or a year, every INTERVAL of them from the start on),
// times a set of times of day, from which BYSETPOS may choose. The days of a period are bits, so that finding the next
// or the previous hit costs a handful of operations whatever its distance from the start, and allocates nothing.
//
// FREQ is DAILY, WEEKLY, MONTHLY or YEARLY, with INTERVAL, COUNT, UNTIL, BYMONTH, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE,
// BYSETPOS and WKST. All else is refused by name. Dates that do not exist, such as 31 April, are left out, as the RFC has
// it. The start is a bound and fills in what the rule leaves open; it is a hit only if the rule names it.
//
// The package is pure and imports the standard library only. Wall times are seconds from 1970-01-01T00:00:00, each day
// having 86400.
package rrule
