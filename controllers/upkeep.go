package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Upkeep is what the leader does beside reconciling: it looks after the streams,
// and after registry entries whose schedule is gone.
type Upkeep struct {
	Options
	// Announce queues a schedule for a new pass.
	Announce func(namespace, name string)
	Log      *slog.Logger
}

const (
	ensureEvery  = 5 * time.Second
	orphansEvery = 10 * time.Minute
)

// Ensure checks the streams until ctx ends, and makes those that are gone.
func (u *Upkeep) Ensure(ctx context.Context) error {
	return every(ctx, ensureEvery, func() {
		if err := u.Broker.Ensure(ctx); err != nil && ctx.Err() == nil {
			u.Log.Warn("Checking the streams failed", "error", err)
		}
	})
}

// Renew plans every schedule again when the jobs stream was made anew: the
// messages of its reminders are gone.
func (u *Upkeep) Renew(ctx context.Context) error {
	known := time.Time{}
	return every(ctx, time.Second, func() {
		now := u.Broker.Incarnation()
		if !known.IsZero() && !now.Equal(known) {
			u.Log.Warn("The jobs stream was made anew; planning all schedules again")
			u.announceAll(ctx)
		}
		known = now
	})
}

// every calls fn at once and then with a pause, until ctx ends.
func every(ctx context.Context, pause time.Duration, fn func()) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		fn()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (u *Upkeep) announceAll(ctx context.Context) {
	var list v1alpha1.ReminderScheduleList
	if err := u.Client.List(ctx, &list); err != nil {
		u.Log.Warn("Listing schedules failed", "error", err)
		return
	}
	for i := range list.Items {
		u.Announce(list.Items[i].Namespace, list.Items[i].Name)
	}
}

// Orphans retires registry entries whose schedule is gone, until ctx ends: those
// of objects that were let go while the broker was away.
func (u *Upkeep) Orphans(ctx context.Context) error {
	broker.Supervise(ctx, func(err error) { u.Log.Warn("Looking for orphans failed", "error", err) }, func(ctx context.Context) error {
		tick := time.NewTicker(orphansEvery)
		defer tick.Stop()
		for {
			if err := u.retireOrphans(ctx); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	})
	return nil
}

func (u *Upkeep) retireOrphans(ctx context.Context) error {
	if err := u.Broker.Ready(); err != nil {
		return err
	}
	r := &scheduleReconciler{Options: u.Options, status: &condition.Writer{Now: u.Now}, done: map[types.NamespacedName]progress{}}
	return u.Broker.Registry.Schedules(ctx, func(s reminder.Schedule, revision uint64) error {
		if s.Deleted {
			return nil
		}
		name := client.ObjectKey{Namespace: s.Namespace, Name: s.Name}
		err := u.Reader.Get(ctx, name, &v1alpha1.ReminderSchedule{}) // past the cache: absence must be certain
		if err == nil {
			return nil
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("look for schedule %s: %w", name, err)
		}
		u.Log.Warn("Retired a schedule that is gone", "schedule", name.String())
		return retire(ctx, r, s, revision)
	})
}
