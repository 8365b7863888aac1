package controllers

import (
	"fmt"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// objections are the reasons why a schedule cannot be planned as it is written;
// nil when it can. Only an edit helps against them.
func objections(obj *v1alpha1.ReminderSchedule, channel *v1alpha1.ReminderChannel) *condition.Summary {
	if fields := convert.UnsupportedSchedule(obj); len(fields) > 0 {
		return stalled(v1alpha1.ReasonNotSupportedYet, "this version does not act on "+convert.Listed(fields)+"; remove it, and nothing is planned until then")
	}
	for _, err := range []error{convert.Messages(obj), convert.Eligibility(obj)} {
		if err != nil {
			return stalled(v1alpha1.ReasonInvalidSpec, err.Error())
		}
	}
	if channel == nil {
		return nil
	}
	if convert.Dedupes(channel) && obj.Spec.Delivery != nil && obj.Spec.Delivery.OnUnknown != "" {
		return stalled(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.delivery.onUnknown: channel %s deduplicates by key, so that no outcome stays unknown; remove the field", channel.Name))
	}
	return nil
}

// overlong objects to deadlines after which the channel has forgotten the key of a
// reminder, so that a repetition would be a second reminder.
func overlong(obj *v1alpha1.ReminderSchedule, channel *v1alpha1.ReminderChannel, series []convert.Series, now time.Time) *condition.Summary {
	if channel == nil || !convert.Dedupes(channel) {
		return nil
	}
	window, longest := convert.DedupeWindow(channel), convert.DeadlinesOf(obj).Longest(obj, series, now)
	if longest <= window {
		return nil
	}
	field, remedy := "deadline: "+longest.String()+" is", "shorten it"
	if d := obj.Spec.Delivery; d != nil && d.DeadlineTimeOfDay != "" {
		field, remedy = "deadlineTimeOfDay: "+d.DeadlineTimeOfDay+" comes up to "+longest.String()+" after a due time, which is", "set another time, or deadline"
	}
	return stalled(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.delivery.%s longer than channel %s remembers a key (%s); %s, or raise spec.dedupeWindow of the channel if its receiver allows", field, channel.Name, window, remedy))
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
