package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// describeReplay writes counts and start into status.
func describeReplay(obj *v1alpha1.ReminderReplay, p *replayProgress) {
	s := &obj.Status
	s.Matched, s.Replayed, s.Discarded, s.Refused = p.plan.matched, p.plan.replayed, p.plan.discarded, nil
	if would := int64(len(p.plan.todo)); obj.Spec.DryRun && obj.Spec.Action == v1alpha1.ActionDiscard {
		s.Discarded += would
	} else if obj.Spec.DryRun {
		s.Replayed += would
	}
	for reason, n := range p.plan.refused {
		s.Refused = append(s.Refused, v1alpha1.ReasonCount{Reason: string(reason), Count: n})
	}
	slices.SortFunc(s.Refused, func(a, b v1alpha1.ReasonCount) int { return cmp.Compare(a.Reason, b.Reason) })
	if s.StartTime == nil {
		s.StartTime = seconds(p.started)
	}
}

func seconds(t time.Time) *metav1.Time { return &metav1.Time{Time: t.UTC().Truncate(time.Second)} }

// underWay is the report of an operation that goes on after a wait.
func underWay(obj *v1alpha1.ReminderReplay, p *replayProgress, wait time.Duration) report {
	describeReplay(obj, p)
	text := fmt.Sprintf("%d of %d done", obj.Status.Replayed+obj.Status.Discarded, obj.Status.Matched)
	return report{summary: condition.Waiting(v1alpha1.ReasonRunning, text), again: wait}
}

// ended is the report of an operation that has nothing left to do.
func ended(obj *v1alpha1.ReminderReplay, o replayOperation, p *replayProgress) report {
	describeReplay(obj, p)
	s := obj.Status
	text := strings.Join(append([]string{fmt.Sprintf("%d replayed, %d discarded", s.Replayed, s.Discarded)}, refusals(s.Refused)...), "; ")
	if p.plan.beyond > 0 {
		text += fmt.Sprintf("; %s beyond the limit of %d: create another ReminderReplay for them", matchMore(p.plan.beyond), limitOf(obj))
	}
	switch name := obj.Spec.ScheduleName; {
	case o.facts.Deleted:
		return report{summary: condition.Stalled(v1alpha1.ReasonScheduleDeleted, fmt.Sprintf("schedule %s was deleted, and its dead letters are neither sent nor closed any more: %s", name, text))}
	case obj.Spec.DryRun:
		return report{summary: condition.Ready(v1alpha1.ReasonDryRunCompleted, "nothing was changed; without dryRun: "+text)}
	case s.Matched == 0:
		return report{summary: condition.Ready(v1alpha1.ReasonNothingMatched, fmt.Sprintf("no open dead letter of schedule %s matches", name))}
	case len(s.Refused) > 0:
		return report{summary: condition.Stalled(v1alpha1.ReasonPartlyRefused, text)}
	}
	return report{summary: condition.Ready(v1alpha1.ReasonCompleted, text)}
}

func matchMore(n int) string {
	if n == 1 {
		return "1 more matches"
	}
	return fmt.Sprintf("%d more match", n)
}

// refusalRemedies say what a person can do about a refusal.
var refusalRemedies = map[reminder.Reason]string{
	reminder.DeadlineReached:        "set extendDeadline",
	reminder.ReconciliationRequired: "may have been accepted; ask the receiver, then name the reason or the keys",
	reminder.ReplayBudgetExhausted:  "find the cause, or discard",
	reminder.Suspended:              "resume the schedule first",
	reminder.Superseded:             "the schedule's times were edited since; discard",
}

// refusals are the counts of refusals as a person reads them.
func refusals(counts []v1alpha1.ReasonCount) (texts []string) {
	for _, c := range counts {
		text := fmt.Sprintf("%d refused as %s", c.Count, c.Reason)
		if remedy := refusalRemedies[reminder.Reason(c.Reason)]; remedy != "" {
			text += " (" + remedy + ")"
		}
		texts = append(texts, text)
	}
	return texts
}

// writeStatus writes conditions and counts. A pass that succeeded and does not wait
// ends the operation for good.
func (r *replayReconciler) writeStatus(ctx context.Context, obj, before *v1alpha1.ReminderReplay, found report, ok bool) (time.Duration, error) {
	s, generation := found.summary, obj.Generation
	succeeded := metav1.ConditionUnknown
	switch {
	case !ok || !s.IsReady() && !s.IsStalled():
	case s.IsReady():
		succeeded = metav1.ConditionTrue
	default:
		succeeded = metav1.ConditionFalse
	}
	if succeeded != metav1.ConditionUnknown {
		obj.Status.CompletionTime = seconds(r.Now())
		if obj.Status.StartTime == nil {
			obj.Status.StartTime = obj.Status.CompletionTime
		}
	}
	if ok {
		obj.Status.ObservedGeneration = generation
	}
	condition.Set(&obj.Status.Conditions, generation, v1alpha1.SucceededCondition, succeeded, s.Reason(), s.Message())
	condition.Summarise(&obj.Status.Conditions, generation, s)
	changed := condition.Differs(before.Status, obj.Status)
	wait, err := r.status.Write(ctx, obj, before, changed)
	if err == nil && changed && wait == 0 && s.Reason() != v1alpha1.ReasonRunning {
		r.transition(obj, before.Status.Conditions, s)
	}
	return wait, err
}
