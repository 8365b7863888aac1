package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Compile works out what the calendar of a name means. lookup returns the Spec of a calendar by its name; it is asked for
// the calendar itself and for those that it includes. Every error is a *FieldError.
func Compile(name string, lookup func(name string) (Spec, bool)) (*Calendar, error) {
	c := &collector{lookup: lookup, states: map[string]state{}, holidays: map[Date]string{}}
	if err := c.collect(name, nil); err != nil {
		return nil, err
	}
	spec, _ := lookup(name)
	calendar := &Calendar{name: name, holidays: c.sorted(), early: slices.Clone(spec.EarlyCloses)}
	for _, day := range spec.Weekend {
		calendar.weekend |= 1 << day
	}
	calendar.fill()
	if calendar.longest.days > MaxRoll {
		err := fault("spec", "", fmt.Sprintf("there is no business day, from morning to night, in the %d days from %s on",
			calendar.longest.days, calendar.longest.from), "remove holidays, early closes, or days of the weekend")
		err.Calendar, err.NeverOpen = name, true
		return nil, err
	}
	return calendar, nil
}

// Of compiles a calendar that includes no other.
func Of(name string, spec Spec) (*Calendar, error) {
	return Compile(name, func(asked string) (Spec, bool) { return spec, asked == name })
}

// collector gathers the holidays of a calendar and of all that it includes, each once.
type collector struct {
	lookup   func(name string) (Spec, bool)
	states   map[string]state
	holidays map[Date]string
}

type state uint8

const (
	entered state = iota + 1 // its includes are being collected
	left                     // all of it is there
)

// collect adds the holidays of one calendar; path are the names of those that led to it.
func (c *collector) collect(name string, path []string) *FieldError {
	spec, ok := c.lookup(name)
	if !ok {
		return &FieldError{Calendar: name, Field: "metadata.name", Value: name, Missing: name, Reason: "there is no such calendar", Hint: "create it"}
	}
	c.states[name] = entered
	if err := c.add(spec); err != nil {
		err.Calendar = name
		return err
	}
	for i, included := range spec.Include {
		if err := c.include(name, included, append(path, name)); err != nil {
			if err.Calendar == "" {
				err.Calendar, err.Field, err.Value = name, fmt.Sprintf("include[%d]", i), included
			}
			return err
		}
	}
	c.states[name] = left
	return nil
}

// include adds a calendar that another one names. An error without a Calendar is the other one's.
func (c *collector) include(by, name string, path []string) *FieldError {
	switch {
	case c.states[name] == left:
		return nil // two ways lead to it
	case c.states[name] == entered:
		cycle := append(slices.Clone(path[slices.Index(path, name):]), name)
		return &FieldError{Cycle: true, Reason: "calendars include each other: " + strings.Join(cycle, " → "), Hint: "take one of them out"}
	case len(c.states) >= MaxCalendars:
		return &FieldError{Reason: fmt.Sprintf("more than %d calendars are included in all", MaxCalendars-1), Hint: "include fewer"}
	}
	if _, ok := c.lookup(name); !ok {
		return &FieldError{
			Missing: name, Reason: fmt.Sprintf("there is no calendar %q", clip(name)), Hint: fmt.Sprintf("create it, or take it out of %q", by),
		}
	}
	return c.collect(name, path)
}

// add checks a Spec and adds the holidays of its own sources. Of two names for one date the first stays.
func (c *collector) add(spec Spec) *FieldError {
	if err := check(spec); err != nil {
		return err
	}
	country, err := publicHolidays(spec.Country, spec.Region)
	if err != nil {
		return err
	}
	events, err := parseICalendar(spec.ICalendar)
	if err != nil {
		return err
	}
	for _, source := range [][]Holiday{spec.Holidays, country, events} {
		for _, h := range source {
			if name, known := c.holidays[h.Date]; !known || name == "" {
				c.holidays[h.Date] = cleaned(h.Name, MaxName)
			}
		}
	}
	return nil
}

func (c *collector) sorted() []Holiday {
	all := make([]Holiday, 0, len(c.holidays))
	for date, name := range c.holidays {
		if date >= origin && date <= horizon {
			all = append(all, Holiday{date, name})
		}
	}
	slices.SortFunc(all, func(a, b Holiday) int { return cmp.Compare(a.Date, b.Date) })
	return all
}

// check refuses what the lists of a Spec may not hold.
func check(spec Spec) *FieldError {
	week := map[time.Weekday]bool{}
	for i, day := range spec.Weekend {
		if day < time.Sunday || day > time.Saturday {
			return fault(fmt.Sprintf("weekend[%d]", i), day.String(), "this is not a day of the week", "write Sunday to Saturday")
		}
		week[day] = true
	}
	switch {
	case len(week) > 6:
		err := fault("weekend", "", "all seven days are on the weekend, so there is no business day", "write at most six")
		err.NeverOpen = true
		return err
	case len(spec.Holidays) > MaxHolidays:
		return tooMany("holidays", len(spec.Holidays), MaxHolidays)
	case len(spec.EarlyCloses) > MaxEarlyCloses:
		return tooMany("earlyCloses", len(spec.EarlyCloses), MaxEarlyCloses)
	case len(spec.Include) > MaxInclude:
		return tooMany("include", len(spec.Include), MaxInclude)
	}
	for i, h := range spec.Holidays {
		if h.Date < origin || h.Date > horizon {
			return outside(fmt.Sprintf("holidays[%d].date", i), h.Date)
		}
	}
	seen := map[Date]bool{}
	for i, e := range spec.EarlyCloses {
		field := fmt.Sprintf("earlyCloses[%d]", i)
		switch {
		case e.Date < origin || e.Date > horizon:
			return outside(field+".date", e.Date)
		case e.Minute < 1 || e.Minute >= minutesOfDay:
			return fault(field+".time", fmt.Sprint(e.Minute), "a day ends between 00:01 and 23:59", "write a holiday for a day that is closed throughout")
		case seen[e.Date]:
			return fault(field+".date", e.Date.String(), e.Date.String()+" is there twice", "write each date once")
		}
		seen[e.Date] = true
	}
	return nil
}

func tooMany(field string, n, most int) *FieldError {
	return fault(field, "", fmt.Sprintf("there are %d, and %d are allowed", n, most), "write fewer, or use an iCalendar file or include")
}

func outside(field string, d Date) *FieldError {
	return fault(field, d.String(), fmt.Sprintf("%s is outside the years %d to %d", d, FirstYear, LastYear), "leave it out")
}

// fill makes the bits of the holidays, keeps the early closes of business days, and finds the longest stretch without a
// day that is one from morning to night.
func (c *Calendar) fill() {
	c.closed = make([]uint64, (horizon-origin)/64+1)
	for _, h := range c.holidays {
		i := h.Date - origin
		c.closed[i/64] |= 1 << (i % 64)
	}
	c.early = slices.DeleteFunc(c.early, func(e EarlyClose) bool { return !c.IsBusinessDay(e.Date) })
	slices.SortFunc(c.early, func(a, b EarlyClose) int { return cmp.Compare(a.Date, b.Date) })
	for i := range c.early {
		c.early[i].Name = cleaned(c.early[i].Name, MaxName)
	}
	run := stretch{from: origin}
	for d := origin; d <= horizon+1; d++ {
		if c.Closes(d) == minutesOfDay {
			run = stretch{from: d + 1}
			continue
		}
		if run.days++; run.days > c.longest.days {
			c.longest = run
		}
	}
}

// cleaned cuts a text to some characters and makes it one line of valid UTF-8.
func cleaned(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	n := 0
	text = strings.Map(func(r rune) rune {
		n++
		switch {
		case n > most:
			return -1
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}
