// Package calendar knows the business days: all days but the weekend and the holidays of a country, of explicit dates, of
// an iCalendar file, and of other calendars that are included.
//
// A Spec is what people write, a Calendar what it means. A Calendar answers in a few steps whatever the date: the holidays
// of all sources from FirstYear to LastYear are worked out once, when it is compiled; outside these years only the weekend
// counts. Dates are values without a zone; what zone a day is in is for package schedule to say.
//
// Roll moves a date to a business day by a Policy. It rolls on until one is reached, over weekends and holidays in any
// order; a calendar that would roll for more than 366 days is refused when it is compiled, so that no roll is endless.
//
// The package is pure: no I/O, no clock, nothing of Kubernetes. The zone of the machine plays no part, although the
// library of holidays computes in it.
package calendar
