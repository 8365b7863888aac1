package worker

import (
	"context"
	"errors"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/limit"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Peers is the part of the registry that tells of others: the workers that share
// the channel's limits, and the schedules that share the channel.
type Peers interface {
	Stakes(ctx context.Context, namespace, channel string) (reminder.Stakes, uint64, error)
	PutStakes(ctx context.Context, namespace, channel string, s reminder.Stakes, last uint64) error
	Time(ctx context.Context) (time.Time, error)
	SchedulesOf(ctx context.Context, namespace, channel string) ([]string, error)
}

// divide keeps this worker's part of the channel's limits, if it has any, until
// ctx ends.
func (w *Worker) divide(ctx context.Context) error {
	if err := w.awaitChannel(ctx); err != nil {
		return err
	}
	if w.Peers == nil {
		w.desk.share(reminder.Whole, w.Now().AddDate(100, 0, 0))
		<-ctx.Done()
		return ctx.Err()
	}
	for {
		if w.channel.Load().Limited() {
			if err := w.stake(ctx); err != nil && !errors.Is(err, reminder.ErrConflict) {
				return err
			}
		}
		if !sleep(ctx, w.StakeEvery) {
			return ctx.Err()
		}
	}
}

// stake renews the worker's stake. A smaller part holds before it is written, for
// the others may take what it leaves from then on; a larger one only after.
func (w *Worker) stake(ctx context.Context) error {
	began := w.Now() // before the renewal, so that we stop before others take over
	now, err := w.Peers.Time(ctx)
	if err != nil {
		return err
	}
	have, revision, err := w.Peers.Stakes(ctx, w.Namespace, w.Channel)
	if err != nil {
		return err
	}
	next := limit.Divide(have.Stakes, w.owner, now)
	mine := limit.PartsOf(next, w.owner)
	if w.desk.lower(mine) {
		w.Log.Info("Gave up a part of the channel's limits", "parts", mine, "workers", len(next))
	}
	next = limit.Keep(next, w.owner, min(limit.PartsOf(have.Stakes, w.owner), w.desk.occupied()))
	if err := w.Peers.PutStakes(ctx, w.Namespace, w.Channel, reminder.Stakes{Stakes: next}, revision); err != nil {
		return err
	}
	w.desk.share(mine, began.Add(limit.Expiry/2))
	return nil
}

// unstake gives the worker's part up when it stops.
func (w *Worker) unstake(ctx context.Context) error {
	if w.Peers == nil {
		return nil
	}
	have, revision, err := w.Peers.Stakes(ctx, w.Namespace, w.Channel)
	if err != nil || limit.PartsOf(have.Stakes, w.owner) == 0 {
		return err
	}
	return w.Peers.PutStakes(ctx, w.Namespace, w.Channel, reminder.Stakes{Stakes: limit.Without(have.Stakes, w.owner)}, revision)
}
