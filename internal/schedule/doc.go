// Package schedule turns a schedule into its occurrences: cron expressions, recurrence rules, single times, intervals and
// dates of recipients, in any zone of the IANA time zone database, across every change of the clocks.
//
// One rule holds for all of them: expand in wall time, let the calendar move what is on no business day, then map each
// wall time to an instant by policy. What names wall times (cron, package rrule, a local at, an anchor) implements walls
// and knows no zone; rolled is a series of walls by a calendar; the resolver alone knows zones. The policies are
// calendar.Policy for days that are no business days, GapPolicy for local times that do not exist and OverlapPolicy for
// those that occur twice.
//
// A Schedule is asked by Next, Previous, Between and Count, which agree with each other. In gives the same schedule in
// another zone, and ForRecipient that of one recipient's date; for both, In comes first.
//
// What holds always: occurrences are strictly increasing; those that land on one instant are one; none is earlier than
// its nominal local time; Due is in UTC and in whole seconds, from year 1 to 9999.
//
// # Grammar of cron expressions
//
//	expression = minute hour day-of-month month day-of-week | macro
//	field      = element { "," element }
//	element    = "*" [ "/" step ] | value [ "-" value [ "/" step ] ]
//	minute     = 0-59    hour = 0-23    day-of-month = 1-31    month = 1-12 or JAN-DEC
//	day-of-week = 0-7 or SUN-SAT, both 0 and 7 are Sunday; at the end of a range SUN is 7
//	also       = "L" | "LW" in day-of-month: the last day, the last Monday to Friday of the month
//	           | day "#" 1-5 | day "L" in day-of-week: MON#2 the second Monday, FRIL the last Friday of the month
//	macro      = @hourly @daily @midnight @weekly @monthly @yearly @annually
//
// Letters may have either case. If both day fields are restricted a day that matches either is taken (DayMatchAny); a
// field that starts with * is not restricted, and then a day must match both. An hour field that starts with * makes
// the expression an interval: it runs through both passes of a repeated hour and loses nothing in a skipped one.
//
// # What this package may not do
//
// It is pure: no I/O, no reading of the clock, no goroutines, nothing of Kubernetes or NATS. Time is an argument, and
// equal arguments give equal results on every machine, because the time zone database is embedded (TZDataVersion). No
// input takes more than some milliseconds to refuse or to expand by one occurrence.
package schedule
