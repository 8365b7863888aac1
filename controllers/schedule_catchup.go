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
func missedBetween(in scheduleInput, behind time.Time) *reminder.Gap {
	var gap reminder.Gap
	for _, h := range in.history() {
		l := lapsedOf(in, h, h.since(behind))
		if l.n <= 0 {
			continue
		}
		gap.Reminders += l.n * int64(len(h.Recipients))
		if gap.FirstDueTime.IsZero() || l.first.Before(gap.FirstDueTime) {
			gap.FirstDueTime = l.first
		}
		gap.LastDueTime = later(gap.LastDueTime, l.last)
	}
	if gap.Reminders == 0 {
		return nil
	}
	return &gap
}

// lapsed are occurrences that are given up: how many, the first and the last.
type lapsed struct {
	n           int64
	first, last time.Time
}

// lapsedOf are those of a history that fell due behind since, that are not taken up,
// and that the plan before an edit did not have.
func lapsedOf(in scheduleInput, h history, since time.Time) lapsed {
	if !since.Before(in.now) {
		return lapsed{}
	}
	s, until := convert.OccurrencesOf(in.object, *h.Series), in.now
	taken := caughtUp(in.object, s, since, in.now)
	if len(taken) > 0 {
		until = taken[0].Due.Add(-time.Second)
	}
	planned := in.stands(h, s, since, until)
	l := lapsed{n: s.Count(since, until) - int64(len(planned))}
	if l.n <= 0 {
		return lapsed{}
	}
	l.first, l.last = bounds(s, planned, since, until)
	return l
}

// bounds are the first and the last occurrence behind since and up to a time that is not
// among the planned ones. There is one.
func bounds(s convert.Occurrences, planned map[time.Time]bool, since, until time.Time) (first, last time.Time) {
	o, ok := s.Next(since)
	for ok && planned[o.Due] {
		o, ok = s.Next(o.Due)
	}
	first = o.Due
	o, ok = s.Previous(until)
	for ok && planned[o.Due] {
		o, ok = s.Previous(o.Due.Add(-time.Second))
	}
	return first, o.Due
}

// stands are the occurrences behind since and up to a time that the plan before an
// edit had too, by their due times.
func (in scheduleInput) stands(h history, s convert.Occurrences, since, until time.Time) map[time.Time]bool {
	have := in.had[h.Recipients[0].ID]
	if len(have) == 0 {
		return nil
	}
	planned := map[time.Time]bool{}
	for o := range s.Between(since, earlier(until, in.entry.Cursor.ThroughTime)) {
		if _, ok := have[slotOf(in.object, o)]; ok {
			planned[o.Due] = true
		}
	}
	return planned
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
