package calendar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
)

// event is an all-day event, or a single date of one that was moved.
type event struct {
	name     string
	uid      string
	first    Date
	days     int
	rule     string
	extra    []Date // RDATE
	except   []Date // EXDATE
	replaces *Date  // RECURRENCE-ID
}

// holidaysOf returns the days of all events.
func holidaysOf(components []*ics.VEvent) ([]Holiday, *FieldError) {
	var events []*event
	replaced := map[string][]Date{}
	for i, component := range components {
		e, err := readEvent(component)
		if err != nil {
			return nil, eventFault(i, component, err)
		}
		if e == nil {
			continue
		}
		if e.replaces != nil {
			replaced[e.uid] = append(replaced[e.uid], *e.replaces)
		}
		if e.days > 0 {
			events = append(events, e)
		}
	}
	x := &expansion{budget: MaxDays}
	for _, e := range events {
		except := map[Date]bool{}
		for _, date := range e.except {
			except[date] = true
		}
		for _, date := range replaced[e.uid] {
			except[date] = except[date] || e.replaces == nil
		}
		if err := x.add(e, except); err != nil {
			return nil, icalFault(fmt.Sprintf("the event %q: %s", clip(e.name), err), "change the file, or give explicit dates in holidays")
		}
	}
	return x.days, nil
}

func eventFault(i int, component *ics.VEvent, err error) *FieldError {
	name := textOf(component, ics.ComponentPropertySummary)
	return icalFault(fmt.Sprintf("the event %q, number %d: %s", clip(name), i+1, err), "correct the file, or give explicit dates in holidays")
}

func textOf(component *ics.VEvent, property ics.ComponentProperty) string {
	if p := component.GetProperty(property); p != nil {
		return p.Value
	}
	return ""
}

// readEvent returns nil for an event that is not all-day. A cancelled one has no days, but may replace another's.
func readEvent(component *ics.VEvent) (*event, error) {
	start := textOf(component, ics.ComponentPropertyDtStart)
	if strings.Contains(start, "T") {
		return nil, nil //nolint:nilnil // an event with a time of day is no holiday, and no mistake
	}
	first, err := basicDate("DTSTART", start)
	if err != nil {
		return nil, err
	}
	e := &event{name: textOf(component, ics.ComponentPropertySummary), uid: textOf(component, ics.ComponentPropertyUniqueId), first: first, days: 1}
	if e.days, err = eventDays(component, first); err != nil {
		return nil, err
	}
	if strings.EqualFold(textOf(component, ics.ComponentPropertyStatus), "CANCELLED") {
		e.days = 0
	}
	if rules := component.GetProperties(ics.ComponentPropertyRrule); len(rules) > 1 || component.HasProperty(ics.ComponentPropertyExrule) {
		return nil, errors.New("EXRULE, or more than one RRULE, is not supported")
	}
	e.rule = textOf(component, ics.ComponentPropertyRrule)
	if e.extra, err = basicDates(component, ics.ComponentPropertyRdate); err != nil {
		return nil, err
	}
	if e.except, err = basicDates(component, ics.ComponentPropertyExdate); err != nil {
		return nil, err
	}
	replaces, err := basicDates(component, ics.ComponentPropertyRecurrenceId)
	if len(replaces) > 0 {
		e.replaces = &replaces[0]
	}
	return e, err
}

// basicDate reads the form 20261224.
func basicDate(property, text string) (Date, error) {
	t, err := time.Parse("20060102", text)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not a date such as 20261224", property, clip(text))
	}
	return DateOf(t), nil
}

// basicDates reads the dates of a property that may be there more than once; of times their dates.
func basicDates(component *ics.VEvent, property ics.ComponentProperty) (dates []Date, err error) {
	for _, p := range component.GetProperties(property) {
		for text := range strings.SplitSeq(p.Value, ",") {
			text, _, _ = strings.Cut(text, "T")
			date, err := basicDate(string(property), text)
			if err != nil {
				return nil, err
			}
			dates = append(dates, date)
		}
	}
	return dates, nil
}

// eventDays returns the length of an event by DTEND, which is the day after its last, or by DURATION.
func eventDays(component *ics.VEvent, first Date) (int, error) {
	days := 1
	if end := textOf(component, ics.ComponentPropertyDtEnd); end != "" {
		end, _, _ = strings.Cut(end, "T")
		after, err := basicDate("DTEND", end)
		if err != nil {
			return 0, err
		}
		days = max(1, int(after-first)) // some programs write DTEND = DTSTART
	} else if duration := textOf(component, ics.ComponentPropertyDuration); duration != "" {
		unit := map[byte]int{'D': 1, 'W': 7}[duration[len(duration)-1]]
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimPrefix(duration[:len(duration)-1], "+"), "P"), 10, 16)
		if err != nil || unit == 0 || n == 0 {
			return 0, fmt.Errorf("DURATION %q is not a number of days such as P1D", clip(duration))
		}
		days = int(n) * unit
	}
	if days > MaxEventDays {
		return 0, fmt.Errorf("it is %d days long, and %d are allowed", days, MaxEventDays)
	}
	return days, nil
}
