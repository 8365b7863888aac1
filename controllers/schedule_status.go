package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// maxUpcoming is how many due times status shows ahead.
const maxUpcoming = 5

// describe reads the counters and writes everything but Ready into status. Open is
// how many reminders of this pass have no outcome yet: the counters lag behind.
func (r *scheduleReconciler) describe(ctx context.Context, obj *v1alpha1.ReminderSchedule, t scheduleTimes, channel *v1alpha1.ReminderChannel, p schedulePlan, open int64) (report, error) {
	totals, _, err := r.Broker.Tally.Totals(ctx, obj.Namespace, obj.Name)
	if err != nil {
		return report{}, err
	}
	now := r.Now().UTC()
	describeTimes(obj, t, p, totals, now)
	describeTotals(obj, totals, now)
	open = max(open, totals.Pending())
	describeEnd(obj, t.over(obj, now) && open == 0, totals)
	again := soonest(soonest(until(p.wake, now), nextChange(obj, open, now, r.StatusInterval)), t.untilOver(obj, now, r.StatusInterval))
	return report{summary: summarise(obj, channel, t.warnings()), again: again, finished: obj.Status.FinishTime != nil}, nil
}

// describeHeld writes into status what is true of a schedule that is not planned as
// it is written.
func (r *scheduleReconciler) describeHeld(ctx context.Context, obj *v1alpha1.ReminderSchedule, entry reminder.Schedule, s condition.Summary) (report, error) {
	totals, _, err := r.Broker.Tally.Totals(ctx, obj.Namespace, obj.Name)
	if err != nil {
		return report{}, err
	}
	now := r.Now().UTC()
	describeTotals(obj, totals, now)
	status := &obj.Status
	status.Upcoming, status.NextDueTime, status.FinishTime = nil, nil, nil
	if status.PlannedThroughTime != nil && status.PlannedThroughTime.After(now) {
		status.PlannedThroughTime = &metav1.Time{Time: now.Truncate(time.Second)}
	}
	found := report{summary: s}
	if pending := totals.Pending(); pending > 0 {
		found.again = r.StatusInterval
		if entry.UID == string(obj.UID) && !entry.Suspended && !entry.Deleted {
			found.summary = s.Saying(fmt.Sprintf("%s; what generation %d has planned still goes out (%s)", s.Message(), entry.Generation, plural(pending, "reminder")))
		}
	}
	return found, nil
}

// nextChange is when status changes by the passing of time alone.
func nextChange(obj *v1alpha1.ReminderSchedule, open int64, now time.Time, interval time.Duration) time.Duration {
	if obj.Status.NextDueTime != nil {
		return max(until(obj.Status.NextDueTime.Time, now)+time.Second, interval)
	}
	if open > 0 {
		return interval
	}
	return 0
}

func describeTimes(obj *v1alpha1.ReminderSchedule, t scheduleTimes, p schedulePlan, totals reminder.Totals, now time.Time) {
	s := &obj.Status
	s.TimeZone, s.TimeZoneDataVersion = t.compiled.Zone(), schedule.TZDataVersion()
	s.PlannedThroughTime = nil
	if through := p.entry.Cursor.ThroughTime; !through.IsZero() {
		s.PlannedThroughTime = &metav1.Time{Time: through.Truncate(time.Second)}
	}
	s.LastDueTime = lastDue(s.LastDueTime, obj, t.series, p.entry, totals, now)
	s.Upcoming, s.NextDueTime = nil, nil
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
	for next := firstDue(obj, t.series, now); !next.IsZero() && len(s.Upcoming) < maxUpcoming; next = firstDue(obj, t.series, next) {
		s.Upcoming = append(s.Upcoming, metav1.Time{Time: next})
	}
	if len(s.Upcoming) > 0 {
		s.NextDueTime = &s.Upcoming[0]
	}
}

// lastDue is the due time of the last occurrence: by the spec, where it has been in
// force since, else of the last reminder that has an outcome.
func lastDue(have *metav1.Time, obj *v1alpha1.ReminderSchedule, series []convert.Series, entry reminder.Schedule, totals reminder.Totals, now time.Time) *metav1.Time {
	var last time.Time
	if have != nil && !have.After(now) {
		last = have.UTC()
	}
	if at := totals.LastDueTime; !at.IsZero() && !at.After(now) {
		last = at
	}
	since := later(later(entry.CreateTime, entry.EditTime), later(entry.ResumeTime, last))
	for i := range series {
		if o, ok := convert.OccurrencesOf(obj, series[i]).Previous(now); ok && o.Due.After(since) && !entry.Suspended {
			last = later(last, o.Due)
		}
	}
	if last.IsZero() {
		return nil
	}
	return &metav1.Time{Time: last}
}

// describeEnd says since when a schedule has ended: when its last reminder got its
// outcome, or, where it never had one, when it was made or was last due.
func describeEnd(obj *v1alpha1.ReminderSchedule, ended bool, totals reminder.Totals) {
	s := &obj.Status
	if !ended {
		s.FinishTime = nil
		return
	}
	end := later(obj.CreationTimestamp.Time, totals.LastFinishTime)
	if s.LastDueTime != nil {
		end = later(end, s.LastDueTime.Time)
	}
	s.FinishTime = &metav1.Time{Time: end.UTC().Truncate(time.Second)}
}

// describeTotals writes what the ledger counts into status, and takes back what
// this version does not write.
func describeTotals(obj *v1alpha1.ReminderSchedule, totals reminder.Totals, now time.Time) {
	describeCounts(&obj.Status, totals, now)
	describeDeadLetters(&obj.Status, totals, obj.Generation)
	obj.Status.SLO = nil
}

// describeCounts shows no count below zero, which the API would refuse together
// with all else: after a loss of data the counters can be short of what they take
// back.
func describeCounts(s *v1alpha1.ReminderScheduleStatus, t reminder.Totals, now time.Time) {
	s.Counts = &v1alpha1.ReminderCounts{
		Due: count(t.Due(now)), Missed: count(t.Missed), Sent: count(t.Sent), SentLate: count(t.SentLate), Retried: count(t.Retried), Suppressed: count(t.Suppressed),
		Cancelled: count(t.Cancelled), Dead: count(t.Dead), Pending: count(t.Pending()), Republished: count(t.Republished),
	}
	s.MissedRuns = nil
	for _, run := range slices.Backward(t.MissedRuns) { // there the newest is last
		s.MissedRuns = append(s.MissedRuns, v1alpha1.MissedRun{
			FirstDueTime: metav1.Time{Time: run.FirstDueTime}, LastDueTime: metav1.Time{Time: run.LastDueTime}, Reminders: count(run.Reminders),
		})
	}
}

func count(n int64) int64 { return max(n, 0) }

func describeDeadLetters(s *v1alpha1.ReminderScheduleStatus, t reminder.Totals, generation int64) {
	d := &v1alpha1.DeadLetterStatus{Open: count(t.Dead), Total: count(t.DeadTotal), Replayed: count(t.Replayed), Discarded: count(t.Discarded)}
	for reason, n := range t.ByReason {
		d.ByReason = append(d.ByReason, v1alpha1.ReasonCount{Reason: string(reason), Count: count(n)})
	}
	slices.SortFunc(d.ByReason, func(a, b v1alpha1.ReasonCount) int { return cmp.Compare(a.Reason, b.Reason) })
	for _, letter := range slices.Backward(t.Recent) { // there the newest is last
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
func summarise(obj *v1alpha1.ReminderSchedule, channel *v1alpha1.ReminderChannel, warnings []string) condition.Summary {
	name, counts := obj.Spec.ChannelName, obj.Status.Counts
	switch {
	case obj.Spec.Suspend:
		return condition.Ready(v1alpha1.ReasonSuspended, "suspended; nothing is planned or sent")
	case obj.Status.FinishTime != nil && counts.Due+counts.Cancelled == counts.Missed:
		return finished("there is no further occurrence, and none fell due that could still be taken up", warnings)
	case obj.Status.FinishTime != nil && counts.Missed > 0:
		return finished(fmt.Sprintf("there is no further occurrence; %s missed, and every other one has an outcome", plural(counts.Missed, "reminder")), warnings)
	case obj.Status.FinishTime != nil:
		return finished("there is no further occurrence, and every reminder has an outcome", warnings)
	case channel == nil:
		return condition.Waiting(v1alpha1.ReasonChannelNotFound, fmt.Sprintf("channel %s does not exist in this namespace; reminders are planned and wait for it up to their deadline", name))
	case !meta.IsStatusConditionTrue(channel.Status.Conditions, v1alpha1.ReadyCondition):
		return condition.Waiting(v1alpha1.ReasonChannelNotReady, fmt.Sprintf("channel %s is not ready: %s; reminders that it cannot take wait up to their deadline", name, cmp.Or(readyReason(channel.Status.Conditions), "not looked at yet")))
	}
	return condition.Ready(v1alpha1.ReasonPlanned, strings.Join(append([]string{"planned"}, warnings...), "; "))
}

// finished says too what may be why: recipients without an occurrence.
func finished(message string, warnings []string) condition.Summary {
	return condition.Ready(v1alpha1.ReasonFinished, strings.Join(append([]string{message}, warnings...), "; "))
}

// announce tells people that occurrences were passed over.
func (r *scheduleReconciler) announce(obj *v1alpha1.ReminderSchedule, p schedulePlan) {
	gap := p.entry.Cursor.Missed
	if gap == nil || !p.write {
		return
	}
	text := fmt.Sprintf("%s fell due from %s to %s while nothing was planned and will not be sent", plural(gap.Reminders, "reminder"),
		gap.FirstDueTime.Format(time.RFC3339), gap.LastDueTime.Format(time.RFC3339))
	if p.taken > 0 {
		text += fmt.Sprintf("; catchUp takes %s up", plural(p.taken, "later one"))
	}
	r.Events.Eventf(obj, nil, corev1.EventTypeWarning, "OccurrencesMissed", "CatchUp", "%s", text)
}
