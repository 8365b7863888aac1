package calendar

import (
	"fmt"

	"github.com/reminder-operator/reminder-operator/internal/schedule/rrule"
)

// expansion is the days of the events of a file, and how many more it may come to. Days before FirstYear, and those that
// EXDATE takes out, count too: they cost as much to find.
type expansion struct {
	days   []Holiday
	rules  int
	budget int
}

// add adds the days of an event, each time that it takes place.
func (x *expansion) add(e *event, except map[Date]bool) error {
	for _, date := range append([]Date{e.first}, e.extra...) {
		if err := x.take(e, date, except); err != nil {
			return err
		}
	}
	if e.rule == "" {
		return nil
	}
	if x.rules++; x.rules > MaxRules {
		return fmt.Errorf("it is one of more than %d events that repeat", MaxRules)
	}
	rule, err := rrule.Compile(e.rule, int64(e.first)*secondsOfDay, true)
	if err != nil {
		return fmt.Errorf("RRULE %s: %w", clip(e.rule), err)
	}
	return x.repeat(e, rule, except)
}

// repeat adds the days of an event as its rule has it, up to the end of the years that count.
func (x *expansion) repeat(e *event, rule *rrule.Rule, except map[Date]bool) error {
	from, until := int64(e.first)*secondsOfDay, int64(horizon+1)*secondsOfDay-1
	if at, utc := rule.Until(); utc {
		until = min(until, at.Unix())
	}
	limit := rule.Limit()
	if limit == 0 {
		from, limit = max(from, int64(origin-MaxEventDays)*secondsOfDay), MaxDays+1
	}
	for range limit {
		at, ok := rule.Next(from)
		if !ok || at > until {
			return nil
		}
		if err := x.take(e, Date(floorDiv(at, secondsOfDay)), except); err != nil {
			return err
		}
		from = at + 1
	}
	return nil
}

// take adds the days of an event that begins on a date.
func (x *expansion) take(e *event, date Date, except map[Date]bool) error {
	if x.budget -= e.days; x.budget < 0 {
		return fmt.Errorf("with it the events are more than %d days", MaxDays)
	}
	if except[date] {
		return nil
	}
	for day := date; day < date+Date(e.days); day++ {
		if day >= origin && day <= horizon {
			x.days = append(x.days, Holiday{day, e.name})
		}
	}
	return nil
}
