package schedule

import (
	"fmt"
	"strings"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// Anchor takes the day of the occurrence from a date that each recipient brings along.
type Anchor struct {
	// Attribute is the recipient's attribute that holds the date, such as renewalDate.
	Attribute string
	// Offset is added to the date: an ISO 8601 period with a sign in front, such as -P3D, -P1M, P2W, or of business days,
	// -P3BD; "" is P0D. See ParsePeriod.
	Offset string
	// Time is the local time of day, such as "09:00".
	Time string
}

// anchor is a compiled Anchor.
type anchor struct {
	attribute string
	offset    Period
	time      TimeOfDay
}

// setAnchor makes the schedule one that has occurrences for recipients only, by ForRecipient.
func (s *Schedule) setAnchor(spec Spec) *FieldError {
	written := spec.Anchor
	if written.Attribute == "" {
		return whole("anchor.attribute", "", "the attribute is empty", "write the attribute that holds the date, such as renewalDate")
	}
	offset, f := parsePeriod(orDefault(written.Offset, "P0D"))
	if f != nil {
		return f.in("anchor.offset", written.Offset)
	}
	if strings.Contains(written.Offset, "BD") && spec.Calendar == nil {
		return whole("anchor.offset", written.Offset, "business days need a calendar", "set calendarName, or write "+strings.Replace(written.Offset, "BD", "D", 1))
	}
	timeOfDay, f := parseTimeOfDay(written.Time)
	if f != nil {
		return f.in("anchor.time", written.Time)
	}
	s.anchor = &anchor{attribute: written.Attribute, offset: offset, time: timeOfDay}
	s.source = s.resolved(none{})
	return nil
}

// Anchored tells whether the schedule has a date for each recipient, from Spec.Anchor. Then it has no occurrences itself;
// those of a recipient are of ForRecipient.
func (s *Schedule) Anchored() bool { return s.anchor != nil }

// ForRecipient returns the schedule of one recipient: for an anchored schedule that of the date in the recipient's
// attributes, for others the schedule itself. The error, a *FieldError of "anchor.attribute", is about this recipient
// only. A date that bounds or policies drop is no error: then there is no occurrence.
func (s *Schedule) ForRecipient(attributes map[string]string) (*Schedule, error) {
	if s.anchor == nil {
		return s, nil
	}
	value, ok := attributes[s.anchor.attribute]
	if !ok || value == "" {
		return nil, s.anchor.refuse(value, "is missing")
	}
	date, err := calendar.ParseDate(value)
	if err != nil {
		return nil, s.anchor.refuse(value, dateReason(value))
	}
	day, err := s.anchor.offset.addTo(date, s.days.days)
	if err != nil {
		return nil, s.anchor.refuse(value, fmt.Sprintf("with the offset %s is outside the years 1 to 9999", s.anchor.offset))
	}
	own := *s
	own.source = s.resolved(single(midnightOf(day) + wall(s.anchor.time.minute)*wallMinute))
	own.anchor = nil
	return &own, nil
}

func (a *anchor) refuse(value, reason string) error {
	return whole("anchor.attribute", value, fmt.Sprintf("the recipient's attribute %q %s", shown(a.attribute), reason), "write a date such as 2026-11-03 into it")
}

// dateReason says why a value is no date, without the value: it is a recipient's, and this ends up in status.
func dateReason(value string) string {
	switch {
	case len(value) > len("2026-11-03") && strings.ContainsAny(value[len("2026-11-03"):][:1], "T "):
		return "has a time in it"
	default:
		return "is not a day of the calendar"
	}
}

// none is the series without wall times.
type none struct{}

func (none) next(_, _ wall) (wall, bool)              { return 0, false }
func (none) previous(_, _ wall) (wall, bool)          { return 0, false }
func (none) each(_, _ wall, _ func([]wall) bool) bool { return true }
func (none) count(_, _ wall) int                      { return 0 }
