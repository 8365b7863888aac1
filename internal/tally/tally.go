package tally

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Ledger is the part of the ledger that a tally reads.
type Ledger interface {
	Follow(ctx context.Context, from uint64, fn func(broker.Revision) error, idle func() error) error
	LastRevision(ctx context.Context) (uint64, error)
}

// Store keeps the totals and the checkpoint.
type Store interface {
	Totals(ctx context.Context, namespace, schedule string) (reminder.Totals, uint64, error)
	SaveTotals(ctx context.Context, totals reminder.Totals, last uint64) error
	Checkpoint(ctx context.Context) (uint64, error)
	SaveCheckpoint(ctx context.Context, revision uint64) error
}

// Tally is one follower of the ledger.
type Tally struct {
	Ledger Ledger
	Store  Store
	// Changed is told of each schedule whose stored totals have changed.
	Changed func(namespace, schedule string)
	// Every is how long revisions may be gathered before they are stored;
	// default 500 ms.
	Every time.Duration
	Now   func() time.Time
	Log   *slog.Logger
}

type name struct{ namespace, schedule string }

// batch is what was folded since the last save.
type batch struct {
	*Tally
	known  map[name]*saved
	dirty  map[name]bool
	newest uint64
	since  time.Time
}

// saved is a schedule's totals with the revision to save over.
type saved struct {
	totals reminder.Totals
	last   uint64
}

// Run folds until ctx ends, from the checkpoint on, and begins again from there
// whenever something fails.
func (t *Tally) Run(ctx context.Context) error {
	broker.Supervise(ctx, func(err error) {
		if !errors.Is(err, reminder.ErrConflict) { // another tally was faster
			t.Log.Warn("Folding the ledger failed", "error", err)
		}
	}, t.follow)
	return nil
}

func (t *Tally) follow(ctx context.Context) error {
	checkpoint, err := t.Store.Checkpoint(ctx)
	if err != nil {
		return fmt.Errorf("read the checkpoint: %w", err)
	}
	last, err := t.Ledger.LastRevision(ctx)
	if err != nil {
		return fmt.Errorf("read the end of the ledger: %w", err)
	}
	if last < checkpoint {
		return fmt.Errorf("the ledger ends at revision %d, but %d are counted: it was lost, or restored from a backup; remove the bucket of the tally to count what is there: %w", last, checkpoint, reminder.ErrLost)
	}
	b := &batch{Tally: t, known: map[name]*saved{}, dirty: map[name]bool{}, newest: checkpoint}
	return t.Ledger.Follow(ctx, checkpoint+1,
		func(r broker.Revision) error { return b.add(ctx, r) },
		func() error { return b.save(ctx) })
}

func (b *batch) add(ctx context.Context, r broker.Revision) error {
	if r.Err != nil {
		return b.unreadable(ctx, r)
	}
	n := name{r.Record.Key.Namespace, r.Record.Key.Schedule}
	s, err := b.load(ctx, n)
	if err != nil {
		return err
	}
	if Fold(&s.totals, r.Number, r.Record) {
		b.dirty[n] = true
	}
	if b.newest = r.Number; b.since.IsZero() {
		b.since = b.Now()
	}
	if b.Now().Sub(b.since) >= b.every() {
		return b.save(ctx)
	}
	return nil
}

// unreadable holds what a newer version of the operator wrote: skipped, it would
// be missing from the counters for ever. What nobody can read is skipped.
func (b *batch) unreadable(ctx context.Context, r broker.Revision) error {
	if errors.Is(r.Err, reminder.ErrNewerSchema) {
		return errors.Join(fmt.Errorf("hold at revision %d of %s: %w", r.Number, r.Token, r.Err), b.save(ctx))
	}
	b.Log.Error("Skipped an unreadable revision", "token", r.Token, "revision", r.Number, "error", r.Err)
	b.newest = r.Number
	return nil
}

func (b *batch) every() time.Duration {
	if b.Every == 0 {
		return 500 * time.Millisecond
	}
	return b.Every
}

func (b *batch) load(ctx context.Context, n name) (*saved, error) {
	if s, ok := b.known[n]; ok {
		return s, nil
	}
	totals, last, err := b.Store.Totals(ctx, n.namespace, n.schedule)
	if err != nil {
		return nil, err
	}
	b.known[n] = &saved{totals: totals, last: last}
	return b.known[n], nil
}

// save stores every changed total and then the checkpoint. A conflict means that
// another tally was faster: the caller begins again from the checkpoint.
func (b *batch) save(ctx context.Context) error {
	if b.since.IsZero() {
		return nil
	}
	for n := range b.dirty {
		s := b.known[n]
		if err := b.Store.SaveTotals(ctx, s.totals, s.last); err != nil {
			return err
		}
		b.Changed(n.namespace, n.schedule)
	}
	// All are read again when needed: memory stays with the active ones.
	b.known, b.dirty, b.since = map[name]*saved{}, map[name]bool{}, time.Time{}
	return b.Store.SaveCheckpoint(ctx, b.newest)
}
