package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// settleBatch is how many records are cancelled after one look at the registry.
const settleBatch = 256

// tries is how often a record that somebody else changes is looked at again.
const tries = 5

// cancelOutdated cancels the reminders that a registered entry no longer covers, as
// the judge has it, and that nobody has claimed. What is claimed is left: its outcome stands.
//
// The registry is asked between reading records and cancelling them: whoever has
// registered a newer spec meanwhile may have planned some of them again, and has
// registered it first.
func (o Options) cancelOutdated(ctx context.Context, entry reminder.Schedule, judge func(reminder.Record) reminder.Reason) error {
	now := o.Now().UTC()
	var batch []broker.Revision
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := o.stillRegistered(ctx, entry); err != nil {
			return err
		}
		err := inParallel(ctx, slices.Values(batch), func(ctx context.Context, rev broker.Revision) error { return o.cancel(ctx, rev, judge, now) })
		batch = batch[:0]
		return err
	}
	var stopped error
	err := o.Broker.Ledger.Of(ctx, entry.Namespace, entry.Name, func(rev broker.Revision) error {
		if rev.Err != nil || judge(rev.Record) == "" {
			return nil // what a newer version wrote is not ours to judge
		}
		if batch = append(batch, rev); len(batch) == settleBatch {
			stopped = flush()
		}
		return stopped
	})
	if stopped != nil {
		return stopped
	}
	if err != nil {
		return in(errLedger, err)
	}
	return flush()
}

// stillRegistered answers a conflict unless the registry holds exactly that entry.
func (o Options) stillRegistered(ctx context.Context, entry reminder.Schedule) error {
	have, _, err := o.Broker.Registry.Schedule(ctx, entry.Namespace, entry.Name)
	if err != nil && !errors.Is(err, reminder.ErrNotFound) {
		return err
	}
	if !sameEntry(have, entry) {
		return fmt.Errorf("registry has another spec of %s/%s by now: %w", entry.Namespace, entry.Name, reminder.ErrConflict)
	}
	return nil
}

// cancel ends one reminder, for as long as the judge gives a reason, and withdraws
// its message. The record comes first: if the dead letter of one that may have been
// accepted does not follow, the audit sweep publishes it.
func (o Options) cancel(ctx context.Context, rev broker.Revision, judge func(reminder.Record) reminder.Reason, now time.Time) error {
	for range tries {
		reason := judge(rev.Record)
		if reason == "" {
			return nil
		}
		next, ok := delivery.Cancel(rev.Record, reason, o.Broker.Retention(), now)
		if !ok {
			return nil
		}
		_, err := o.Broker.Ledger.Update(ctx, next, rev.Number)
		if err == nil {
			return o.withdraw(ctx, next)
		}
		if !errors.Is(err, reminder.ErrConflict) {
			return in(errLedger, err)
		}
		rev.Record, rev.Number, err = o.Broker.Ledger.Get(ctx, rev.Token)
		if errors.Is(err, reminder.ErrNotFound) {
			return nil // the store has forgotten it
		}
		if err != nil {
			return in(errLedger, err)
		}
	}
	return fmt.Errorf("cancel %s: %w", rev.Record.Key, reminder.ErrConflict)
}

func (o Options) withdraw(ctx context.Context, ended reminder.Record) error {
	if ended.State == reminder.Dead {
		if err := o.Broker.DeadLetters.Publish(ctx, reminder.DeadLetterOf(ended)); err != nil {
			return err
		}
	}
	return in(errJobs, o.Broker.Queue.Withdraw(ctx, ended.Key))
}

// retire marks an entry as deleted and cancels what is left of it. The entry is
// kept as long as records are, so that a worker which holds one can tell a
// deleted schedule from a lost registry. It may be repeated until it succeeds.
func (o Options) retire(ctx context.Context, entry reminder.Schedule, revision uint64) error {
	if !entry.Deleted {
		entry.Deleted = true
		if _, err := o.Broker.Registry.PutSchedule(ctx, entry, revision, o.Broker.Retention()); err != nil {
			return err
		}
	}
	if err := o.Broker.Queue.WithdrawSchedule(ctx, entry.Namespace, entry.Name); err != nil {
		return in(errJobs, err)
	}
	if err := o.cancelOutdated(ctx, entry, judge(entry, nil, nil, o.Now())); err != nil {
		return err
	}
	// Last, and only if no new object of that name has come meanwhile, whose
	// audience it would be.
	if err := o.stillRegistered(ctx, entry); err != nil {
		return err
	}
	return o.Broker.Audience.Forget(ctx, entry.Namespace, entry.Name)
}
