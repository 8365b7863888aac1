package controllers

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// maxMoved is how many moved occurrences an entry remembers. It holds more than a
// day's look-ahead of a schedule by the minute.
const maxMoved = 2048

// movedSlots are the occurrences whose instant has changed with the time zone data
// since their reminders were planned: the local time stays, and so does the slot, so
// that nobody is reminded twice. An instant that still is an occurrence stays one,
// as all of an interval's do. What has fallen due already stays as it is, unless the
// new data has it ahead again: then what was planned, and perhaps sent, stands for it.
func movedSlots(in scheduleInput, entry reminder.Schedule) []reminder.Moved {
	known := map[reminder.Moved]bool{}
	var all []reminder.Moved
	for i := range in.series {
		s := &in.series[i]
		for _, same := range byLocalTime(slices.Collect(maps.Values(in.planned[s.Recipients[0].ID])), entry.Epoch) {
			for _, m := range movedTo(s, same, in.now) {
				if !known[m] {
					known[m] = true
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// plannedSlots are the records that were planned of late, one for each slot of a
// series, by the first recipient of the series: its recipients have the same slots.
type plannedSlots map[string]map[string]reminder.Record

// keep adds a record, unless there is one of its slot. One that is planned for later
// counts more than one that has ended.
func (p plannedSlots) keep(first string, r reminder.Record) {
	if p[first] == nil {
		p[first] = map[string]reminder.Record{}
	}
	if have, known := p[first][r.Key.Slot]; !known || have.State != reminder.Scheduled {
		p[first][r.Key.Slot] = r
	}
}

// byLocalTime groups the records of an epoch that are of one local time, in order of
// their due times: two where the clocks showed it twice.
func byLocalTime(records []reminder.Record, epoch int64) [][]reminder.Record {
	records = slices.DeleteFunc(slices.Clone(records), func(r reminder.Record) bool { return r.Epoch != epoch || r.LocalTime == "" })
	slices.SortFunc(records, func(a, b reminder.Record) int {
		return cmp.Or(cmp.Compare(a.LocalTime, b.LocalTime), a.Due().Compare(b.Due()))
	})
	var groups [][]reminder.Record
	for i, r := range records {
		if i == 0 || r.LocalTime != records[i-1].LocalTime {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], r)
	}
	return groups
}

// movedTo gives the records of one local time whose instant is no occurrence any more
// the instants that the local time means now, in order.
func movedTo(s *convert.Series, same []reminder.Record, now time.Time) (moved []reminder.Moved) {
	free := instantsOf(s, same[0].LocalTime)
	var displaced []reminder.Record
	for _, r := range same {
		if _, ok := s.Schedule.At(r.Due()); ok {
			free = slices.DeleteFunc(free, func(at time.Time) bool { return at.Equal(r.Due()) })
		} else {
			displaced = append(displaced, r)
		}
	}
	for i, r := range displaced {
		if i == len(free) {
			break // the others are occurrences no more
		}
		if r.State == reminder.Scheduled && r.Due().After(now) || free[i].After(now) {
			moved = append(moved, reminder.Moved{Zone: s.Zone, DueTime: free[i], Slot: r.Key.Slot})
		}
	}
	return moved
}

// instantsOf are the due times of the occurrences of a local time: none, one, or two
// where the clocks show it twice and both count.
func instantsOf(s *convert.Series, local string) (all []time.Time) {
	o, ok, err := s.Schedule.ResolveLocal(local)
	if err != nil || !ok {
		return nil
	}
	// No clock is put back by more than a day.
	for next := range s.Schedule.Between(o.Due.Add(-time.Second), o.Due.Add(24*time.Hour)) {
		if next.Actual.String() == local {
			all = append(all, next.Due)
		}
	}
	return all
}

// stillMoved drops what need not be known any more: the records of the occurrence
// are never made again.
func stillMoved(in scheduleInput, all []reminder.Moved) []reminder.Moved {
	oldest := in.now.Add(-convert.DeadlinesOf(in.object).Bound() - in.retention)
	var kept []reminder.Moved
	for _, m := range all {
		if m.DueTime.After(oldest) && len(kept) < maxMoved {
			kept = append(kept, m)
		}
	}
	return kept
}
