package convert

import (
	"strconv"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
)

// use is a field that is set, with its path.
type use struct {
	path string
	set  bool
}

func paths(uses []use) []string {
	var set []string
	for _, u := range uses {
		if u.set {
			set = append(set, u.path)
		}
	}
	return set
}

// UnsupportedSchedule names the fields of a schedule that are set and that this
// version does not act on.
func UnsupportedSchedule(obj *v1alpha1.ReminderSchedule) []string {
	spec := obj.Spec
	uses := []use{
		{"spec.recipientsFrom", len(spec.RecipientsFrom) > 0},
		{"spec.slo", spec.SLO != nil},
	}
	return paths(uses)
}

// UnsupportedChannel names the fields of a channel that are set and that this
// version does not act on.
func UnsupportedChannel(obj *v1alpha1.ReminderChannel) []string {
	w := obj.Spec.Workers
	if w == nil {
		return nil
	}
	return paths([]use{
		{"spec.workers.minReplicas", w.MinReplicas != nil},
		{"spec.workers.maxReplicas", w.MaxReplicas != nil},
		{"spec.workers.drainWithin", w.DrainWithin != nil},
	})
}

// Listed puts paths into one sentence.
func Listed(fields []string) string {
	text := ""
	for i, f := range fields {
		if i > 0 {
			text += ", "
		}
		if i == 5 {
			return text + "and " + strconv.Itoa(len(fields)-5) + " more"
		}
		text += f
	}
	return text
}
