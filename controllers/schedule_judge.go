package controllers

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// slotSet tells which slots each recipient has after now and up to through, of the
// occurrences as they are today.
type slotSet struct {
	through time.Time
	slots   map[string]map[string]bool // by recipient; those of one series share theirs
}

// slotsAhead works out the slots that are planned; nil unless they are wanted.
func slotsAhead(in scheduleInput, entry reminder.Schedule, wanted bool) *slotSet {
	if !wanted || entry.Suspended || entry.Deleted {
		return nil
	}
	a := &slotSet{through: entry.Cursor.ThroughTime, slots: map[string]map[string]bool{}}
	f := newFan(in, entry)
	bySeries := map[*convert.Series]map[string]bool{}
	for i := range in.series {
		s := &in.series[i]
		own := map[string]bool{}
		bySeries[s] = own
		for _, r := range s.Recipients {
			a.slots[r.ID] = own
		}
		for _, m := range entry.Moved {
			if m.Zone == s.Zone {
				own[m.Slot] = true
			}
		}
	}
	for s, o := range inOrder(in.object, in.series, in.now, a.through) {
		bySeries[s][f.slot(s, o)] = true
	}
	return a
}

// gone tells whether a reminder that is planned for later is of an occurrence that
// there is no more: the calendar, the recipient's zone or date, or the time zone
// data has changed. What is due already, or was claimed once, is left.
func (a *slotSet) gone(r reminder.Record, now time.Time) bool {
	if a == nil || r.State != reminder.Scheduled || !r.Due().After(now) || r.Due().After(a.through) {
		return false
	}
	return !a.slots[r.Key.Recipient][r.Key.Slot]
}

// judge tells why a record is no longer covered by the registered entry, its
// audience and its occurrences; it answers nothing when it is, when it has ended,
// and when a newer plan than the entry's made it.
func judge(entry reminder.Schedule, recipients []reminder.Recipient, slots *slotSet, now time.Time) func(reminder.Record) reminder.Reason {
	active := map[string]bool{}
	for _, r := range recipients {
		active[r.ID] = r.Active
	}
	return func(r reminder.Record) reminder.Reason {
		reason := outdated(r, entry, active)
		if reason == "" && r.Epoch == entry.Epoch && slots.gone(r, now) {
			return reminder.Superseded
		}
		return reason
	}
}

// outdated tells why a record is no longer covered by an entry and its audience.
func outdated(r reminder.Record, entry reminder.Schedule, active map[string]bool) reminder.Reason {
	switch {
	case r.State.Terminal(), r.Epoch > entry.Epoch:
		return ""
	case entry.Deleted:
		return reminder.ScheduleDeleted
	case entry.Suspended:
		return reminder.Suspended
	case r.Epoch < entry.EpochOf(r):
		return reminder.Superseded
	case !active[r.Key.Recipient]:
		return reminder.RecipientInactive
	}
	return ""
}
