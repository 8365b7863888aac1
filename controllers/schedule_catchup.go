package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// catchUpPace is the time between two occurrences that are caught up for one
// recipient.
const catchUpPace = time.Second

// caughtUp are the occurrences, oldest first, that fell due behind since and up to
// now, and that catchUp takes up: those inside the window whose deadline has not
// passed, the newest first, as many as the policy allows.
func caughtUp(obj *v1alpha1.ReminderSchedule, s convert.Occurrences, since, now time.Time) []schedule.Occurrence {
	c, deadlines := convert.CatchUp(obj), convert.DeadlinesOf(obj)
	oldest := later(since, now.Add(-c.Window))
	var taken []schedule.Occurrence
	o, ok := s.Previous(now)
	for ; ok && o.Due.After(oldest) && deadlines.Of(s.Schedule, o.Due).After(now) && len(taken) < c.Limit; o, ok = s.Previous(o.Due.Add(-time.Second)) {
		taken = append(taken, o)
	}
	slices.Reverse(taken)
	return taken
}

// missedBetween counts what fell due behind a time and up to now, and is given up; nil
// for nothing.
func missedBetween(in scheduleInput, since time.Time) *reminder.Gap {
	var gap reminder.Gap
	for _, h := range in.history() {
		s, from := convert.OccurrencesOf(in.object, *h.Series), later(since, h.joined)
		taken := caughtUp(in.object, s, from, in.now)
		n := s.Count(from, in.now) - int64(len(taken))
		if n <= 0 {
			continue
		}
		gap.Reminders += n * int64(len(h.Recipients))
		first, last := ends(s, from, in.now, taken)
		if gap.FirstDueTime.IsZero() || first.Before(gap.FirstDueTime) {
			gap.FirstDueTime = first
		}
		gap.LastDueTime = later(gap.LastDueTime, last)
	}
	if gap.Reminders == 0 {
		return nil
	}
	return &gap
}

// ends are the first and the last occurrence that is given up.
func ends(s convert.Occurrences, since, now time.Time, taken []schedule.Occurrence) (first, last time.Time) {
	if o, ok := s.Next(since); ok {
		first = o.Due
	}
	until := now
	if len(taken) > 0 {
		until = taken[0].Due.Add(-time.Second)
	}
	if o, ok := s.Previous(until); ok {
		last = o.Due
	}
	return first, later(first, last)
}

// confirm asks the broker's clock before a plan gives up occurrences because they are
// past: a clock of ours that has jumped ahead must not cost reminders that are still
// to come.
func (r *scheduleReconciler) confirm(ctx context.Context, p schedulePlan, now time.Time) error {
	if p.entry.Cursor.Missed == nil || !p.write {
		return nil
	}
	theirs, err := r.Broker.Registry.Time(ctx)
	if err != nil {
		return err
	}
	if ahead := now.Sub(theirs); ahead > tardy {
		return fmt.Errorf("give up what is past: the clock of this process is %s ahead of NATS's; set the clocks, and it goes on by itself", ahead.Round(time.Second))
	}
	return nil
}

// missedRun is a gap with the name that its record has.
type missedRun struct {
	key   reminder.Key
	epoch int64
	gap   reminder.Gap
}

// gapsOf are the runs that the registry has decided to give up and whose record is
// not known to be there: that of a plan that was cut off, and that of this one. One
// that was decided so long ago that its record can have expired is not recorded
// again, or it would be counted twice.
func gapsOf(in scheduleInput, entry reminder.Schedule) []missedRun {
	var runs []missedRun
	for _, e := range []reminder.Schedule{in.entry, entry} {
		c := e.Cursor
		if c.Missed == nil || c.CatchUpTime.Add(in.retention).Before(in.now) {
			continue
		}
		run := missedRun{reminder.GapKey(e.Namespace, e.Name, e.Channel, c.Missed.FirstDueTime), e.Epoch, *c.Missed}
		if !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
	}
	return runs
}
