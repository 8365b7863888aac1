package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Ledger is the part of the ledger that a sweep uses.
type Ledger interface {
	Follow(ctx context.Context, from uint64, fn func(broker.Revision) error, idle func() error) error
	Get(ctx context.Context, token string) (reminder.Record, uint64, error)
	Update(ctx context.Context, r reminder.Record, last uint64) (uint64, error)
}

// Queue restores due jobs.
type Queue interface {
	Standing(ctx context.Context, key reminder.Key) (bool, error)
	Restore(ctx context.Context, r reminder.Record, revision uint64) error
}

// Channels tells whether a channel deduplicates.
type Channels interface {
	Channel(ctx context.Context, namespace, name string) (reminder.Channel, uint64, error)
}

// DeadLetters is where expired reminders go.
type DeadLetters interface {
	Publish(ctx context.Context, letter reminder.DeadLetter) error
	Resolve(ctx context.Context, key reminder.Key) error
}

// Sweep is one follower of the ledger with the wake times of all reminders that
// have no outcome yet.
type Sweep struct {
	Ledger      Ledger
	Queue       Queue
	Channels    Channels
	DeadLetters DeadLetters
	Retention   time.Duration
	// Grace is how long after its time a reminder may lack an outcome before it
	// is looked at; longer than the broker takes to release a job. Default 30 s.
	Grace time.Duration
	// Every is the time between two passes; default 10 s.
	Every time.Duration
	Now   func() time.Time
	Log   *slog.Logger

	mu   sync.Mutex
	wake map[string]time.Time // by token: when to look at it
}

// Run sweeps until ctx ends.
func (s *Sweep) Run(ctx context.Context) error {
	s.wake = map[string]time.Time{}
	if s.Grace == 0 {
		s.Grace = 30 * time.Second
	}
	if s.Every == 0 {
		s.Every = 10 * time.Second
	}
	var parts sync.WaitGroup
	parts.Go(func() {
		broker.Supervise(ctx, func(err error) { s.Log.Warn("Following the ledger failed", "error", err) }, s.follow)
	})
	parts.Go(func() { s.tick(ctx) })
	parts.Wait()
	return nil
}

func (s *Sweep) follow(ctx context.Context) error {
	return s.Ledger.Follow(ctx, 0, s.note, func() error { return nil })
}

// note keeps when a reminder must be looked at, or that it need not any more.
func (s *Sweep) note(r broker.Revision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, open := delivery.Wake(r.Record)
	if r.Err != nil || !open {
		delete(s.wake, r.Token)
		return nil
	}
	s.wake[r.Token] = at.Add(s.Grace)
	return nil
}

func (s *Sweep) tick(ctx context.Context) {
	ticker := time.NewTicker(s.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.pass(ctx)
		}
	}
}

// pass looks at each reminder whose time has come, and again one grace later if
// that did not end it.
func (s *Sweep) pass(ctx context.Context) {
	now := s.Now()
	for _, token := range s.overdue(now) {
		err := s.repair(ctx, token, now)
		if errors.Is(err, reminder.ErrNotFound) {
			s.forget(token)
			continue
		}
		if err != nil && !errors.Is(err, reminder.ErrConflict) {
			s.Log.Warn("Repairing a reminder failed", "token", token, "error", err)
			return // the broker is away, most likely; the next pass goes on
		}
	}
}

func (s *Sweep) overdue(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []string
	for token, at := range s.wake {
		if !at.After(now) {
			due = append(due, token)
			s.wake[token] = now.Add(s.Grace)
		}
	}
	return due
}

func (s *Sweep) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wake, token)
}

func (s *Sweep) repair(ctx context.Context, token string, now time.Time) error {
	r, revision, err := s.Ledger.Get(ctx, token)
	if err != nil {
		return err
	}
	at, open := delivery.Wake(r)
	if !open || at.Add(s.Grace).After(now) {
		return nil
	}
	if now.After(r.DeadlineTime.Add(s.Grace)) {
		return s.expire(ctx, r, revision, now)
	}
	if standing, err := s.Queue.Standing(ctx, r.Key); err != nil || standing {
		return err
	}
	// The count comes first: once the job is out, the record is the worker's.
	r = delivery.Republished(r, now)
	if revision, err = s.Ledger.Update(ctx, r, revision); err != nil {
		return err
	}
	s.Log.Warn("Published a missing due job", "key", r.Key.String(), "state", r.State)
	return s.Queue.Restore(ctx, r, revision)
}

// expire ends a reminder that no worker has ended. The dead letter comes first,
// so that a crash in between is repaired by the next pass.
func (s *Sweep) expire(ctx context.Context, r reminder.Record, revision uint64, now time.Time) error {
	dedupes := true // where it cannot be known, assume that a lapsed claim was submitted
	channel, _, err := s.Channels.Channel(ctx, r.Key.Namespace, r.Key.Channel)
	if err == nil {
		dedupes = channel.Dedupes
	} else if !errors.Is(err, reminder.ErrNotFound) {
		return err
	}
	policy := delivery.Policy{Dedupes: dedupes, Retention: s.Retention}
	d := delivery.Admit(r, delivery.Facts{Epoch: r.Epoch}, policy, "", now)
	if d.Action != delivery.Settle {
		return nil
	}
	if err := s.DeadLetters.Publish(ctx, reminder.DeadLetterOf(d.Record)); err != nil {
		return err
	}
	if _, err := s.Ledger.Update(ctx, d.Record, revision); err != nil {
		return errors.Join(fmt.Errorf("expire %s: %w", r.Key, err), s.DeadLetters.Resolve(ctx, r.Key))
	}
	s.Log.Warn("Ended a reminder past its deadline", "key", r.Key.String(), "reason", d.Record.Reason)
	return nil
}
