package controllers

import (
	"context"
	"fmt"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

// +kubebuilder:rbac:groups=reminders.dev,resources=businesscalendars,verbs=get;list;watch
// +kubebuilder:rbac:groups=reminders.dev,resources=businesscalendars/status,verbs=get;update;patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch

// calendarReconciler says of BusinessCalendars whether schedules can use them, and which holidays come next.
type calendarReconciler struct {
	Options
	status *condition.Writer
}

// Reconcile makes one pass over a calendar. It changes nothing but status.
func (r *calendarReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &v1alpha1.BusinessCalendar{}
	if err := r.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		r.status.Forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := obj.DeepCopy()
	var found report
	err := guarded(ctx, func() (err error) {
		found, err = r.pass(ctx, obj)
		return err
	})
	if err != nil {
		found = report{summary: failed(err)}
	} else {
		obj.Status.ObservedGeneration = obj.Generation
	}
	wait, statusErr := r.writeStatus(ctx, obj, before, found.summary)
	rethrow(err)
	return requeue(soonest(found.again, wait), err, statusErr)
}

// pass compiles the calendar and describes the days ahead. A calendar that cannot be used has none.
func (r *calendarReconciler) pass(ctx context.Context, obj *v1alpha1.BusinessCalendar) (report, error) {
	days, err := r.calendar(ctx, obj.Namespace, obj.Name)
	if isCalendarFault(err) {
		obj.Status.Holidays, obj.Status.Upcoming, obj.Status.DataVersion = 0, nil, ""
		return report{summary: calendarSummary(err)}, nil
	}
	if err != nil {
		return report{}, err
	}
	now := r.Now().UTC()
	obj.Status.Holidays, obj.Status.Upcoming = ahead(days, calendar.DateOf(now))
	obj.Status.DataVersion = calendar.DataVersion()
	return report{summary: condition.Ready(v1alpha1.ReasonAvailable, outlook(obj.Status)), again: untilTomorrow(now)}, nil
}

func (r *calendarReconciler) writeStatus(ctx context.Context, obj, before *v1alpha1.BusinessCalendar, s condition.Summary) (time.Duration, error) {
	condition.Summarise(&obj.Status.Conditions, obj.Generation, s)
	changed := condition.Differs(before.Status, obj.Status)
	wait, err := r.status.Write(ctx, obj, before, changed)
	if err == nil && changed && wait == 0 {
		r.transition(obj, before.Status.Conditions, s)
	}
	return wait, err
}

const (
	// daysAhead is how many days status looks ahead, from today on.
	daysAhead = 366
	// maxNamed is how many holidays status names.
	maxNamed = 5
)

// ahead counts the holidays from a day on, and names the first of them.
func ahead(days *calendar.Calendar, today calendar.Date) (count int32, upcoming []v1alpha1.Holiday) {
	for h := range days.Holidays(today, today+daysAhead-1) {
		if count++; len(upcoming) < maxNamed {
			upcoming = append(upcoming, v1alpha1.Holiday{Date: h.Date.String(), Name: h.Name})
		}
	}
	return count, upcoming
}

// outlook says in a sentence what comes.
func outlook(status v1alpha1.BusinessCalendarStatus) string {
	if status.Holidays == 0 {
		return "no holidays in the year ahead"
	}
	noun := "holidays"
	if status.Holidays == 1 {
		noun = "holiday"
	}
	next := status.Upcoming[0]
	return strings.TrimSpace(fmt.Sprintf("%d %s in the year ahead; next %s %s", status.Holidays, noun, next.Date, next.Name))
}

// untilTomorrow is the wait until a little after the next midnight in UTC, when the year ahead is another one.
func untilTomorrow(now time.Time) time.Duration {
	return now.Truncate(24 * time.Hour).Add(24*time.Hour + 5*time.Second).Sub(now)
}
