package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// scheduleTimes is a schedule's spec with everything that decides when whom it
// reminds.
type scheduleTimes struct {
	compiled   *schedule.Schedule
	calendar   string // digest; empty without one
	recipients []reminder.Recipient
	series     []convert.Series
	excluded   []convert.Excluded
}

// timesOf compiles a schedule with its calendar and its recipients. The summary says
// what is wrong with them; nil for nothing.
func (r *scheduleReconciler) timesOf(ctx context.Context, obj *v1alpha1.ReminderSchedule) (scheduleTimes, *condition.Summary, error) {
	var t scheduleTimes
	var days *calendar.Calendar
	if name := obj.Spec.Schedule.CalendarName; name != "" {
		var err error
		if days, err = r.calendar(ctx, obj.Namespace, name); isCalendarFault(err) {
			s := waitForCalendar(err)
			return t, &s, nil
		}
		if err != nil {
			return t, nil, err
		}
		t.calendar = days.Digest()
	}
	compiled, err := convert.Schedule(obj, days)
	if err != nil {
		s := invalid(err)
		return t, &s, nil
	}
	t.compiled, t.recipients = compiled, convert.Recipients(obj)
	t.series, t.excluded = convert.SeriesOf(obj, compiled, t.recipients)
	return t, nil, nil
}

// waitForCalendar is what a schedule's status says while its calendar cannot be used.
func waitForCalendar(err error) condition.Summary {
	if errors.Is(err, convert.ErrCalendarNotFound) {
		return condition.Waiting(v1alpha1.ReasonCalendarNotFound, err.Error())
	}
	return condition.Waiting(v1alpha1.ReasonCalendarNotReady, err.Error())
}

// plannedOfLate are the slots of a schedule that are due later, or were not long ago:
// no change of a zone's rules moves an instant by more than a day. A record of each is
// kept, however many recipients there are.
func (r *scheduleReconciler) plannedOfLate(ctx context.Context, obj *v1alpha1.ReminderSchedule, series []convert.Series, now time.Time) (plannedSlots, error) {
	of, all := seriesOf(series), plannedSlots{}
	err := r.Broker.Ledger.Of(ctx, obj.Namespace, obj.Name, func(rev broker.Revision) error {
		s := of[rev.Record.Key.Recipient]
		if rev.Err == nil && s != nil && rev.Record.Due().After(now.Add(-48*time.Hour)) {
			all.keep(s.Recipients[0].ID, rev.Record)
		}
		return nil
	})
	return all, in(errLedger, err)
}

// pastOf are the reminders of a schedule that are due and have no outcome, and the
// slots that are planned and due since an edit.
func (r *scheduleReconciler) pastOf(ctx context.Context, input *scheduleInput, edited time.Time) error {
	first := map[string]string{}
	for _, h := range input.history() {
		for _, person := range h.Recipients {
			first[person.ID] = h.Recipients[0].ID
		}
	}
	input.had = plannedSlots{}
	err := r.Broker.Ledger.Of(ctx, input.object.Namespace, input.object.Name, func(rev broker.Revision) error {
		due := rev.Record.Due()
		if rev.Err != nil || rev.Record.State == reminder.Missed || due.After(input.now) {
			return nil
		}
		if !rev.Record.State.Terminal() {
			input.waiting = append(input.waiting, rev.Record)
		}
		if id := first[rev.Record.Key.Recipient]; id == rev.Record.Key.Recipient && due.After(edited) {
			input.had.keep(id, rev.Record)
		}
		return nil
	})
	return in(errLedger, err)
}

// historyOf tells those recipients that were there when the operator planned the
// schedule last, with the clock and the date that they have now, from those that have
// come since, who have no part in what was due before they did; nil where it cannot
// tell.
func (r *scheduleReconciler) historyOf(ctx context.Context, obj *v1alpha1.ReminderSchedule, t scheduleTimes, entry reminder.Schedule, edited time.Time) ([]history, error) {
	had, complete, err := r.Broker.Audience.All(ctx, obj.Namespace, obj.Name, entry.AudienceHash)
	if err != nil || !complete {
		return nil, err
	}
	return since(obj, t.series, had, edited), nil
}

// since tells recipients that were there before an edit from those that came with it.
func since(obj *v1alpha1.ReminderSchedule, series []convert.Series, had []reminder.Recipient, edited time.Time) []history {
	before := map[string]reminder.Recipient{}
	for _, person := range had {
		before[person.ID] = person
	}
	return split(series, edited, func(person reminder.Recipient) bool {
		was, ok := before[person.ID]
		return !ok || !sameTimes(obj, was, person)
	})
}

// split parts those who have joined at a time from the other recipients of a series.
func split(series []convert.Series, joined time.Time, fresh func(reminder.Recipient) bool) (all []history) {
	for _, s := range series {
		old, others := s, s
		old.Recipients, others.Recipients = nil, nil
		for _, person := range s.Recipients {
			if fresh(person) {
				others.Recipients = append(others.Recipients, person)
			} else {
				old.Recipients = append(old.Recipients, person)
			}
		}
		if len(old.Recipients) > 0 {
			all = append(all, history{&old, time.Time{}})
		}
		if len(others.Recipients) > 0 {
			all = append(all, history{&others, joined})
		}
	}
	return all
}

// newcomers are the recipients of a past that have joined, and when.
func newcomers(past []history) (joined time.Time, ids []string) {
	for _, h := range past {
		if h.joined.IsZero() {
			continue
		}
		joined = h.joined
		for _, person := range h.Recipients {
			ids = append(ids, person.ID)
		}
	}
	return joined, ids
}

// sameTimes tells whether a recipient has the occurrences that it had.
func sameTimes(obj *v1alpha1.ReminderSchedule, was, is reminder.Recipient) bool {
	s := obj.Spec.Schedule
	return was.Active == is.Active && (s.TimeZoneFrom != v1alpha1.TimeZoneFromRecipient || was.TimeZone == is.TimeZone) &&
		(s.Anchor == nil || was.Attributes[s.Anchor.Attribute] == is.Attributes[s.Anchor.Attribute])
}

// over tells whether the schedule has no further occurrence, whoever its recipients
// are: dates that they bring along may be added for as long as there is no endTime.
func (t scheduleTimes) over(obj *v1alpha1.ReminderSchedule, now time.Time) bool {
	if obj.Spec.Suspend || !firstDue(obj, t.series, now).IsZero() {
		return false
	}
	if end := obj.Spec.Schedule.EndTime; end != nil && !now.Before(end.Time) {
		return true
	}
	_, more := t.compiled.Next(now)
	return !more && !t.compiled.Anchored()
}

// untilOver is the wait until the schedule may be over although no occurrence of a
// recipient has it looked at by then; 0 for never.
func (t scheduleTimes) untilOver(obj *v1alpha1.ReminderSchedule, now time.Time, interval time.Duration) time.Duration {
	if obj.Spec.Suspend || obj.Status.NextDueTime != nil || obj.Status.FinishTime != nil {
		return 0
	}
	var at time.Time
	if next, ok := t.compiled.Next(now); ok {
		at = next.Due
	} else if end := obj.Spec.Schedule.EndTime; end != nil && end.After(now) {
		at = end.Time
	}
	if at.IsZero() {
		return 0
	}
	return max(until(at, now)+time.Second, interval)
}

// warnings are what people should know of a schedule that is planned all the same.
func (t scheduleTimes) warnings() []string {
	all := t.compiled.Warnings()
	if n := len(t.excluded); n > 0 {
		first := t.excluded[0]
		all = append(all, fmt.Sprintf("%s without an occurrence, such as %s: %s", plural(int64(n), "recipient"), first.Recipient, first.Err))
	} else if len(t.series) == 0 {
		all = append(all, "there is no active recipient")
	}
	return all
}
