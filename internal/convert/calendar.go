package convert

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// FindCalendar answers a BusinessCalendar of the namespace by its name and the text of its iCalendar file, empty
// without one; false when there is no such calendar.
type FindCalendar func(name string) (obj *v1alpha1.BusinessCalendar, iCalendar string, ok bool)

// Calendar compiles a BusinessCalendar together with those that it includes. Its error says the field of the calendar at
// fault, which may be one that is included; it answers errors.Is for the three errors below.
func Calendar(name string, find FindCalendar) (*calendar.Calendar, error) {
	var mistake error
	compiled, err := calendar.Compile(name, func(name string) (calendar.Spec, bool) {
		obj, text, ok := find(name)
		if !ok {
			return calendar.Spec{}, false
		}
		spec, err := calendarSpec(obj, text)
		if err != nil && mistake == nil {
			mistake = fmt.Errorf("calendar %s: %w", name, err)
		}
		return spec, true
	})
	if mistake != nil {
		return nil, mistake
	}
	if fault, ok := errors.AsType[*calendar.FieldError](err); ok {
		return nil, &calendarError{fault}
	}
	return compiled, err
}

// What can be wrong with a calendar beside its own fields.
var (
	// ErrCalendarNotFound: a calendar that is named or included does not exist, or not yet.
	ErrCalendarNotFound = errors.New("calendar not found")
	// ErrCalendarCycle: calendars include each other.
	ErrCalendarCycle = errors.New("calendars include each other")
	// ErrNoBusinessDay: there is no business day within 366 days.
	ErrNoBusinessDay = errors.New("no business day")
)

// calendarError is a field error of a calendar.
type calendarError struct{ cause *calendar.FieldError }

func (e *calendarError) Error() string {
	text := fmt.Sprintf("%s; %s", e.cause.Reason, e.cause.Hint)
	switch {
	case e.cause.Missing == e.cause.Calendar: // no field of a calendar is at fault
		return fmt.Sprintf("calendar %s: %s", e.cause.Calendar, text)
	case e.cause.Field == specPath.String(): // all of them are
		return fmt.Sprintf("calendar %s: %s: %s", e.cause.Calendar, specPath, text)
	}
	return fmt.Sprintf("calendar %s: %s: %s", e.cause.Calendar, specPath.Child(e.cause.Field), text)
}

func (e *calendarError) Is(target error) bool {
	switch target {
	case ErrCalendarNotFound:
		return e.cause.Missing != ""
	case ErrCalendarCycle:
		return e.cause.Cycle
	case ErrNoBusinessDay:
		return e.cause.NeverOpen
	}
	return false
}

// calendarSpec is one calendar's own part. The schema has checked a calendar that an API server holds; one from a file
// may say anything.
func calendarSpec(obj *v1alpha1.BusinessCalendar, iCalendar string) (spec calendar.Spec, err error) {
	spec = calendar.Spec{Country: obj.Spec.Country, Region: obj.Spec.Region, ICalendar: iCalendar, Include: obj.Spec.Include}
	if spec.Weekend, err = weekend(obj.Spec.Weekend); err != nil {
		return spec, err
	}
	for i, h := range obj.Spec.Holidays {
		date, err := dateAt(specPath.Child("holidays").Index(i), h.Date)
		if err != nil {
			return spec, err
		}
		spec.Holidays = append(spec.Holidays, calendar.Holiday{Date: date, Name: h.Name})
	}
	for i, e := range obj.Spec.EarlyCloses {
		path := specPath.Child("earlyCloses").Index(i)
		date, err := dateAt(path, e.Date)
		if err != nil {
			return spec, err
		}
		at, err := time.Parse("15:04", e.Time)
		if err != nil || len(e.Time) != len("15:04") {
			return spec, field.Invalid(path.Child("time"), e.Time, "write hours and minutes from 00:01 to 23:59, such as 13:00")
		}
		spec.EarlyCloses = append(spec.EarlyCloses, calendar.EarlyClose{Date: date, Minute: at.Hour()*60 + at.Minute(), Name: e.Name})
	}
	return spec, nil
}

// dateAt reads the date of a day at a path.
func dateAt(path *field.Path, text string) (calendar.Date, error) {
	date, err := calendar.ParseDate(text)
	if err != nil {
		return 0, field.Invalid(path.Child("date"), text, "write a day of the calendar, such as 2026-12-24")
	}
	return date, nil
}

// weekend reads days of the week. Unset is Saturday and Sunday; an empty list is none.
func weekend(days []v1alpha1.Weekday) ([]time.Weekday, error) {
	if days == nil {
		return []time.Weekday{time.Saturday, time.Sunday}, nil
	}
	var all []time.Weekday
	for i, day := range days {
		number, ok := weekdays[day]
		if !ok {
			return nil, field.NotSupported(specPath.Child("weekend").Index(i), day, slices.Sorted(maps.Keys(weekdays)))
		}
		all = append(all, number)
	}
	return all, nil
}

var weekdays = map[v1alpha1.Weekday]time.Weekday{
	v1alpha1.Sunday: time.Sunday, v1alpha1.Monday: time.Monday, v1alpha1.Tuesday: time.Tuesday, v1alpha1.Wednesday: time.Wednesday,
	v1alpha1.Thursday: time.Thursday, v1alpha1.Friday: time.Friday, v1alpha1.Saturday: time.Saturday,
}
