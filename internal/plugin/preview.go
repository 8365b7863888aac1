package plugin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// maxExcluded is how many recipients without an occurrence are named.
const maxExcluded = 10

// occurrence is one that a schedule comes to.
type occurrence struct {
	schedule.Occurrence
	recipient string // its id, if recipients differ in their occurrences
	zone      *time.Location
	series    *schedule.Schedule
}

// differs tells whether recipients of a schedule have occurrences of their own.
func differs(obj *v1alpha1.ReminderSchedule) bool {
	s := obj.Spec.Schedule
	return s.Anchor != nil || s.TimeZoneFrom == v1alpha1.TimeZoneFromRecipient && s.Every == nil
}

// upcoming are the occurrences of a schedule, as its identity counts them, that are due after an instant, in the order of their due times and then of
// the recipients' ids, as many as count over all recipients.
func upcoming(obj *v1alpha1.ReminderSchedule, compiled *schedule.Schedule, after time.Time, count int) ([]occurrence, []string) {
	all := convert.OccurrencesOf(obj, convert.Series{Schedule: compiled})
	if !differs(obj) {
		return nextOf(all, after, count), nil
	}
	series, excluded := convert.SeriesOf(obj, compiled, convert.Recipients(obj))
	warnings := excludedWarnings(excluded)
	if len(obj.Spec.RecipientsFrom) > 0 {
		warnings = append(warnings, "recipients of spec.recipientsFrom are not shown")
	}
	if len(series) == 0 && len(excluded) == 0 && !compiled.Anchored() {
		return nextOf(all, after, count), append(warnings, "no recipient is known: these are the times of recipients without a zone of their own")
	}
	return merge(obj, series, after, count), warnings
}

func nextOf(s convert.Occurrences, after time.Time, count int) []occurrence {
	var all []occurrence
	for len(all) < count {
		next, ok := s.Next(after)
		if !ok {
			break
		}
		all = append(all, occurrence{Occurrence: next, zone: s.Location(), series: s.Schedule})
		after = next.Due
	}
	return all
}

// merge puts the occurrences of several series in order.
func merge(obj *v1alpha1.ReminderSchedule, series []convert.Series, after time.Time, count int) []occurrence {
	heads := make([]head, 0, len(series))
	for _, s := range series {
		own := convert.OccurrencesOf(obj, s)
		if next, ok := own.Next(after); ok {
			heads = append(heads, head{next, own, s.Recipients})
		}
	}
	var all []occurrence
	for len(heads) > 0 && len(all) < count {
		due := slices.MinFunc(heads, func(a, b head) int { return a.Due.Compare(b.Due) }).Due
		var now []occurrence
		for i := range heads {
			if heads[i].Due.Equal(due) {
				now = append(now, heads[i].all()...)
				heads[i].advance()
			}
		}
		heads = slices.DeleteFunc(heads, func(h head) bool { return h.Due.IsZero() })
		slices.SortFunc(now, func(a, b occurrence) int { return strings.Compare(a.recipient, b.recipient) })
		all = append(all, now[:min(len(now), count-len(all))]...)
	}
	return all
}

// head is the next occurrence of a series; the zero time at its end.
type head struct {
	schedule.Occurrence
	series     convert.Occurrences
	recipients []reminder.Recipient
}

func (h *head) advance() {
	next, _ := h.series.Next(h.Due)
	h.Occurrence = next
}

// all is the head for each recipient.
func (h *head) all() []occurrence {
	all := make([]occurrence, 0, len(h.recipients))
	for _, r := range h.recipients {
		all = append(all, occurrence{Occurrence: h.Occurrence, recipient: r.ID, zone: h.series.Location(), series: h.series.Schedule})
	}
	return all
}

// scheduleWarnings are what is allowed in a schedule and probably not meant.
func scheduleWarnings(obj *v1alpha1.ReminderSchedule, compiled *schedule.Schedule) []string {
	var warnings []string
	if obj.Spec.Suspend {
		warnings = append(warnings, "suspended: nothing is sent while spec.suspend is true")
	}
	all := compiled.Warnings()
	name := obj.Spec.Schedule.TimeZone
	explained := slices.ContainsFunc(all, func(w string) bool { return strings.HasPrefix(w, name+" ") })
	if name != "" && name != compiled.Zone() && !explained {
		warnings = append(warnings, fmt.Sprintf("timeZone: %s is another name of %s, which status shows", name, compiled.Zone()))
	}
	return append(warnings, all...)
}

// excludedWarnings name recipients that have no occurrence, without what they say.
func excludedWarnings(excluded []convert.Excluded) []string {
	var warnings []string
	for i, e := range excluded {
		if i == maxExcluded {
			return append(warnings, fmt.Sprintf("%d more recipients are left out", len(excluded)-i))
		}
		warnings = append(warnings, fmt.Sprintf("recipient %s is left out: %v", e.Recipient, e.Err))
	}
	return warnings
}

// assumeCreation gives a schedule that counts from its creation and was not created yet a time to count from.
func assumeCreation(obj *v1alpha1.ReminderSchedule, from time.Time) (warnings []string) {
	s := obj.Spec.Schedule
	if s.Every == nil || s.StartTime != nil || !obj.CreationTimestamp.IsZero() {
		return nil
	}
	obj.CreationTimestamp.Time = from.UTC().Truncate(time.Second)
	return []string{"assumes creation at " + instant(from) + ", from which every counts as long as there is no startTime"}
}

// instant is a time as the output has it.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
