package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// +kubebuilder:rbac:groups=reminders.dev,resources=reminderschedules,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderschedules/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderschedules/finalizers,verbs=update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// scheduleReconciler turns ReminderSchedules into planned reminders.
type scheduleReconciler struct {
	Options
	status    *condition.Writer
	conflicts conflicts

	mu   sync.Mutex
	done map[types.NamespacedName]progress
	// reduced are edits that this process saw and that only took fields away.
	reduced map[types.NamespacedName]reduction
}

// Reconcile makes one pass over a schedule.
func (r *scheduleReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &v1alpha1.ReminderSchedule{}
	if err := r.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	failpoint.HitIn(failpoint.C0Woke, obj.Name)
	if !obj.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, obj)
	}
	if err := addFinalizer(ctx, r.Client, obj); err != nil {
		return requeue(0, err)
	}
	before := obj.DeepCopy()
	var found report
	err := guarded(ctx, func() (err error) {
		found, err = r.pass(ctx, obj)
		return err
	})
	if r.conflicts.passing(req.NamespacedName, err, r.Now()) {
		return requeue(0, err) // not worth a word in status
	}
	if err != nil {
		before.Status.DeepCopyInto(&obj.Status)
		found = report{summary: failed(err)}
	} else {
		obj.Status.ObservedGeneration = obj.Generation
	}
	wait, statusErr := r.writeStatus(ctx, obj, before, found.summary)
	rethrow(err)
	if found.finished && statusErr == nil && wait == 0 {
		wait, err = r.expire(ctx, obj)
	}
	return requeue(soonest(found.again, wait), err, statusErr)
}

// pass gathers, plans and applies. It writes to status what it found, and the
// caller stores it.
func (r *scheduleReconciler) pass(ctx context.Context, obj *v1alpha1.ReminderSchedule) (report, error) {
	channel, err := r.channelOf(ctx, obj)
	if err != nil {
		return report{}, err
	}
	if s := objections(obj, channel); s != nil {
		return r.hold(ctx, obj, *s)
	}
	times, held, err := r.timesOf(ctx, obj)
	if err != nil {
		return report{}, err
	}
	if held == nil {
		held = overlong(obj, channel, times.series, r.Now())
	}
	if held != nil {
		return r.hold(ctx, obj, *held)
	}
	if err := r.Broker.Ready(); err != nil {
		return report{}, err
	}
	input, err := r.gather(ctx, obj, times)
	if err != nil {
		return report{}, err
	}
	plan := planSchedule(input)
	if err := r.confirm(ctx, plan, input.now); err != nil {
		return report{}, err
	}
	open, err := r.apply(ctx, obj, plan)
	if err != nil {
		r.keepProgress(obj, progress{})
		return report{}, err
	}
	r.announce(obj, plan)
	return r.describe(ctx, obj, times, channel, plan, open)
}

// gather reads what a plan is made from.
func (r *scheduleReconciler) gather(ctx context.Context, obj *v1alpha1.ReminderSchedule, times scheduleTimes) (scheduleInput, error) {
	entry, revision, err := r.registered(ctx, obj)
	if err != nil {
		return scheduleInput{}, err
	}
	input := scheduleInput{
		object: obj, recipients: times.recipients, series: times.series, calendar: times.calendar, zoneData: schedule.TZDataVersion(),
		entry: entry, revision: revision, done: r.progressOf(obj),
		stream: r.Broker.Incarnation(), lookAhead: r.LookAhead, retention: r.Broker.Retention(), now: r.Now().UTC(),
	}
	if entry.Epoch == 0 && obj.Status.PlannedThroughTime != nil && obj.Status.ObservedGeneration == obj.Generation {
		if input.open, err = r.openEpoch(ctx, obj); err != nil {
			return scheduleInput{}, err
		}
	}
	stale := behind(entry, obj)
	if !stale && (inQuestion(entry, obj) || otherAudience(input)) {
		live, err := r.live(ctx, obj)
		if err != nil {
			return scheduleInput{}, err
		}
		stale = live == nil || live.UID != obj.UID || live.Generation != obj.Generation
		if !stale {
			input.edited = r.editOf(live)
		}
	}
	if stale {
		return scheduleInput{}, fmt.Errorf("there is a newer spec of %s than the cache has: %w", obj.Name, reminder.ErrConflict)
	}
	return input, r.gatherPast(ctx, &input, times)
}

// gatherPast reads what the ledger and the audience know of a plan before this one,
// where something has changed that it was made from.
func (r *scheduleReconciler) gatherPast(ctx context.Context, input *scheduleInput, times scheduleTimes) (err error) {
	obj, entry := input.object, input.entry
	if entry.TimeZoneData != "" && entry.TimeZoneData != input.zoneData {
		if input.planned, err = r.plannedOfLate(ctx, obj, times.series, input.now); err != nil {
			return err
		}
	}
	if otherAudience(*input) {
		if input.past, err = r.historyOf(ctx, obj, times, entry, changed(*input)); err != nil {
			return err
		}
	}
	if editedTimes(entry, obj) {
		return r.pastOf(ctx, input, changed(*input))
	}
	return nil
}

// openEpoch is the newest epoch among the reminders of a schedule that have no
// outcome; 0 when there is none. It is asked when the registry was lost.
func (r *scheduleReconciler) openEpoch(ctx context.Context, obj *v1alpha1.ReminderSchedule) (int64, error) {
	epoch := int64(0)
	err := r.Broker.Ledger.Of(ctx, obj.Namespace, obj.Name, func(rev broker.Revision) error {
		if rev.Err == nil && !rev.Record.State.Terminal() {
			epoch = max(epoch, rev.Record.Epoch)
		}
		return nil
	})
	return epoch, in(errLedger, err)
}

// registered reads the registry's entry and its revision; zero values when there
// is none.
func (r *scheduleReconciler) registered(ctx context.Context, obj *v1alpha1.ReminderSchedule) (reminder.Schedule, uint64, error) {
	entry, revision, err := r.Broker.Registry.Schedule(ctx, obj.Namespace, obj.Name)
	if errors.Is(err, reminder.ErrNotFound) {
		return reminder.Schedule{}, 0, nil
	}
	return entry, revision, err
}

func invalid(err error) condition.Summary {
	if errors.Is(err, convert.ErrNeverOccurs) {
		return condition.Stalled(v1alpha1.ReasonNeverOccurs, err.Error())
	}
	return condition.Stalled(v1alpha1.ReasonInvalidSpec, err.Error())
}

func (r *scheduleReconciler) writeStatus(ctx context.Context, obj, before *v1alpha1.ReminderSchedule, s condition.Summary) (time.Duration, error) {
	condition.Summarise(&obj.Status.Conditions, obj.Generation, s)
	changed := condition.Differs(before.Status, obj.Status)
	wait, err := r.status.Write(ctx, obj, before, changed)
	if err == nil && changed && wait == 0 {
		failpoint.HitIn(failpoint.C5Status, obj.Name)
		r.transition(obj, before.Status.Conditions, s)
	}
	return wait, err
}

func (r *scheduleReconciler) progressOf(obj *v1alpha1.ReminderSchedule) progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[client.ObjectKeyFromObject(obj)]
}

func (r *scheduleReconciler) keepProgress(obj *v1alpha1.ReminderSchedule, p progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[client.ObjectKeyFromObject(obj)] = p
}

func (r *scheduleReconciler) forget(name types.NamespacedName) {
	r.mu.Lock()
	delete(r.done, name)
	delete(r.reduced, name)
	r.mu.Unlock()
	r.status.Forget(name)
	r.conflicts.passing(name, nil, time.Time{})
}
