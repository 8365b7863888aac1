package calendar

import (
	"fmt"
	"time"
)

// Spec says which days are business days. The sources of holidays add up.
type Spec struct {
	// Weekend are the days of the week that are no business days, at most 6; nil for none.
	Weekend []time.Weekday
	// Country is an ISO 3166-1 code in capitals, such as DE, or EU for the days on which TARGET, the euro's payment
	// system, is closed; "" for none. See Countries.
	Country string
	// Region is an ISO 3166-2 code, such as DE-BY; "" for the holidays of the whole country only. See Regions.
	Region string
	// Holidays are further days that are no business days, in the years FirstYear to LastYear.
	Holidays []Holiday
	// EarlyCloses are business days that end early.
	EarlyCloses []EarlyClose
	// ICalendar is the text of an iCalendar file (RFC 5545), whose all-day events are holidays; "" for none.
	ICalendar string
	// Include are the names of other calendars whose holidays are added, but neither their weekends nor their early closes.
	Include []string
}

// Holiday is a day that is no business day.
type Holiday struct {
	Date Date
	Name string // may be empty
}

// EarlyClose is a business day that ends early: what comes at or after that time comes on a day that is no business day.
type EarlyClose struct {
	Date   Date
	Minute int    // of the day, 1 to 1439
	Name   string // may be empty
}

// Policy says where an occurrence goes that falls on a day that is no business day.
type Policy string

const (
	// Next moves it to the next business day. It is what "" means.
	Next Policy = "Next"
	// Previous moves it to the previous business day.
	Previous Policy = "Previous"
	// Skip drops it.
	Skip Policy = "Skip"
	// Keep leaves it where it is.
	Keep Policy = "Keep"
)

// Outcome says what a roll did.
type Outcome uint8

const (
	// Unmoved: the day is a business day.
	Unmoved Outcome = iota
	// Moved: the day is no business day, and the result is another one.
	Moved
	// Skipped: the day is no business day, and the policy drops it.
	Skipped
	// Kept: the day is no business day, and the policy leaves it.
	Kept
)

// FieldError says what is wrong with one field of a Spec and what to write instead. Every error of Compile is one.
type FieldError struct {
	Calendar string // the name of the calendar at fault, which may be one that is included
	Field    string // as users write it, below spec: "country", "include[0]"
	Value    string // what was written, shortened
	Reason   string // what is wrong
	Hint     string // what to write instead
	Missing  string // the name of an included calendar that does not exist (yet)
	// Cycle: calendars include each other. NeverOpen: there is no business day within MaxRoll days.
	Cycle, NeverOpen bool
}

// Error names the calendar, the field, the reason and the hint in one line.
func (e *FieldError) Error() string {
	return fmt.Sprintf("calendar %q: %s: %s; %s", e.Calendar, e.Field, e.Reason, e.Hint)
}

// fault is a FieldError of a calendar whose name the caller fills in.
func fault(field, value, reason, hint string) *FieldError {
	return &FieldError{Field: field, Value: clip(value), Reason: reason, Hint: hint}
}

// Limits of a Spec.
const (
	MaxHolidays    = 1000 // Spec.Holidays
	MaxEarlyCloses = 366  // Spec.EarlyCloses
	MaxInclude     = 16   // Spec.Include
	MaxName        = 128  // the name of a day, in characters
	MaxCalendars   = 64   // a calendar with all that it includes, directly and indirectly
	MaxRoll        = 366  // days without a business day
)
