package plugin

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/audit"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// unobserved: waiting may help.
const unobserved = "the operator has not planned its present spec"

// expectation works out from a schedule itself which of its reminders must have a record.
type expectation struct {
	obj       *v1alpha1.ReminderSchedule
	entry     reminder.Schedule
	now       time.Time
	retention time.Duration

	series []convert.Series
	moved  map[zoneTime]string
	proven audit.Range
}

// zoneTime is a due time of the recipients in a zone.
type zoneTime struct {
	zone string
	due  int64 // Unix seconds
}

// work says why nothing can be expected, or nothing.
func (e *expectation) work(ctx context.Context, s shelf) (why string) {
	obj, entry := e.obj, e.entry
	switch want := convert.Entry(obj, nil); {
	case entry.Epoch == 0 || entry.UID != want.UID || entry.Deleted || entry.Generation != want.Generation || entry.PlanHash != want.PlanHash:
		return unobserved
	case entry.TimeZoneData != schedule.TZDataVersion():
		return fmt.Sprintf("the operator plans with time zone data %s, this plugin has %s", entry.TimeZoneData, schedule.TZDataVersion())
	case len(obj.Spec.RecipientsFrom) > 0:
		return "its recipients come from elsewhere"
	}
	days := &dated{shelf: s}
	calendar, err := newCalendars(days).named(ctx, obj.Namespace, obj.Spec.Schedule.CalendarName)
	if err != nil {
		return "its calendar cannot be used"
	}
	compiled, err := convert.Schedule(obj, calendar)
	if err != nil {
		return "its times cannot be used"
	}
	e.series, _ = convert.SeriesOf(obj, compiled, convert.Recipients(obj))
	e.moved = map[zoneTime]string{}
	for _, m := range entry.Moved {
		e.moved[zoneTime{m.Zone, m.DueTime.Unix()}] = m.Slot
	}
	e.proven = audit.Range{From: e.from(days.edited), Through: e.now}
	if entry.Suspended && entry.Cursor.DoneTime.Before(e.now) {
		e.proven.Through = entry.Cursor.DoneTime // nothing is planned since
	}
	if !e.proven.Through.After(e.proven.From) {
		return "nothing has fallen due since its last edit"
	}
	return ""
}

// from is since when the spec, the recipients and the calendar are what they are, and records are kept.
func (e *expectation) from(calendarEdit time.Time) time.Time {
	from := e.obj.CreationTimestamp.UTC()
	for _, t := range []time.Time{e.entry.EditTime, e.entry.ResumeTime, e.now.Add(-e.retention)} {
		from = latest(from, t)
	}
	if !calendarEdit.IsZero() {
		from = latest(from, calendarEdit.Add(time.Minute)) // until the operator has seen it
	}
	if e.entry.PlanGeneration != e.obj.Generation { // recipients may have come and gone
		from = latest(from, edited(e.obj))
	}
	return from.UTC()
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// slots yields each reminder that must have fallen due.
func (e *expectation) slots(yield func(audit.Slot) bool) {
	for i := range e.series {
		s := &e.series[i]
		for o := range convert.OccurrencesOf(e.obj, *s).Between(e.proven.From, e.proven.Through) {
			key := reminder.Key{Namespace: e.obj.Namespace, Schedule: e.obj.Name, Slot: e.slot(s, o), Channel: e.entry.Channel}
			for _, r := range s.Recipients {
				key.Recipient = r.ID
				if !yield(audit.Slot{Key: key, Due: o.Due}) {
					return
				}
			}
		}
	}
}

func (e *expectation) slot(s *convert.Series, o schedule.Occurrence) string {
	if slot, ok := e.moved[zoneTime{s.Zone, o.Due.Unix()}]; ok && e.obj.Spec.Identity != v1alpha1.IdentityBusinessDate {
		return slot
	}
	return slotOf(e.obj, o)
}

// dated is a shelf that remembers when the last of what was read was edited.
type dated struct {
	shelf
	edited time.Time
}

func (d *dated) businessCalendar(ctx context.Context, namespace, name string) (*v1alpha1.BusinessCalendar, error) {
	obj, err := d.shelf.businessCalendar(ctx, namespace, name)
	if err == nil {
		d.edited = latest(d.edited, edited(obj))
	}
	return obj, err
}

func (d *dated) iCalendarMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	obj, err := d.shelf.iCalendarMap(ctx, namespace, name)
	if err == nil {
		d.edited = latest(d.edited, edited(obj))
	}
	return obj, err
}

// edited is when an object was changed last, its status aside.
func edited(obj metav1.Object) time.Time {
	last := obj.GetCreationTimestamp().UTC()
	for _, entry := range obj.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil {
			last = latest(last, entry.Time.UTC())
		}
	}
	return last
}
