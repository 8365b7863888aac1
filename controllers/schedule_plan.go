package controllers

import (
	"iter"
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// progress is what this process has done for a schedule: the entry that it has
// applied, and when the next occurrence is due that it has not planned. It is a
// saving, not a truth: without it the look-ahead window is planned once more, which
// changes nothing.
type progress struct {
	uid        string
	generation int64
	epoch      int64
	calendar   string
	// stream is the incarnation of the jobs stream that holds the messages.
	stream time.Time
	// next is the due time of the first occurrence that is not planned; zero where
	// there is none.
	next time.Time
}

// scheduleInput is what a plan is made from.
type scheduleInput struct {
	object     *v1alpha1.ReminderSchedule
	recipients []reminder.Recipient
	series     []convert.Series
	calendar   string            // digest of the calendar; empty without one
	zoneData   string            // version of the time zone data
	past       []history         // whose occurrences of the past count; nil for all series
	planned    plannedSlots      // what was planned of late; only where the version has changed
	waiting    []reminder.Record // what is due and has no outcome; only where the spec was edited
	had        plannedSlots      // what was planned before that and is due since, by the first of a history
	entry      reminder.Schedule // as registered; zero when it is not
	revision   uint64            // of the entry; 0 when it is not registered
	open       int64             // epoch of open reminders of this very spec, where the entry is lost; else 0
	edited     time.Time         // when somebody last set a field of the object; zero when that is not known
	done       progress
	stream     time.Time // the jobs stream's incarnation now
	lookAhead  time.Duration
	retention  time.Duration // of records in the ledger
	now        time.Time
}

// schedulePlan is what a pass is to do, in the order of its fields.
type schedulePlan struct {
	// entry is what the registry must say, how far this pass plans included; write
	// tells whether it says so not yet, and revision what it was found at.
	entry    reminder.Schedule
	write    bool
	revision uint64
	// gaps are runs of missed occurrences that the ledger must know.
	gaps []missedRun
	// withdraw: the messages of all reminders planned so far must go.
	withdraw bool
	// settle: records that the entry no longer covers must be cancelled; judge says
	// why one is.
	settle     bool
	judge      func(reminder.Record) reminder.Reason
	recipients []reminder.Recipient
	series     []convert.Series
	// adopted are reminders of an older plan that this one has too, and that must be its
	// own before workers judge by the new entry.
	adopted []delivery.Planned
	// reminders is what to plan, the adopted ones included.
	reminders iter.Seq[delivery.Planned]
	// taken is how many missed occurrences are taken up, counted for each recipient.
	taken int64
	// done is the process's progress after that.
	done progress
	// wake is when the next pass has something to do; zero for never.
	wake time.Time
}

// history is a series with when its recipients have joined it: what was due before is
// not for them. Zero for those that were always there.
type history struct {
	*convert.Series
	joined time.Time
}

// since is from when on occurrences count that are nobody's yet behind a time.
func (h history) since(behind time.Time) time.Time {
	if h.joined.IsZero() {
		return behind
	}
	return h.joined // nothing was planned for them
}

func (in scheduleInput) history() []history {
	if in.past != nil {
		return in.past
	}
	all := make([]history, len(in.series))
	for i := range in.series {
		all[i].Series = &in.series[i]
	}
	return all
}

// planSchedule decides what a pass does for a valid schedule.
func planSchedule(in scheduleInput) schedulePlan {
	if c := in.entry.Cursor; in.past == nil && c.Open() && len(c.Newcomers) > 0 {
		in.past = split(in.series, c.JoinTime, func(r reminder.Recipient) bool { return slices.Contains(c.Newcomers, r.ID) })
	}
	p := schedulePlan{recipients: in.recipients, series: in.series, revision: in.revision}
	p.entry, p.withdraw = registration(in)
	differs := !sameEntry(in.entry, p.entry)
	known := in.done.uid == p.entry.UID && in.done.epoch == p.entry.Epoch && in.done.stream.Equal(in.stream)
	current := known && in.done.generation == p.entry.Generation && in.done.calendar == in.calendar
	p.done = progress{uid: p.entry.UID, generation: p.entry.Generation, epoch: p.entry.Epoch, calendar: in.calendar, stream: in.stream}
	p.reminders = func(func(delivery.Planned) bool) {}
	if p.entry.Suspended {
		p.entry.Cursor = rest(in, p.entry)
	} else {
		planAhead(in, &p, known, current)
	}
	if p.write = !sameEntry(in.entry, p.entry); p.write {
		p.entry.SeenEditTime = lastEdit(in.object)
	}
	p.gaps = gapsOf(in, p.entry)
	// Status has observed a spec once a pass over it has succeeded. A process that
	// knows nothing of the schedule cannot know either whether one was cut off whose
	// plan no entry covers any more; neither can one whose own pass has failed.
	p.settle = in.done.uid == "" || !current && (differs || in.object.Status.ObservedGeneration != in.object.Generation)
	p.judge = judge(p.entry, p.recipients, slotsAhead(in, p.entry, p.settle), in.now)
	return p
}

// planAhead plans behind what is planned already, up to the end of the look-ahead
// window.
func planAhead(in scheduleInput, p *schedulePlan, known, current bool) {
	if in.entry.TimeZoneData != "" && in.entry.TimeZoneData != in.zoneData {
		p.entry.Moved = append(movedSlots(in, p.entry), p.entry.Moved...)
	}
	p.entry.Moved = stillMoved(in, p.entry.Moved)
	finish := p.entry.Cursor.Open()
	if !finish {
		p.entry.Cursor = advance(in, p.entry, known, current)
	}
	fan := newFan(in, p.entry)
	p.entry.Kept = fan.kept(p.entry.Kept)
	from := p.entry.Cursor.DoneTime
	if !current {
		from = earlier(from, in.now)
	}
	p.adopted = fan.adoptions()
	p.reminders = fan.reminders(from, !current || finish)
	p.taken = fan.taken()
	next := firstDue(in.object, in.series, p.entry.Cursor.ThroughTime)
	p.done.next = next
	switch {
	case finish: // and then on, behind what was cut off
		p.wake = in.now.Add(time.Second)
	case !next.IsZero():
		// Half a window before it is due, so that one pass plans many.
		p.wake = later(next.Add(-in.lookAhead/2), in.now.Add(time.Second))
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// firstDue is when the first occurrence of any series is due after a time; zero
// when there is none.
func firstDue(obj *v1alpha1.ReminderSchedule, series []convert.Series, after time.Time) time.Time {
	var first time.Time
	for i := range series {
		if o, ok := convert.OccurrencesOf(obj, series[i]).Next(after); ok && (first.IsZero() || o.Due.Before(first)) {
			first = o.Due
		}
	}
	return first
}
