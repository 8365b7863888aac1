package controllers

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// progress is what this process has done for a schedule: the spec and epoch that
// it has applied, and through when it has planned. It is a saving, not a truth:
// without it the look-ahead window is planned once more, which changes nothing.
type progress struct {
	uid        string
	generation int64
	epoch      int64
	// stream is the incarnation of the jobs stream that holds the messages.
	stream  time.Time
	through time.Time
}

// scheduleInput is what a plan is made from.
type scheduleInput struct {
	object    *v1alpha1.ReminderSchedule
	compiled  *schedule.Schedule
	entry     reminder.Schedule // as registered; zero when it is not
	revision  uint64            // of the entry; 0 when it is not registered
	open      int64             // epoch of open reminders of this very spec, where the entry is lost; else 0
	edited    time.Time         // when the object was last changed; zero when that is not known
	done      progress
	stream    time.Time // the jobs stream's incarnation now
	lookAhead time.Duration
	now       time.Time
}

// schedulePlan is what a pass is to do, in the order of its fields.
type schedulePlan struct {
	// entry is what the registry must say; write tells whether it says so not yet,
	// and revision what it was found at.
	entry    reminder.Schedule
	write    bool
	revision uint64
	// withdraw: the messages of all reminders planned so far must go.
	withdraw bool
	// settle: records that the entry no longer covers must be cancelled.
	settle     bool
	recipients []reminder.Recipient
	// reminders is what to plan, in order of time.
	reminders iter.Seq[delivery.Planned]
	// through is the cursor after that, in the incarnation of the jobs stream that
	// the plan was made for.
	through time.Time
	stream  time.Time
	// missed says that occurrences were passed over, and which one was taken up.
	missed missed
	// wake is when the next pass has something to do; zero for never.
	wake time.Time
}

// missed tells what a catch-up found.
type missed struct {
	// some: at least one occurrence fell due while nothing was planned and is not
	// taken up.
	some bool
	// taken is the due time of the occurrence that is taken up; zero for none.
	taken time.Time
}

// planSchedule decides what a pass does for a valid schedule.
func planSchedule(in scheduleInput) schedulePlan {
	p := schedulePlan{recipients: convert.Recipients(in.object), stream: in.stream, revision: in.revision}
	p.entry, p.write, p.withdraw = registration(in, p.recipients)
	known := in.done.uid == p.entry.UID && in.done.epoch == p.entry.Epoch && in.done.stream.Equal(in.stream)
	current := known && in.done.generation == p.entry.Generation
	// Status has observed a spec once a pass over it has succeeded.
	p.settle = !current && (p.write || in.object.Status.ObservedGeneration != in.object.Generation)
	p.reminders = func(func(delivery.Planned) bool) {}
	if p.entry.Suspended {
		p.through = in.now
		return p
	}
	from := plannedFrom(in, p.entry, known, current)
	p.through = in.now.Add(in.lookAhead)
	if from.After(p.through) {
		p.through = from
	}
	due := upcoming(in, from, p.through, &p.missed)
	p.reminders = func(yield func(delivery.Planned) bool) { fanOut(in.object, p.entry, p.recipients, due, yield) }
	p.wake = wake(in, p.through)
	return p
}

// registration is the entry that the registry must hold, whether it has to be
// written, and whether messages of an earlier plan may be in the way.
func registration(in scheduleInput, audience []reminder.Recipient) (entry reminder.Schedule, write, withdraw bool) {
	have, want := in.entry, convert.Entry(in.object, audience)
	want.Epoch, want.EditTime, want.ResumeTime, want.PlanGeneration = have.Epoch, have.EditTime, have.ResumeTime, have.PlanGeneration
	known := have.Epoch != 0
	if !known || have.Deleted || have.UID != want.UID || have.PlanHash != want.PlanHash {
		// From the clock, so that it rises also when the registry was lost; but then
		// what the same spec has planned stays valid.
		want.Epoch = max(have.Epoch+1, in.now.Unix())
		if !known && in.open != 0 {
			want.Epoch = in.open
		}
		want.EditTime, want.ResumeTime, want.PlanGeneration = time.Time{}, time.Time{}, want.Generation
		if known && have.UID == want.UID && !have.Deleted {
			want.EditTime = later(changed(in), have.EditTime)
		}
		withdraw = known
	}
	if known && have.UID == want.UID && have.Suspended && !want.Suspended {
		want.ResumeTime, want.PlanGeneration = later(changed(in), have.ResumeTime), want.Generation
	}
	withdraw = withdraw || want.Suspended && !have.Suspended
	return want, !sameEntry(have, want), withdraw
}

// changed is when the spec became what it is, at the latest: an edit can be older
// than the first pass that could register it.
func changed(in scheduleInput) time.Time {
	if in.edited.IsZero() {
		return in.now
	}
	return earlier(in.edited, in.now)
}

// sameEntry compares registry entries as they are stored.
func sameEntry[E reminder.Entry](a, b E) bool {
	x, errX := reminder.EncodeEntry(a)
	y, errY := reminder.EncodeEntry(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// behind tells whether the registry has a newer spec of the object than ours: our
// cache is behind, or a second operator's is ahead.
func behind(have reminder.Schedule, obj *v1alpha1.ReminderSchedule) bool {
	return have.UID == string(obj.UID) && (have.Generation > obj.Generation || have.Deleted)
}

// inQuestion tells whether the cache alone does not do for a plan: the name is
// registered for another object, or it matters when the spec was edited.
func inQuestion(have reminder.Schedule, obj *v1alpha1.ReminderSchedule) bool {
	if have.Epoch == 0 {
		return false
	}
	want := convert.Entry(obj, nil)
	return have.UID != want.UID || have.PlanHash != want.PlanHash || have.Suspended && !want.Suspended
}

// plannedFrom is where planning starts: behind what this process has planned, or
// else behind the cursor in status. Unless this process has planned this very spec,
// that is believed for the past only: what is new in the spec, a record that was
// lost, or a cursor edited by hand then heals. Nothing before the creation, the
// last edit of the time fields or the last resume is missed.
func plannedFrom(in scheduleInput, entry reminder.Schedule, known, current bool) time.Time {
	if current && !in.done.through.IsZero() {
		return in.done.through
	}
	from := entry.CreateTime
	if in.object.Spec.Schedule.At != "" && in.object.Generation == 1 {
		from = time.Time{} // a one-off may be created late; how late, the catch-up window says
	}
	if known {
		from = later(from, in.done.through)
	}
	from = earlier(later(from, cursorOf(in.object, entry)), in.now)
	return later(later(from, entry.EditTime), entry.ResumeTime)
}

// cursorOf is the cursor in status; zero when it speaks of another plan than the
// entry's.
func cursorOf(obj *v1alpha1.ReminderSchedule, entry reminder.Schedule) time.Time {
	if obj.Status.PlannedThroughTime == nil || obj.Status.ObservedGeneration < entry.PlanGeneration {
		return time.Time{}
	}
	return obj.Status.PlannedThroughTime.UTC()
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

// upcoming are the occurrences to plan: of those that were missed only the
// latest, if it is inside the catch-up window and its deadline has not passed,
// and then all up to the end of the look-ahead window.
func upcoming(in scheduleInput, from, through time.Time, m *missed) iter.Seq[time.Time] {
	if from.Before(in.now) {
		*m = latestMissed(in, from)
	}
	return func(yield func(time.Time) bool) {
		if !m.taken.IsZero() && !yield(m.taken) {
			return
		}
		for o := range in.compiled.Between(later(from, in.now), through) {
			if !yield(o.Due) {
				return
			}
		}
	}
}

func latestMissed(in scheduleInput, from time.Time) missed {
	last, ok := in.compiled.Previous(in.now)
	if !ok || !last.Due.After(from) {
		return missed{}
	}
	oldest := later(in.now.Add(-convert.CatchUpWindow(in.object)), in.now.Add(-convert.Deadline(in.object)))
	if !last.Due.After(oldest) {
		return missed{some: true}
	}
	before, ok := in.compiled.Previous(last.Due.Add(-time.Second))
	return missed{some: ok && before.Due.After(from), taken: last.Due}
}

// fanOut makes one reminder for each occurrence and active recipient.
func fanOut(obj *v1alpha1.ReminderSchedule, entry reminder.Schedule, recipients []reminder.Recipient, due iter.Seq[time.Time], yield func(delivery.Planned) bool) {
	deadline := convert.Deadline(obj)
	for at := range due {
		for _, r := range recipients {
			if !r.Active {
				continue
			}
			key := reminder.Key{Namespace: obj.Namespace, Schedule: obj.Name, Slot: reminder.SlotOf(at), Recipient: r.ID, Channel: entry.Channel}
			p := delivery.Planned{Key: key, Epoch: entry.Epoch, ReleaseTime: at, DeadlineTime: at.Add(deadline), LateTime: at.Add(convert.LateAfter)}
			if !yield(p) {
				return
			}
		}
	}
}

// wake is when to plan again: half a look-ahead before the first occurrence that
// is not planned yet, so that one pass plans many.
func wake(in scheduleInput, through time.Time) time.Time {
	next, ok := in.compiled.Next(through)
	if !ok {
		return time.Time{}
	}
	return later(next.Due.Add(-in.lookAhead/2), in.now.Add(time.Second))
}

// outdated tells why a record is no longer covered by the registered entry and
// its audience; empty when it is, when it has ended, and when a newer plan than the
// entry's made it.
func outdated(r reminder.Record, entry reminder.Schedule, active map[string]bool) reminder.Reason {
	switch {
	case r.State.Terminal(), r.Epoch > entry.Epoch:
		return ""
	case entry.Deleted:
		return reminder.ScheduleDeleted
	case entry.Suspended:
		return reminder.Suspended
	case r.Epoch < entry.Epoch:
		return reminder.Superseded
	case !active[r.Key.Recipient]:
		return reminder.RecipientInactive
	}
	return ""
}

// objections are the reasons why a schedule cannot be planned as it is written;
// nil when it can. Only an edit helps against them.
func objections(obj *v1alpha1.ReminderSchedule, channel *v1alpha1.ReminderChannel) *condition.Summary {
	if fields := convert.UnsupportedSchedule(obj); len(fields) > 0 {
		return stalled(v1alpha1.ReasonNotSupportedYet, "this version does not act on "+convert.Listed(fields)+"; remove it, and nothing is planned until then")
	}
	if err := convert.Messages(obj); err != nil {
		return stalled(v1alpha1.ReasonInvalidSpec, err.Error())
	}
	if channel == nil {
		return nil
	}
	if convert.Dedupes(channel) && obj.Spec.Delivery != nil && obj.Spec.Delivery.OnUnknown != "" {
		return stalled(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.delivery.onUnknown: channel %s deduplicates by key, so that no outcome stays unknown; remove the field", channel.Name))
	}
	if window := convert.DedupeWindow(channel); convert.Dedupes(channel) && convert.Deadline(obj) > window {
		return stalled(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.delivery.deadline: %s is longer than channel %s remembers a key (%s); shorten it, or raise spec.dedupeWindow of the channel if its receiver allows", convert.Deadline(obj), channel.Name, window))
	}
	return nil
}

func stalled(reason, message string) *condition.Summary {
	s := condition.Stalled(reason, message)
	return &s
}

func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + one + "s"
}
