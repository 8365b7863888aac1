package schedule

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// Spec says when a reminder falls due. Exactly one of Cron, RRule, At, Every and Anchor is set.
//
// A Spec is plain values: what it means depends on nothing else, neither the clock nor the machine nor the past.
type Spec struct {
	// Cron is a five-field expression or a macro in the grammar of the package comment, at most 512 characters.
	Cron string

	// RRule is a recurrence rule of RFC 5545 without its prefix, in the grammar of package rrule, such as
	// FREQ=MONTHLY;BYDAY=-1FR. Start, as the clocks of the zone show it, anchors INTERVAL and COUNT, and fills in the days
	// and the time of day that the rule leaves open; without Start the time of day is midnight. COUNT counts occurrences
	// that fall due: one that a policy drops is not counted, two that become one are one.
	RRule string

	// At is a single time: a local one, "2026-11-03T09:00:00", read in TimeZone, or RFC 3339 with an offset,
	// "2026-11-03T09:00:00+01:00". Whole seconds, years 1970 to 9999.
	At string

	// Every is a length of real time between occurrences, whole seconds, from MinEvery to MaxEvery. It does not follow
	// the clocks of a zone: 24h is 24 hours of elapsed time also on the day when clocks change.
	Every time.Duration

	// Origin anchors Every: the occurrences are Origin, Origin+Every, Origin+2×Every and so on. It is required with
	// Every, ignored otherwise, and must be something that is stored, such as a start or creation time, never the start
	// of a process. A fraction of a second is dropped.
	Origin time.Time

	// Anchor takes the day from a date of each recipient. The Schedule then has occurrences by ForRecipient only.
	Anchor *Anchor

	// Calendar knows the business days; nil means that every day is one. It does not go with Every.
	Calendar *calendar.Calendar

	// OnNonBusinessDay says where an occurrence goes whose nominal local time is not on a business day, or at or after its
	// early close: "" means Next. It goes with Calendar only. The time of day stays; the result is what the policies for
	// changes of the clocks are applied to.
	OnNonBusinessDay calendar.Policy

	// TimeZone is a name of the IANA time zone database; "" means UTC. See ResolveZone.
	TimeZone string

	// DayMatch says what it takes when Cron restricts both day fields; "" means DayMatchAny.
	DayMatch DayMatch

	// Gap says what becomes of a local time that the clocks skip; "" means GapShift.
	Gap GapPolicy

	// Overlap says which instant a local time means that the clocks show twice; "" means OverlapFirst.
	Overlap OverlapPolicy

	// Start and End bound the occurrences: Start <= Due < End. The zero time means no bound.
	Start, End time.Time
}

// DayMatch decides on a day when a cron expression restricts both the day of the month and the day of the week.
type DayMatch string

const (
	// DayMatchAny takes a day that matches either field, as crontab(5) does. It is the default.
	DayMatchAny DayMatch = "Any"
	// DayMatchAll takes a day only if it matches both fields.
	DayMatchAll DayMatch = "All"
)

// GapPolicy decides what becomes of a local time that does not exist, because the clocks were put forward over it.
type GapPolicy string

const (
	// GapShift reads the missing time with the offset in force before the gap, as RFC 5545 section 3.3.5 says: 02:30
	// becomes 03:30 where clocks go from 02:00 to 03:00. It is the default.
	GapShift GapPolicy = "Shift"
	// GapFirstValid takes the first instant after the gap: 02:30 becomes 03:00.
	GapFirstValid GapPolicy = "FirstValid"
	// GapSkip drops the occurrence.
	GapSkip GapPolicy = "Skip"
)

// OverlapPolicy decides which instant a local time means that occurs twice, because the clocks were put back over it.
type OverlapPolicy string

const (
	// OverlapFirst takes the first pass, as RFC 5545 section 3.3.5 says. It is the default.
	OverlapFirst OverlapPolicy = "First"
	// OverlapLast takes the second pass.
	OverlapLast OverlapPolicy = "Last"
	// OverlapBoth takes both, as two occurrences with two due times.
	OverlapBoth OverlapPolicy = "Both"
)
