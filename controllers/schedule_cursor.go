package controllers

import (
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// tardy is how late a pass may be without having missed anything: what fell due
// since then is planned as if it were ahead.
const tardy = time.Minute

// advance moves a closed cursor to the end of the look-ahead window. Behind it lies
// what this pass plans, and what of the past it gives up. It stays where it is
// while nothing lies between and the entry says nothing new, so that such a pass
// writes nothing.
func advance(in scheduleInput, entry reminder.Schedule, known, current bool) reminder.Cursor {
	base := plannedThrough(in, entry, known)
	next := reminder.Cursor{DoneTime: base, ThroughTime: later(base, in.now.Add(in.lookAhead))}
	ahead := firstDue(in.object, in.series, base)
	if !entry.Cursor.ThroughTime.IsZero() && sameEntry(in.entry, entry) && (ahead.IsZero() || ahead.After(next.ThroughTime)) {
		return entry.Cursor
	}
	since := base
	for _, h := range in.history() {
		since = earlier(since, h.since(base))
	}
	if since.Before(in.now.Add(-tardy)) {
		next.SinceTime, next.CatchUpTime = since, in.now
		next.Missed = missedBetween(in, base)
	}
	next.DoneTime = earlier(base, since)
	if !current {
		next.DoneTime = earlier(next.DoneTime, in.now)
	}
	next.JoinTime, next.Newcomers = newcomers(in.past)
	if first := firstDue(in.object, in.series, next.DoneTime); first.IsZero() || first.After(next.ThroughTime) {
		return next.Close()
	}
	return next
}

// plannedThrough is up to when it is decided what becomes of the occurrences. A
// process that has planned the schedule knows when the first one is due that it has
// not planned: until then nothing was missed, also by recipients that have come
// since.
func plannedThrough(in scheduleInput, entry reminder.Schedule, known bool) time.Time {
	base := entry.Cursor.ThroughTime
	if base.IsZero() {
		base = beginning(in, entry)
	}
	if !known {
		return base
	}
	idle := in.now
	if !in.done.next.IsZero() {
		idle = earlier(in.now, in.done.next.Add(-time.Second))
	}
	return later(base, idle)
}

// beginning is where planning starts without a cursor: nothing before the creation,
// the last edit of the time fields or the last resume is missed. Where the registry
// was lost, or an older version wrote it, the cursor in status says what is planned,
// and is believed for the past only.
func beginning(in scheduleInput, entry reminder.Schedule) time.Time {
	from := entry.CreateTime
	if in.object.Spec.Schedule.At != "" && in.object.Generation == 1 {
		from = time.Time{} // a one-off may be created late; how late, the catch-up window says
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

// rest is the cursor of a suspended schedule: nothing is planned.
func rest(in scheduleInput, entry reminder.Schedule) reminder.Cursor {
	if in.entry.Suspended && in.entry.Epoch == entry.Epoch {
		return entry.Cursor
	}
	return reminder.Cursor{DoneTime: in.now, ThroughTime: in.now}
}
