package controllers

import (
	"slices"

	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// maxMoved is how many moved occurrences an entry remembers. It holds more than a
// day's look-ahead of a schedule by the minute.
const maxMoved = 2048

// movedSlots are the occurrences whose instant has changed with the time zone data
// since their reminders were planned: the local time stays, and so does the slot, so
// that nobody is reminded twice. An instant that still is an occurrence stays one,
// as all of an interval's do.
func movedSlots(in scheduleInput, entry reminder.Schedule) []reminder.Moved {
	of := map[string]*convert.Series{}
	for i := range in.series {
		for _, r := range in.series[i].Recipients {
			of[r.ID] = &in.series[i]
		}
	}
	var all []reminder.Moved
	for _, r := range in.pending {
		s := of[r.Key.Recipient]
		if s == nil || r.Epoch != entry.Epoch || r.LocalTime == "" {
			continue
		}
		if m, ok := movedSlot(s, r); ok && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

func movedSlot(s *convert.Series, r reminder.Record) (reminder.Moved, bool) {
	if _, ok := s.Schedule.At(r.Due()); ok {
		return reminder.Moved{}, false
	}
	o, ok, err := s.Schedule.ResolveLocal(r.LocalTime)
	if err != nil || !ok {
		return reminder.Moved{}, false
	}
	if _, ok = s.Schedule.At(o.Due); !ok {
		return reminder.Moved{}, false
	}
	return reminder.Moved{Zone: s.Zone, DueTime: o.Due, Slot: r.Key.Slot}, true
}

// stillMoved drops what need not be known any more: the records of the occurrence
// are never made again.
func stillMoved(in scheduleInput, all []reminder.Moved) []reminder.Moved {
	oldest := in.now.Add(-convert.Deadline(in.object) - in.retention)
	var kept []reminder.Moved
	for _, m := range all {
		if m.DueTime.After(oldest) && len(kept) < maxMoved {
			kept = append(kept, m)
		}
	}
	return kept
}
