package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// maxUpcoming is how many due times status shows ahead.
const maxUpcoming = 5

// describe reads the counters and writes everything but Ready into status.
func (r *scheduleReconciler) describe(ctx context.Context, obj *v1alpha1.ReminderSchedule, compiled *schedule.Schedule, channel *v1alpha1.ReminderChannel, p schedulePlan) (report, error) {
	totals, _, err := r.Broker.Tally.Totals(ctx, obj.Namespace, obj.Name)
	if err != nil {
		return report{}, err
	}
	now := r.Now().UTC()
	describeTimes(obj, compiled, p, now)
	describeCounts(&obj.Status, totals, now)
	describeDeadLetters(&obj.Status, totals, obj.Generation)
	again := soonest(until(p.wake, now), nextChange(obj, totals, now, r.StatusInterval))
	return report{summary: summarise(obj, channel, totals), again: again}, nil
}

// nextChange is when status changes by the passing of time alone.
func nextChange(obj *v1alpha1.ReminderSchedule, totals reminder.Totals, now time.Time, interval time.Duration) time.Duration {
	if obj.Status.NextDueTime != nil {
		return max(until(obj.Status.NextDueTime.Time, now)+time.Second, interval)
	}
	if totals.Pending() > 0 {
		return interval
	}
	return 0
}

func describeTimes(obj *v1alpha1.ReminderSchedule, compiled *schedule.Schedule, p schedulePlan, now time.Time) {
	s := &obj.Status
	s.TimeZone = compiled.Zone()
	s.PlannedThroughTime = &metav1.Time{Time: p.through.Truncate(time.Second)}
	s.Upcoming, s.NextDueTime, s.LastDueTime = nil, nil, nil
	if last, ok := compiled.Previous(now); ok && last.Due.After(obj.CreationTimestamp.Time) {
		s.LastDueTime = &metav1.Time{Time: last.Due}
	}
	recipients := int64(0)
	for _, r := range p.recipients {
		if r.Active {
			recipients++
		}
	}
	s.Recipients = &recipients
	if obj.Spec.Suspend {
		return
	}
	for at := now; len(s.Upcoming) < maxUpcoming; {
		next, ok := compiled.Next(at)
		if !ok {
			break
		}
		s.Upcoming = append(s.Upcoming, metav1.Time{Time: next.Due})
		at = next.Due
	}
	if len(s.Upcoming) > 0 {
		s.NextDueTime = &s.Upcoming[0]
	}
}

func describeCounts(s *v1alpha1.ReminderScheduleStatus, t reminder.Totals, now time.Time) {
	s.Counts = &v1alpha1.ReminderCounts{
		Due: t.Due(now), Sent: t.Sent, SentLate: t.SentLate, Retried: t.Retried, Suppressed: t.Suppressed,
		Cancelled: t.Cancelled, Dead: t.Dead, Pending: t.Pending(), Republished: t.Republished,
	}
}

func describeDeadLetters(s *v1alpha1.ReminderScheduleStatus, t reminder.Totals, generation int64) {
	d := &v1alpha1.DeadLetterStatus{Open: t.Dead, Total: t.DeadTotal, Replayed: t.Replayed, Discarded: t.Discarded}
	for reason, count := range t.ByReason {
		d.ByReason = append(d.ByReason, v1alpha1.ReasonCount{Reason: string(reason), Count: count})
	}
	slices.SortFunc(d.ByReason, func(a, b v1alpha1.ReasonCount) int { return cmp.Compare(a.Reason, b.Reason) })
	for _, letter := range t.Recent {
		d.Recent = append(d.Recent, v1alpha1.DeadLetterRecord{
			Key: letter.Key.String(), Reason: string(letter.Reason), Attempts: int32(min(letter.Attempts, 1<<30)),
			Time: metav1.Time{Time: letter.DeadTime.Truncate(time.Second)}, Diagnostic: letter.Diagnostic,
		})
	}
	s.DeadLetters = d
	if t.Dead > 0 {
		condition.Set(&s.Conditions, generation, v1alpha1.DeadLettersPresentCondition, metav1.ConditionTrue, v1alpha1.ReasonDeadLettersOpen, plural(t.Dead, "dead letter")+" open")
		return
	}
	condition.Set(&s.Conditions, generation, v1alpha1.DeadLettersPresentCondition, metav1.ConditionFalse, v1alpha1.ReasonNoDeadLetters, "no dead letter is open")
}

// summarise says how a schedule is that has been planned.
func summarise(obj *v1alpha1.ReminderSchedule, channel *v1alpha1.ReminderChannel, t reminder.Totals) condition.Summary {
	name := obj.Spec.ChannelName
	switch {
	case channel == nil:
		return condition.Waiting(v1alpha1.ReasonChannelNotFound, fmt.Sprintf("channel %s does not exist in this namespace; reminders are planned and wait for it up to their deadline", name))
	case !meta.IsStatusConditionTrue(channel.Status.Conditions, v1alpha1.ReadyCondition):
		return condition.Waiting(v1alpha1.ReasonChannelNotReady, fmt.Sprintf("channel %s is not ready: %s; reminders wait up to their deadline", name, readyReason(channel.Status.Conditions)))
	case obj.Spec.Suspend:
		return condition.Ready(v1alpha1.ReasonSuspended, "suspended; nothing is planned or sent")
	case obj.Status.NextDueTime == nil && t.Pending() == 0:
		return condition.Ready(v1alpha1.ReasonFinished, "there is no further occurrence, and every reminder has an outcome")
	}
	return condition.Ready(v1alpha1.ReasonPlanned, "planned")
}

func readyReason(conditions []metav1.Condition) string {
	if c := meta.FindStatusCondition(conditions, v1alpha1.ReadyCondition); c != nil {
		return c.Reason
	}
	return ""
}

// announce tells people that occurrences were passed over.
func (r *scheduleReconciler) announce(obj *v1alpha1.ReminderSchedule, p schedulePlan) {
	if !p.missed.some {
		return
	}
	text := "occurrences fell due while nothing was planned and are not taken up"
	if !p.missed.taken.IsZero() {
		text = "of the occurrences that fell due while nothing was planned only the latest is taken up, " + p.missed.taken.Format(time.RFC3339)
	}
	r.Events.Eventf(obj, nil, corev1.EventTypeWarning, "OccurrencesMissed", "CatchUp", "%s", text)
}
