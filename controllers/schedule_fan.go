package controllers

import (
	"container/heap"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// fan makes reminders of occurrences: one for each recipient of a series.
type fan struct {
	in        scheduleInput
	entry     reminder.Schedule
	deadlines convert.Deadlines
	jitter    time.Duration
	slots     map[zoneTime]string // of moved occurrences
}

// zoneTime is a due time of the recipients in a zone.
type zoneTime struct {
	zone string
	due  int64 // Unix seconds
}

func newFan(in scheduleInput, entry reminder.Schedule) *fan {
	f := &fan{in: in, entry: entry, deadlines: convert.DeadlinesOf(in.object), jitter: convert.Jitter(in.object), slots: map[zoneTime]string{}}
	for _, m := range entry.Moved {
		f.slots[zoneTime{m.Zone, m.DueTime.Unix()}] = m.Slot
	}
	return f
}

// reminders are those of the occurrences behind from that the entry's cursor has
// taken up or that lie ahead, up to where it ends. With moved, also those of
// occurrences that were moved, wherever they went.
func (f *fan) reminders(from time.Time, moved bool) iter.Seq[delivery.Planned] {
	return func(yield func(delivery.Planned) bool) {
		if !f.adopted(yield) || moved && !f.moved(yield) {
			return
		}
		c := f.entry.Cursor
		if c.CatchUpTime.IsZero() {
			_ = f.past(from, f.in.now, yield) && f.ahead(later(from, f.in.now), yield)
			return
		}
		_ = f.past(from, c.SinceTime, yield) && f.caughtUp(yield) && f.ahead(later(from, c.CatchUpTime), yield)
	}
}

// ahead yields what lies behind from and up to the end of the cursor.
func (f *fan) ahead(from time.Time, yield func(delivery.Planned) bool) bool {
	for s, o := range inOrder(f.in.object, f.in.series, from, f.entry.Cursor.ThroughTime) {
		if !f.each(s, o, time.Time{}, yield) {
			return false
		}
	}
	return true
}

// past yields what fell due behind from and up to through, of recipients that were
// there by then.
func (f *fan) past(from, through time.Time, yield func(delivery.Planned) bool) bool {
	for _, h := range f.in.history() {
		s := convert.OccurrencesOf(f.in.object, *h.Series)
		for o := range s.Between(later(from, h.joined), earlier(through, f.entry.Cursor.ThroughTime)) {
			if !f.each(h.Series, o, time.Time{}, yield) {
				return false
			}
		}
	}
	return true
}

// caughtUp yields what was missed and is taken up, at a pace.
func (f *fan) caughtUp(yield func(delivery.Planned) bool) bool {
	c := f.entry.Cursor
	for _, h := range f.in.history() {
		for rank, o := range caughtUp(f.in.object, convert.OccurrencesOf(f.in.object, *h.Series), h.since(c.SinceTime), c.CatchUpTime) {
			if !f.each(h.Series, o, c.CatchUpTime.Add(time.Duration(rank)*catchUpPace), yield) {
				return false
			}
		}
	}
	return true
}

// taken is how many reminders of missed occurrences are taken up.
func (f *fan) taken() (n int64) {
	c := f.entry.Cursor
	if c.CatchUpTime.IsZero() {
		return 0
	}
	for _, h := range f.in.history() {
		n += int64(len(caughtUp(f.in.object, convert.OccurrencesOf(f.in.object, *h.Series), h.since(c.SinceTime), c.CatchUpTime)) * len(h.Recipients))
	}
	return n
}

// adopted yields reminders that an older epoch has planned, that are due and wait,
// and that the edited spec has too.
func (f *fan) adopted(yield func(delivery.Planned) bool) bool {
	for _, one := range f.adoptions() {
		if !yield(one) {
			return false
		}
	}
	return true
}

func (f *fan) adoptions() (all []delivery.Planned) {
	of := seriesOf(f.in.series)
	for _, r := range f.in.waiting {
		if one, ok := f.adoption(of[r.Key.Recipient], r); ok {
			all = append(all, one)
		}
	}
	return all
}

// adoption is the reminder that the edited spec has in place of a record, if it has one.
func (f *fan) adoption(s *convert.Series, r reminder.Record) (delivery.Planned, bool) {
	if s == nil || r.Key.Channel != f.entry.Channel {
		return delivery.Planned{}, false
	}
	o, ok := s.Schedule.At(r.Due())
	if !ok || !convert.OccurrencesOf(f.in.object, *s).Counts(o) || f.slot(s, o) != r.Key.Slot {
		return delivery.Planned{}, false
	}
	i := slices.IndexFunc(s.Recipients, func(person reminder.Recipient) bool { return person.ID == r.Key.Recipient })
	return f.reminder(s.Recipients[i], r.Key.Slot, o, f.deadlines.Of(s.Schedule, o.Due), time.Time{}), true
}

// maxKept is how many slots an entry keeps. What is due and has no outcome is of few,
// unless a channel is down for long.
const maxKept = 512

// kept are the slots whose reminders are not superseded although an older epoch has
// planned them: those that wait or are in flight, and that the edited spec has too;
// without an edit those that an edit before has kept, until they have ended.
func (f *fan) kept(have []reminder.Kept) (all []reminder.Kept) {
	if f.entry.Epoch == f.in.entry.Epoch {
		return slices.DeleteFunc(slices.Clone(have), func(k reminder.Kept) bool { return k.UntilTime.Before(f.in.now) })
	}
	of, until := seriesOf(f.in.series), map[string]time.Time{}
	for _, r := range f.in.waiting {
		_, ok := f.adoption(of[r.Key.Recipient], r)
		if was, known := until[r.Key.Slot]; !ok || known && was.IsZero() {
			until[r.Key.Slot] = time.Time{} // not everybody's
		} else {
			until[r.Key.Slot] = later(was, r.DeadlineTime.Add(time.Hour))
		}
	}
	for _, slot := range slices.Sorted(maps.Keys(until)) {
		if !until[slot].IsZero() && len(all) < maxKept {
			all = append(all, reminder.Kept{Slot: slot, UntilTime: until[slot]})
		}
	}
	return all
}

// seriesOf finds a recipient's series.
func seriesOf(series []convert.Series) map[string]*convert.Series {
	of := map[string]*convert.Series{}
	for i := range series {
		for _, r := range series[i].Recipients {
			of[r.ID] = &series[i]
		}
	}
	return of
}

// moved yields the reminders of occurrences that time zone data has moved.
func (f *fan) moved(yield func(delivery.Planned) bool) bool {
	for _, m := range f.entry.Moved {
		for i := range f.in.series {
			s := &f.in.series[i]
			if o, ok := s.Schedule.At(m.DueTime); ok && s.Zone == m.Zone && !f.each(s, o, time.Time{}, yield) {
				return false
			}
		}
	}
	return true
}

// each yields the reminders of one occurrence, to be released not before a time.
// Of one whose records can have been forgotten none is made again.
func (f *fan) each(s *convert.Series, o schedule.Occurrence, notBefore time.Time, yield func(delivery.Planned) bool) bool {
	ends := f.deadlines.Of(s.Schedule, o.Due)
	if ends.Add(f.in.retention).Before(f.in.now) {
		return true
	}
	slot := f.slot(s, o)
	for _, r := range s.Recipients {
		if !yield(f.reminder(r, slot, o, ends, notBefore)) {
			return false
		}
	}
	return true
}

// reminder is that of an occurrence for a recipient. The last second before its
// deadline is still a time to send.
func (f *fan) reminder(r reminder.Recipient, slot string, o schedule.Occurrence, deadline, notBefore time.Time) delivery.Planned {
	obj, last := f.in.object, deadline.Add(-time.Second)
	release := o.Due.Add(schedule.Jitter(min(f.jitter, last.Sub(o.Due)), obj.Namespace+"/"+obj.Name, r.ID, slot))
	return delivery.Planned{
		Key:   reminder.Key{Namespace: obj.Namespace, Schedule: obj.Name, Slot: slot, Recipient: r.ID, Channel: f.entry.Channel},
		Epoch: f.entry.Epoch, DueTime: o.Due, LocalTime: o.Actual.String(),
		ReleaseTime:  earlier(later(release, notBefore.Truncate(time.Second)), last),
		DeadlineTime: deadline, LateTime: release.Add(convert.LateAfter),
	}
}

// slot is what names the occurrence in keys.
func (f *fan) slot(s *convert.Series, o schedule.Occurrence) string {
	if slot, ok := f.slots[zoneTime{s.Zone, o.Due.Unix()}]; ok && f.in.object.Spec.Identity != v1alpha1.IdentityBusinessDate {
		return slot
	}
	return slotOf(f.in.object, o)
}

// slotOf is what names an occurrence that was not moved.
func slotOf(obj *v1alpha1.ReminderSchedule, o schedule.Occurrence) string {
	if obj.Spec.Identity == v1alpha1.IdentityBusinessDate {
		return o.BusinessDate()
	}
	return reminder.SlotOf(o.Due)
}

// inOrder yields the occurrences of all series behind from and up to through, in
// order of time.
func inOrder(obj *v1alpha1.ReminderSchedule, series []convert.Series, from, through time.Time) iter.Seq2[*convert.Series, schedule.Occurrence] {
	return func(yield func(*convert.Series, schedule.Occurrence) bool) {
		var h heads
		for i := range series {
			all := convert.OccurrencesOf(obj, series[i])
			if o, ok := all.Next(from); ok && !o.Due.After(through) {
				h = append(h, head{&series[i], all, o})
			}
		}
		heap.Init(&h)
		for len(h) > 0 {
			if !yield(h[0].series, h[0].next) {
				return
			}
			if o, ok := h[0].all.Next(h[0].next.Due); ok && !o.Due.After(through) {
				h[0].next = o
				heap.Fix(&h, 0)
			} else {
				heap.Pop(&h)
			}
		}
	}
}

// heads is a heap of series by their next occurrence.
type heads []head

type head struct {
	series *convert.Series
	all    convert.Occurrences
	next   schedule.Occurrence
}

func (h *heads) Len() int           { return len(*h) }
func (h *heads) Less(i, j int) bool { return (*h)[i].next.Due.Before((*h)[j].next.Due) }
func (h *heads) Swap(i, j int)      { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *heads) Push(x any)         { *h = append(*h, x.(head)) }
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
