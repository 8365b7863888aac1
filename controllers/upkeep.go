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
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Upkeep is what the leader does beside reconciling: it looks after the streams,
// and after registry entries whose schedule is gone.
type Upkeep struct {
	Options
	// Announce queues a schedule for a new pass.
	Announce func(namespace, name string)
	// OrphansEvery is the time between two looks for orphans; default 5 minutes.
	OrphansEvery time.Duration
	Log          *slog.Logger

	// retired are the revisions of entries of deleted schedules of which nothing is
	// left.
	retired map[types.NamespacedName]uint64
}

const (
	ensureEvery  = 5 * time.Second
	orphansEvery = 5 * time.Minute
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
// of objects that were let go while the broker was away, or whose finalizer was
// removed by hand; and those whose retirement was cut off.
func (u *Upkeep) Orphans(ctx context.Context) error {
	pause := u.OrphansEvery
	if pause == 0 {
		pause = orphansEvery
	}
	broker.Supervise(ctx, func(err error) { u.Log.Warn("Looking for orphans failed", "error", err) }, func(ctx context.Context) error {
		tick := time.NewTicker(pause)
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
	done := map[types.NamespacedName]uint64{}
	err := u.Broker.Registry.Schedules(ctx, func(s reminder.Schedule, revision uint64) error {
		name := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
		if s.Deleted && u.retired[name] == revision {
			done[name] = revision
			return nil
		}
		orphan, err := u.orphan(ctx, s)
		if err != nil || !orphan {
			return err
		}
		if err := u.retire(ctx, s, revision); err != nil {
			return ignoreConflict(err) // somebody is on it; the next look tells
		}
		if s.Deleted {
			done[name] = revision
			return nil
		}
		u.Log.Warn("Retired a schedule that is gone", "schedule", name.String())
		return nil
	})
	if err == nil {
		u.retired = done
	}
	return err
}

// orphan tells whether the object of an entry is gone for certain: another one of
// its name may be there.
func (u *Upkeep) orphan(ctx context.Context, s reminder.Schedule) (bool, error) {
	obj := &v1alpha1.ReminderSchedule{}
	name := client.ObjectKey{Namespace: s.Namespace, Name: s.Name}
	if err := u.Client.Get(ctx, name, obj); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("look for schedule %s: %w", name, err)
	} else if err == nil && string(obj.UID) == s.UID {
		return false, nil
	}
	obj.Namespace, obj.Name = s.Namespace, s.Name
	now, err := u.live(ctx, obj)
	return err == nil && (now == nil || string(now.UID) != s.UID), err
}

func ignoreConflict(err error) error {
	if conflict(err) {
		return nil
	}
	return err
}
