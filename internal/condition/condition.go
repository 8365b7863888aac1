package condition

import (
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
)

// Summary is how an object is: ready, waiting or stalled.
type Summary struct {
	kind    kind
	reason  string
	message string
}

type kind int

const (
	ready kind = iota
	waiting
	stalled
)

// Ready: the object does what its spec says.
func Ready(reason, message string) Summary { return Summary{ready, reason, clip(message)} }

// Waiting: not yet, and it may come by itself.
func Waiting(reason, message string) Summary { return Summary{waiting, reason, clip(message)} }

// Stalled: only an edit of the object can help.
func Stalled(reason, message string) Summary { return Summary{stalled, reason, clip(message)} }

// Saying is the same summary with another message.
func (s Summary) Saying(message string) Summary { return Summary{s.kind, s.reason, clip(message)} }

// IsReady tells whether the summary says Ready.
func (s Summary) IsReady() bool { return s.kind == ready }

// IsStalled tells whether the summary says Stalled.
func (s Summary) IsStalled() bool { return s.kind == stalled }

// Reason in one word, as it stands in the conditions.
func (s Summary) Reason() string { return s.reason }

// Message for people, short enough for a condition and for an event.
func (s Summary) Message() string { return s.message }

// Summarise writes Ready, Reconciling and Stalled for a generation.
func Summarise(conditions *[]metav1.Condition, generation int64, s Summary) {
	status := metav1.ConditionFalse
	if s.kind == ready {
		status = metav1.ConditionTrue
	}
	Set(conditions, generation, v1alpha1.ReadyCondition, status, s.reason, s.message)
	whileTrue(conditions, generation, v1alpha1.ReconcilingCondition, s, waiting)
	whileTrue(conditions, generation, v1alpha1.StalledCondition, s, stalled)
}

func whileTrue(conditions *[]metav1.Condition, generation int64, name string, s Summary, when kind) {
	if s.kind == when {
		Set(conditions, generation, name, metav1.ConditionTrue, s.reason, s.message)
		return
	}
	meta.RemoveStatusCondition(conditions, name)
}

// maxMessage keeps status small; it is also what the API allows for an event.
const maxMessage = 1024

// clip cuts a message between two characters.
func clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage - len("...")
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(message[end]); back++ {
		end--
	}
	return message[:end] + "..."
}

// Set writes one condition for a generation.
func Set(conditions *[]metav1.Condition, generation int64, name string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: name, Status: status, ObservedGeneration: generation, Reason: reason, Message: clip(message),
	})
}

// Check tells what is wrong with the conditions of an object that has settled,
// for tests: empty when nothing is.
func Check(conditions []metav1.Condition, generation int64) []string {
	var faults []string
	r := meta.FindStatusCondition(conditions, v1alpha1.ReadyCondition)
	if r == nil {
		return []string{"Ready is missing"}
	}
	for _, c := range conditions {
		if c.ObservedGeneration != generation {
			faults = append(faults, c.Type+" speaks of another generation")
		}
	}
	reconciling := meta.IsStatusConditionTrue(conditions, v1alpha1.ReconcilingCondition)
	stalled := meta.IsStatusConditionTrue(conditions, v1alpha1.StalledCondition)
	switch {
	case reconciling && stalled:
		faults = append(faults, "Reconciling and Stalled are both True")
	case r.Status != metav1.ConditionTrue && !reconciling && !stalled:
		faults = append(faults, "Ready is not True, and neither Reconciling nor Stalled says why")
	}
	for _, name := range []string{v1alpha1.ReconcilingCondition, v1alpha1.StalledCondition} {
		c := meta.FindStatusCondition(conditions, name)
		if c != nil && c.Status != metav1.ConditionTrue {
			faults = append(faults, name+" is present and not True")
		}
		if c != nil && c.Status == r.Status && r.Status == metav1.ConditionTrue {
			faults = append(faults, "Ready and "+name+" are both True")
		}
	}
	return faults
}
