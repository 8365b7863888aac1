package convert

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// Series is the occurrences of recipients that share them: all of a schedule's, or those in one zone, or those with one
// date.
type Series struct {
	Schedule *schedule.Schedule
	// Zone is the recipients' zone as they write it; empty where it is the schedule's.
	Zone string
	// Recipients are active, in the order of their ids; at least one.
	Recipients []reminder.Recipient
}

// Excluded is a recipient that has no occurrence because of what it says itself.
type Excluded struct {
	Recipient string
	Err       error
}

// SeriesOf groups the active recipients of a schedule by the occurrences that they share, in the order of the first
// recipient of each. A recipient whose zone is unknown, or whose date is missing or none, is excluded; the others do not
// suffer from it.
func SeriesOf(obj *v1alpha1.ReminderSchedule, compiled *schedule.Schedule, recipients []reminder.Recipient) ([]Series, []Excluded) {
	g := grouping{compiled: compiled, places: map[group]int{}}
	if obj.Spec.Schedule.TimeZoneFrom == v1alpha1.TimeZoneFromRecipient && obj.Spec.Schedule.Every == nil {
		g.byZone = true
	}
	if a := obj.Spec.Schedule.Anchor; a != nil {
		g.attribute = a.Attribute
	}
	for _, r := range recipients {
		if r.Active {
			g.add(r)
		}
	}
	return g.series, g.excluded
}

// group is what recipients of one series have in common.
type group struct{ zone, date string }

// failed is the place of a group that cannot be compiled.
const failed = -1

type grouping struct {
	compiled  *schedule.Schedule
	byZone    bool
	attribute string // of the anchor
	places    map[group]int
	faults    map[group]error
	series    []Series
	excluded  []Excluded
}

func (g *grouping) add(r reminder.Recipient) {
	var key group
	if g.byZone {
		key.zone = r.TimeZone
	}
	if g.attribute != "" {
		key.date = r.Attributes[g.attribute]
	}
	place, known := g.places[key]
	if !known {
		place = g.open(key, r)
	}
	if place == failed {
		g.excluded = append(g.excluded, Excluded{Recipient: r.ID, Err: g.faults[key]})
		return
	}
	g.series[place].Recipients = append(g.series[place].Recipients, r)
}

// open makes the series of the first recipient of a group.
func (g *grouping) open(key group, r reminder.Recipient) int {
	own, err := g.compiled.In(key.zone)
	if err == nil && g.attribute != "" {
		own, err = own.ForRecipient(r.Attributes)
	}
	place := len(g.series)
	if err != nil {
		if g.faults == nil {
			g.faults = map[group]error{}
		}
		g.faults[key], place = recipientFault(err), failed
	} else {
		g.series = append(g.series, Series{Schedule: own, Zone: key.zone})
	}
	g.places[key] = place
	return place
}

// recipientFault says what is wrong with a recipient without repeating what it wrote: an attribute may be personal.
func recipientFault(err error) error {
	fault, ok := errors.AsType[*schedule.FieldError](err)
	if !ok {
		return err
	}
	if fault.Field == "timeZone" {
		return fmt.Errorf("timeZone: %s; %s", fault.Reason, cmp.Or(fault.Hint, "write a name such as Europe/Berlin"))
	}
	return fmt.Errorf("%s; %s", fault.Reason, fault.Hint)
}
