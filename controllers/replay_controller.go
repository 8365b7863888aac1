package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// +kubebuilder:rbac:groups=reminders.dev,resources=reminderreplays,verbs=get;list;watch
// +kubebuilder:rbac:groups=reminders.dev,resources=reminderreplays/status,verbs=get;update;patch

// replayReconciler carries ReminderReplays out.
type replayReconciler struct {
	Options
	status *condition.Writer

	mu      sync.Mutex
	running map[types.NamespacedName]*replayProgress
}

// replayProgress is how far this process is with an operation. It is a saving, not a
// truth: without it the ledger is read once more.
type replayProgress struct {
	uid     types.UID
	plan    replayPlan
	started time.Time
	// exact: nothing was done since the survey that the plan was made from.
	exact bool
	// next is when more may be done, by the pace.
	next time.Time
}

// todo is what is left to do; nothing in a dry run.
func (p *replayProgress) todo(obj *v1alpha1.ReminderReplay) []deadOne {
	if obj.Spec.DryRun {
		return nil
	}
	return p.plan.todo
}

// Reconcile makes one pass over a ReminderReplay, which does at most what its pace
// allows in a second.
func (r *replayReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj, err := r.current(ctx, req.NamespacedName)
	if err != nil {
		return requeue(0, err)
	}
	if obj == nil {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	before := obj.DeepCopy()
	var found report
	err = guarded(ctx, func() (err error) {
		found, err = r.pass(ctx, obj)
		return err
	})
	if err != nil {
		r.keep(req.NamespacedName, nil)
		before.Status.DeepCopyInto(&obj.Status)
		found = report{summary: failed(err)}
	}
	wait, statusErr := r.writeStatus(ctx, obj, before, found, err == nil)
	rethrow(err)
	return requeue(soonest(found.again, wait), err, statusErr)
}

// current is the object as the API server has it, past the cache, so that one that was
// deleted or has ended is not worked on; nil when there is nothing to do.
func (r *replayReconciler) current(ctx context.Context, name types.NamespacedName) (*v1alpha1.ReminderReplay, error) {
	obj := &v1alpha1.ReminderReplay{}
	for _, reader := range []client.Reader{r.Client, r.Reader} {
		*obj = v1alpha1.ReminderReplay{}
		if err := reader.Get(ctx, name, obj); apierrors.IsNotFound(err) {
			return nil, nil
		} else if err != nil {
			return nil, fmt.Errorf("read ReminderReplay %s: %w", name, err)
		}
		if !obj.DeletionTimestamp.IsZero() || obj.Status.CompletionTime != nil {
			return nil, nil
		}
	}
	return obj, nil
}

// pass finds out whether the schedule may be worked on, and goes on with the work.
func (r *replayReconciler) pass(ctx context.Context, obj *v1alpha1.ReminderReplay) (report, error) {
	if err := r.Broker.Ready(); err != nil {
		return report{}, err
	}
	facts, held, err := r.replayFacts(ctx, obj)
	if err != nil {
		return report{}, err
	}
	if held != nil {
		r.keep(client.ObjectKeyFromObject(obj), nil)
		return report{summary: *held, again: r.StatusInterval}, nil
	}
	return r.work(ctx, obj, replayOperation{Options: r.Options, order: orderOf(obj), facts: facts})
}

// work does what the pace allows. The operation ends when a survey of the ledger finds
// nothing left to do; its counts are what status then says for good. That survey waits
// until status may be written, so that status is as exact as it.
func (r *replayReconciler) work(ctx context.Context, obj *v1alpha1.ReminderReplay, o replayOperation) (report, error) {
	p := r.progressOf(obj)
	for {
		var err error
		switch {
		case p == nil:
			p, err = r.begin(ctx, obj, o, replayProgress{started: r.Now()})
		case len(p.todo(obj)) > 0 && r.Now().Before(p.next):
			return underWay(obj, p, p.next.Sub(r.Now())), nil
		case len(p.todo(obj)) > 0:
			err = r.advance(ctx, obj, o, p)
		case p.exact:
			p.exact = false // if status cannot be written after all
			return ended(obj, o, p), nil
		case r.status.Wait(client.ObjectKeyFromObject(obj)) > 0:
			return underWay(obj, p, r.status.Wait(client.ObjectKeyFromObject(obj))), nil
		default:
			p, err = r.begin(ctx, obj, o, *p)
		}
		if err != nil {
			return report{}, err
		}
	}
}

// begin surveys the ledger. A process that has not looked before also does again what
// another may have been cut off from.
func (r *replayReconciler) begin(ctx context.Context, obj *v1alpha1.ReminderReplay, o replayOperation, before replayProgress) (*replayProgress, error) {
	s, err := o.look(ctx, obj)
	if err != nil {
		return nil, err
	}
	if before.uid == "" && !obj.Spec.DryRun {
		if err := o.resume(ctx, s.unfinished()); err != nil {
			return nil, err
		}
	}
	p := &replayProgress{uid: obj.UID, plan: s.plan(o.order, o.facts, r.Now().UTC()), exact: true, started: before.started, next: before.next}
	r.keep(client.ObjectKeyFromObject(obj), p)
	return p, nil
}

// advance handles as many as the pace allows in a second.
func (r *replayReconciler) advance(ctx context.Context, obj *v1alpha1.ReminderReplay, o replayOperation, p *replayProgress) error {
	p.exact, p.next = false, r.Now().Add(time.Second)
	for range min(paceOf(obj), len(p.plan.todo)) {
		done, err := o.act(ctx, p.plan.todo[0])
		if err != nil {
			return err
		}
		p.plan.todo = p.plan.todo[1:]
		switch {
		case done && o.order.Action == reminder.ActionDiscard:
			p.plan.discarded++
		case done:
			p.plan.replayed++
		}
	}
	return nil
}

// replayFacts are what is true of the schedule, or why nothing can be done now, or ever.
func (r *replayReconciler) replayFacts(ctx context.Context, obj *v1alpha1.ReminderReplay) (delivery.Facts, *condition.Summary, error) {
	schedule := &v1alpha1.ReminderSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: obj.Spec.ScheduleName}}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(schedule), schedule)
	if client.IgnoreNotFound(err) != nil {
		return delivery.Facts{}, nil, fmt.Errorf("read schedule %s: %w", obj.Spec.ScheduleName, err)
	}
	there := err == nil && schedule.DeletionTimestamp.IsZero()
	entry, _, err := r.Broker.Registry.Schedule(ctx, obj.Namespace, obj.Spec.ScheduleName)
	if err != nil && !errors.Is(err, reminder.ErrNotFound) {
		return delivery.Facts{}, nil, err
	}
	if !there {
		return r.goneFacts(ctx, schedule, entry)
	}
	if entry.UID != string(schedule.UID) || entry.Deleted {
		s := condition.Waiting(v1alpha1.ReasonProgressing, fmt.Sprintf("schedule %s has not been planned yet; its own conditions say why", schedule.Name))
		return delivery.Facts{}, &s, nil
	}
	held, err := r.objectToExtension(ctx, obj, schedule)
	return delivery.Facts{Epoch: entry.Epoch, Suspended: entry.Suspended || schedule.Spec.Suspend}, held, err
}

// goneFacts tells a schedule that was deleted from one that never was, and from one
// that the cache does not have yet.
func (r *replayReconciler) goneFacts(ctx context.Context, schedule *v1alpha1.ReminderSchedule, entry reminder.Schedule) (delivery.Facts, *condition.Summary, error) {
	now, err := r.live(ctx, schedule)
	if err != nil {
		return delivery.Facts{}, nil, err
	}
	deleting := now != nil && !now.DeletionTimestamp.IsZero()
	switch {
	case deleting, now == nil && entry.Deleted:
		return delivery.Facts{Deleted: true}, nil, nil
	case now != nil:
		s := condition.Waiting(v1alpha1.ReasonProgressing, fmt.Sprintf("schedule %s was created just now", schedule.Name))
		return delivery.Facts{}, &s, nil
	}
	s := condition.Waiting(v1alpha1.ReasonScheduleNotFound, fmt.Sprintf("schedule %s does not exist in this namespace; create it, or delete this ReminderReplay and create one with the right spec.scheduleName", schedule.Name))
	return delivery.Facts{}, &s, nil
}

// objectToExtension refuses a deadline that outlasts what the receiver remembers: a
// submission that is repeated behind that would be accepted twice.
func (r *replayReconciler) objectToExtension(ctx context.Context, obj *v1alpha1.ReminderReplay, schedule *v1alpha1.ReminderSchedule) (*condition.Summary, error) {
	if obj.Spec.ExtendDeadline == nil {
		return nil, nil
	}
	channel, err := r.channelOf(ctx, schedule)
	if err != nil || channel == nil || !convert.Dedupes(channel) {
		return nil, err
	}
	if window := convert.DedupeWindow(channel); obj.Spec.ExtendDeadline.Duration > window {
		return stalled(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.extendDeadline: %s is longer than channel %s remembers a key (%s); create another ReminderReplay with a shorter one", obj.Spec.ExtendDeadline.Duration, channel.Name, window)), nil
	}
	return nil, nil
}

func (r *replayReconciler) progressOf(obj *v1alpha1.ReminderReplay) *replayProgress {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.running[client.ObjectKeyFromObject(obj)]; p != nil && p.uid == obj.UID {
		return p
	}
	return nil
}

// keep remembers how far an operation is; nil forgets it.
func (r *replayReconciler) keep(name types.NamespacedName, p *replayProgress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p == nil {
		delete(r.running, name)
		return
	}
	r.running[name] = p
}

func (r *replayReconciler) forget(name types.NamespacedName) {
	r.keep(name, nil)
	r.status.Forget(name)
}
