package condition_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

// shown are the conditions as type=status reason, in their order.
func shown(conditions []metav1.Condition) []string {
	var all []string
	for _, c := range conditions {
		all = append(all, c.Type+"="+string(c.Status)+" "+c.Reason)
	}
	return all
}

func TestSummarise(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		summaries []condition.Summary
		want      []string
	}{
		"Ready alone":                       {[]condition.Summary{condition.Ready("Planned", "")}, []string{"Ready=True Planned"}},
		"waiting is Reconciling":            {[]condition.Summary{condition.Waiting("ChannelNotFound", "")}, []string{"Ready=False ChannelNotFound", "Reconciling=True ChannelNotFound"}},
		"stalled is Stalled":                {[]condition.Summary{condition.Stalled("InvalidSpec", "")}, []string{"Ready=False InvalidSpec", "Stalled=True InvalidSpec"}},
		"what was stalled and is ready":     {[]condition.Summary{condition.Stalled("InvalidSpec", ""), condition.Ready("Planned", "")}, []string{"Ready=True Planned"}},
		"what was waiting and is stalled":   {[]condition.Summary{condition.Waiting("Failed", ""), condition.Stalled("InvalidSpec", "")}, []string{"Ready=False InvalidSpec", "Stalled=True InvalidSpec"}},
		"what was stalled and waits":        {[]condition.Summary{condition.Stalled("InvalidSpec", ""), condition.Waiting("Failed", "")}, []string{"Ready=False Failed", "Reconciling=True Failed"}},
		"what was ready and is ready again": {[]condition.Summary{condition.Ready("Planned", ""), condition.Ready("Finished", "")}, []string{"Ready=True Finished"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var conditions []metav1.Condition
			for i, s := range c.summaries {
				condition.Summarise(&conditions, int64(i+1), s)
			}
			if diff := cmp.Diff(c.want, shown(conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if faults := condition.Check(conditions, int64(len(c.summaries))); len(faults) > 0 {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

func TestSummariseKeepsTheTimeWhileTheStatusStays(t *testing.T) {
	t.Parallel()
	long := metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	conditions := []metav1.Condition{{Type: v1alpha1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Planned", LastTransitionTime: long}}
	condition.Summarise(&conditions, 2, condition.Ready("Finished", ""))
	if got := conditions[0].LastTransitionTime; !got.Equal(&long) {
		t.Errorf("another reason moved lastTransitionTime to %s", got)
	}
	condition.Summarise(&conditions, 2, condition.Waiting("Failed", ""))
	if got := conditions[0].LastTransitionTime; got.Equal(&long) {
		t.Error("another status left lastTransitionTime as it was")
	}
}

func TestMessagesAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one byte each":    strings.Repeat("a", 2000),
		"two bytes each":   strings.Repeat("ä", 1000),
		"three bytes each": strings.Repeat("€", 1000),
		"four bytes each":  strings.Repeat("😀", 1000),
		"shifted by one":   "a" + strings.Repeat("😀", 1000),
		"shifted by two":   "aa" + strings.Repeat("😀", 1000),
		"shifted by three": "aaa" + strings.Repeat("😀", 1000),
		"not UTF-8 at all": strings.Repeat("\x80", 2000),
	} {
		var conditions []metav1.Condition
		condition.Set(&conditions, 1, "Ready", metav1.ConditionTrue, "Planned", text)
		for what, got := range map[string]string{"condition": conditions[0].Message, "summary": condition.Ready("Planned", text).Message()} {
			if len(got) > 1024 || !strings.HasSuffix(got, "...") {
				t.Errorf("%s: the %s has %d bytes and ends in %q", name, what, len(got), got[max(0, len(got)-5):])
			}
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Errorf("%s: the %s was cut inside a character", name, what)
			}
		}
	}
	short := strings.Repeat("ä", 512)
	if got := condition.Ready("Planned", short).Message(); got != short {
		t.Errorf("a message of 1024 bytes was cut to %d", len(got))
	}
}

func TestCheckFindsWhatKstatusWouldStumbleOver(t *testing.T) {
	t.Parallel()
	is := func(name string, status metav1.ConditionStatus, generation int64) metav1.Condition {
		return metav1.Condition{Type: name, Status: status, ObservedGeneration: generation}
	}
	cases := map[string]struct {
		conditions []metav1.Condition
		want       []string
	}{
		"nothing":                           {nil, []string{"Ready is missing"}},
		"Ready":                             {[]metav1.Condition{is("Ready", "True", 2)}, nil},
		"Ready of an older generation":      {[]metav1.Condition{is("Ready", "True", 1)}, []string{"Ready speaks of another generation"}},
		"another of an older generation":    {[]metav1.Condition{is("Ready", "True", 2), is("SLOMet", "True", 1)}, []string{"SLOMet speaks of another generation"}},
		"Stalled that is False":             {[]metav1.Condition{is("Ready", "False", 2), is("Stalled", "False", 2)}, []string{"Ready is not True, and neither Reconciling nor Stalled says why", "Stalled is present and not True"}},
		"Ready and Reconciling at once":     {[]metav1.Condition{is("Ready", "True", 2), is("Reconciling", "True", 2)}, []string{"Ready and Reconciling are both True"}},
		"not Ready, for no kstatus reason":  {[]metav1.Condition{is("Ready", "False", 2)}, []string{"Ready is not True, and neither Reconciling nor Stalled says why"}},
		"not Ready because it is Stalled":   {[]metav1.Condition{is("Ready", "False", 2), is("Stalled", "True", 2)}, nil},
		"not Ready because it reconciles":   {[]metav1.Condition{is("Ready", "False", 2), is("Reconciling", "True", 2)}, nil},
		"Reconciling and Stalled at a time": {[]metav1.Condition{is("Ready", "False", 2), is("Reconciling", "True", 2), is("Stalled", "True", 2)}, []string{"Reconciling and Stalled are both True"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, condition.Check(c.conditions, 2)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummaryTellsItsKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		summary        condition.Summary
		ready, stalled bool
	}{
		"ready":   {condition.Ready("A", "b"), true, false},
		"waiting": {condition.Waiting("A", "b"), false, false},
		"stalled": {condition.Stalled("A", "b"), false, true},
	} {
		s := c.summary
		if s.IsReady() != c.ready || s.IsStalled() != c.stalled || s.Reason() != "A" || s.Message() != "b" {
			t.Errorf("%s: ready %v, stalled %v, %s: %s", name, s.IsReady(), s.IsStalled(), s.Reason(), s.Message())
		}
		var conditions []metav1.Condition
		condition.Summarise(&conditions, 1, s)
		if got := meta.IsStatusConditionTrue(conditions, v1alpha1.ReadyCondition); got != c.ready {
			t.Errorf("%s: Ready is %v, want %v", name, got, c.ready)
		}
	}
}
