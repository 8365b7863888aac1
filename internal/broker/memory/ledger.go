package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Ledger is as broker.Ledger.
type Ledger struct {
	*Broker
	bucket *bucket
}

// Create stores the first revision of a record.
func (l Ledger) Create(ctx context.Context, r reminder.Record) (uint64, error) {
	revision, err := l.Update(ctx, r, 0)
	if errors.Is(err, reminder.ErrConflict) {
		return 0, fmt.Errorf("create %s: %w", r.Key, reminder.ErrExists)
	}
	return revision, err
}

// Update stores the next revision of a record over the last one.
func (l Ledger) Update(_ context.Context, r reminder.Record, last uint64) (uint64, error) {
	value, err := r.Encode()
	if err != nil {
		return 0, err
	}
	now, unlock := l.lock()
	defer unlock()
	before := l.bucket.last
	revision, err := l.bucket.write(now, r.Key.Token(), value, last, max(r.ExpireTime.Sub(r.UpdateTime), time.Second))
	if l.bucket.last != before {
		l.tell()
	}
	return revision, err
}

// Get reads the latest revision of a record.
func (l Ledger) Get(_ context.Context, token string) (reminder.Record, uint64, error) {
	now, unlock := l.lock()
	defer unlock()
	value, revision, err := l.bucket.get(now, token)
	if err != nil {
		return reminder.Record{}, 0, err
	}
	r, err := reminder.DecodeRecord(value)
	return r, revision, err
}

// Of calls fn with the latest revision of each reminder of a schedule.
func (l Ledger) Of(_ context.Context, namespace, schedule string, fn func(broker.Revision) error) error {
	found, _, _ := l.batch(l.bucket, 0, withPrefix(reminder.Escape(namespace)+"."+reminder.Escape(schedule)+"."))
	for _, e := range found {
		if err := fn(revisionOf(e)); err != nil {
			return err
		}
	}
	return nil
}

// Follow calls fn with each revision from a number on, in order.
func (l Ledger) Follow(ctx context.Context, from uint64, fn func(broker.Revision) error, idle func() error) error {
	return l.follow(ctx, l.bucket, from, always, func(e entry) error { return fn(revisionOf(e)) }, idle)
}

// Since are the revisions from a number on, in order, and the number of the last one.
func (l Ledger) Since(from uint64) (all []broker.Revision, last uint64) {
	found, last, _ := l.batch(l.bucket, from, always)
	for _, e := range found {
		all = append(all, revisionOf(e))
	}
	return all, last
}

// LastRevision is the number of the newest revision.
func (l Ledger) LastRevision(context.Context) (uint64, error) {
	_, unlock := l.lock()
	defer unlock()
	return l.bucket.last, nil
}

func revisionOf(e entry) broker.Revision {
	r, err := reminder.DecodeRecord(e.value)
	return broker.Revision{Token: e.key, Number: e.revision, Record: r, Err: err}
}
