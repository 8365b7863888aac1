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
	Withdraw(ctx context.Context, key reminder.Key) error
}

// DeadLetters is where expired reminders go.
type DeadLetters interface {
	Publish(ctx context.Context, letter reminder.DeadLetter) error
	Standing(ctx context.Context, letter reminder.DeadLetter) (bool, error)
	Resolve(ctx context.Context, key reminder.Key) error
}

// Sweep is one follower of the ledger with the wake times of all reminders that
// have no outcome yet.
type Sweep struct {
	Ledger      Ledger
	Queue       Queue
	DeadLetters DeadLetters
	// Retention is how long terminal records and dead letters are kept.
	Retention time.Duration
	// Grace is how long after its time, and after its last change, a reminder may
	// lack an outcome before it is looked at; longer than the broker takes to
	// release a job. Default 30 s.
	Grace time.Duration
	// Every is the time between two passes; default 10 s.
	Every time.Duration
	Now   func() time.Time
	Log   *slog.Logger

	wake    agenda // reminders without an outcome
	letters agenda // reminders whose dead letter may disagree with the record
}

// Run sweeps until ctx ends.
func (s *Sweep) Run(ctx context.Context) error {
	s.wake, s.letters = agenda{at: map[string]time.Time{}}, agenda{at: map[string]time.Time{}}
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
// Whoever has changed it just now may be about to publish its message or its dead
// letter.
func (s *Sweep) note(r broker.Revision) error {
	at, open := delivery.Wake(r.Record)
	if r.Err != nil || !open {
		s.wake.drop(r.Token)
	} else {
		s.wake.set(r.Token, s.look(at, r.Record))
	}
	if died := r.Record.Previous != nil && r.Record.Previous.State == reminder.Dead; died || r.Record.State == reminder.Dead {
		s.letters.set(r.Token, s.look(time.Time{}, r.Record))
	}
	return nil
}

// look is one grace after a time and after the last change of the record.
func (s *Sweep) look(at time.Time, r reminder.Record) time.Time {
	if r.UpdateTime.After(at) {
		at = r.UpdateTime
	}
	return at.Add(s.Grace)
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
	if s.each(ctx, &s.wake, now, s.repair) {
		s.each(ctx, &s.letters, now, s.agree)
	}
}

// each does what is due on an agenda, until it is done. It answers false when the
// broker is away: the next pass goes on with what is left.
func (s *Sweep) each(ctx context.Context, a *agenda, now time.Time, do func(context.Context, string, time.Time) (bool, error)) bool {
	for _, e := range a.due(now) {
		done, err := do(ctx, e.token, now)
		switch {
		case ctx.Err() != nil:
			return false
		case errors.Is(err, reminder.ErrUnavailable), errors.Is(err, reminder.ErrLost), errors.Is(err, reminder.ErrFull):
			s.Log.Warn("Repairing stopped until the broker is back", "error", err)
			return false
		case errors.Is(err, reminder.ErrNotFound):
			done = true // the store has forgotten it
		case err != nil && !errors.Is(err, reminder.ErrConflict): // a conflict: somebody is on it
			s.Log.Warn("Repairing a reminder failed", "token", e.token, "error", err)
		}
		if done {
			a.finish(e)
		} else {
			a.postpone(e, now.Add(s.Grace))
		}
	}
	return true
}

// repair is never done by itself: the outcome, when it comes, ends the waiting.
func (s *Sweep) repair(ctx context.Context, token string, now time.Time) (done bool, err error) {
	r, revision, err := s.Ledger.Get(ctx, token)
	if err != nil {
		return false, err
	}
	at, open := delivery.Wake(r)
	if !open || s.look(at, r).After(now) {
		return false, nil
	}
	if now.After(r.DeadlineTime.Add(s.Grace)) {
		return false, s.expire(ctx, r, revision, now)
	}
	return false, s.restore(ctx, r, revision, now)
}

// restore publishes the due job that is missing.
func (s *Sweep) restore(ctx context.Context, r reminder.Record, revision uint64, now time.Time) error {
	if standing, err := s.Queue.Standing(ctx, r.Key); err != nil || standing {
		return err
	}
	// The count comes first: once the job is out, the record is the worker's.
	r = delivery.Republished(r, now)
	revision, err := s.Ledger.Update(ctx, r, revision)
	if err != nil {
		return err
	}
	s.Log.Warn("Published a missing due job", "key", r.Key.String(), "state", r.State)
	return s.Queue.Restore(ctx, r, revision)
}

// expire ends a reminder that no worker has ended, and takes its job out of the
// queue: where the channel is gone nobody else would. If the dead letter does not
// follow the record, the next look at it does.
func (s *Sweep) expire(ctx context.Context, r reminder.Record, revision uint64, now time.Time) error {
	d := delivery.Admit(r, delivery.Facts{Epoch: r.Epoch}, delivery.Policy{Retention: s.Retention}, "", now)
	if d.Action != delivery.Settle {
		return nil
	}
	if _, err := s.Ledger.Update(ctx, d.Record, revision); err != nil {
		return fmt.Errorf("expire %s: %w", r.Key, err)
	}
	s.Log.Warn("Ended a reminder past its deadline", "key", r.Key.String(), "reason", d.Record.Reason)
	if err := s.DeadLetters.Publish(ctx, reminder.DeadLetterOf(d.Record)); err != nil {
		return err
	}
	return s.Queue.Withdraw(ctx, r.Key)
}

// agree makes the dead letter of a reminder stand if the reminder is dead, and
// only then. One that has aged out is not published again.
func (s *Sweep) agree(ctx context.Context, token string, now time.Time) (done bool, err error) {
	r, _, err := s.Ledger.Get(ctx, token)
	switch {
	case err != nil:
		return false, err
	case r.State != reminder.Dead:
		err = s.DeadLetters.Resolve(ctx, r.Key)
	case now.Before(r.FinishTime.Add(s.Retention)):
		err = s.complete(ctx, r)
	}
	return err == nil, err
}

func (s *Sweep) complete(ctx context.Context, r reminder.Record) error {
	letter := reminder.DeadLetterOf(r)
	if standing, err := s.DeadLetters.Standing(ctx, letter); err != nil || standing {
		return err
	}
	s.Log.Warn("Published a missing dead letter", "key", r.Key.String(), "reason", r.Reason)
	return s.DeadLetters.Publish(ctx, letter)
}
