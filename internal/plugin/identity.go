package plugin

import (
	"cmp"
	"fmt"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// editNotes say what an edit changes beside the occurrences: one that is kept may still be another reminder, which is sent
// although the one before it was, or be released at another time.
func editNotes(before, after *v1alpha1.ReminderSchedule) []string {
	notes := []string{}
	if before == nil || after == nil {
		return notes
	}
	if a, b := before.Spec.ChannelName, after.Spec.ChannelName; a != b {
		notes = append(notes, fmt.Sprintf("spec.channelName changes from %s to %s: all are other reminders, also for occurrences that are kept", a, b))
	}
	a, b := cmp.Or(before.Spec.Identity, v1alpha1.IdentityDueTime), cmp.Or(after.Spec.Identity, v1alpha1.IdentityDueTime)
	switch {
	case a != b:
		notes = append(notes, fmt.Sprintf("spec.identity changes from %s to %s: all are other reminders, also for occurrences that are kept", a, b))
	case a == v1alpha1.IdentityBusinessDate:
		notes = append(notes, "spec.identity is BusinessDate: what stays on its date is the same reminder, whatever its time")
	}
	if a, b := convert.Jitter(before), convert.Jitter(after); a != b {
		notes = append(notes, fmt.Sprintf("spec.schedule.jitter changes from %s to %s: reminders are released at other times, also for occurrences that are kept", a, b))
	}
	if !before.Spec.Suspend && after.Spec.Suspend {
		notes = append(notes, "the schedule is suspended: none of them is sent")
	}
	if before.Spec.Suspend && !after.Spec.Suspend {
		notes = append(notes, "the schedule is no longer suspended")
	}
	return append(notes, audienceNotes(before.Spec.Recipients, after.Spec.Recipients)...)
}

// audienceNotes count the inline recipients that come and go.
func audienceNotes(before, after []v1alpha1.Recipient) []string {
	var notes []string
	if n := absent(before, after); n > 0 {
		notes = append(notes, "spec.recipients: "+counted(n, "recipient")+" removed")
	}
	if n := absent(after, before); n > 0 {
		notes = append(notes, "spec.recipients: "+counted(n, "recipient")+" added")
	}
	return notes
}

// absent counts those that the other does not have, or has as inactive.
func absent(all, other []v1alpha1.Recipient) int {
	known := map[string]bool{}
	for _, r := range other {
		known[r.ID] = known[r.ID] || active(r)
	}
	n := 0
	for _, r := range all {
		if active(r) && !known[r.ID] {
			n++
		}
	}
	return n
}

func active(r v1alpha1.Recipient) bool { return r.Active == nil || *r.Active }
