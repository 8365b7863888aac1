package controllers

import (
	"fmt"
	"strconv"

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
