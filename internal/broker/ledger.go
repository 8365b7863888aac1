package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Ledger is the truth: one record per reminder, each revision one transition.
type Ledger struct{ bucket }

// Revision is one revision of a record as a follower or a list sees it.
type Revision struct {
	// Token is the key in the bucket; Number the revision, unique in the ledger
	// and rising.
	Token  string
	Number uint64
	// WriteTime is when the store wrote it, by its own clock.
	WriteTime time.Time
	Record    reminder.Record
	// Err is set, and Record empty, where the bytes could not be read:
	// reminder.ErrMalformed or reminder.ErrNewerSchema.
	Err error
}

// Create stores the first revision of a record. It answers reminder.ErrExists
// when there is one already.
func (l *Ledger) Create(ctx context.Context, r reminder.Record) (uint64, error) {
	revision, err := l.save(ctx, r, 0)
	if errors.Is(err, reminder.ErrConflict) {
		return 0, fmt.Errorf("create %s: %w", r.Key, reminder.ErrExists)
	}
	return revision, err
}

// Update stores the next revision of a record if the last one has the given
// number; else it answers reminder.ErrConflict. Repeating an update whose answer
// was lost succeeds.
func (l *Ledger) Update(ctx context.Context, r reminder.Record, last uint64) (uint64, error) {
	return l.save(ctx, r, last)
}

func (l *Ledger) save(ctx context.Context, r reminder.Record, last uint64) (uint64, error) {
	value, err := r.Encode()
	if err != nil {
		return 0, err
	}
	ttl := max(r.ExpireTime.Sub(r.UpdateTime), time.Second)
	return l.write(ctx, r.Key.Token(), value, last, ttl)
}

// Get reads the latest revision of a record by its token. It answers
// reminder.ErrNotFound, ErrMalformed or ErrNewerSchema.
func (l *Ledger) Get(ctx context.Context, token string) (reminder.Record, uint64, error) {
	value, revision, err := l.get(ctx, token)
	if err != nil {
		return reminder.Record{}, 0, err
	}
	r, err := reminder.DecodeRecord(value)
	if err != nil {
		return reminder.Record{}, revision, fmt.Errorf("%s: %w", l.what("get", token), err)
	}
	return r, revision, nil
}

// Of calls fn with the latest revision of each reminder of a schedule.
func (l *Ledger) Of(ctx context.Context, namespace, schedule string, fn func(Revision) error) error {
	pattern := reminder.Escape(namespace) + "." + reminder.Escape(schedule) + ".>"
	return l.each(ctx, pattern, func(e entry) error { return fn(revisionOf(e)) })
}

// Follow calls fn with each revision from a number on, in order, and idle when
// nothing is waiting. With from 0 it begins with the latest revision of each
// reminder. It returns when ctx ends, fn fails or the bucket is lost.
func (l *Ledger) Follow(ctx context.Context, from uint64, fn func(Revision) error, idle func() error) error {
	return l.follow(ctx, ">", from, func(e entry) error {
		if e.deleted {
			return nil
		}
		return fn(revisionOf(e))
	}, idle)
}

// LastRevision is the number of the newest revision in the ledger.
func (l *Ledger) LastRevision(ctx context.Context) (uint64, error) {
	ctx, cancel := l.bound(ctx)
	defer cancel()
	stream, err := l.handle(ctx, l.stream())
	if err != nil {
		return 0, fmt.Errorf("inspect %s: %w", l.name, err)
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("inspect %s: %w", l.name, classify(err))
	}
	return info.State.LastSeq, nil
}

func revisionOf(e entry) Revision {
	r, err := reminder.DecodeRecord(e.value)
	return Revision{Token: e.key, Number: e.revision, WriteTime: e.written, Record: r, Err: err}
}
