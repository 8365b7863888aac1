package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Await waits until the connection stands, for those that only read and never call Ensure. When ctx ends before, it
// answers what was the matter last.
func (b *Broker) Await(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !b.conn.IsConnected() {
		select {
		case <-ctx.Done():
			if last := b.conn.LastError(); last != nil {
				return fmt.Errorf("connect to NATS: %w: %w", reminder.ErrUnavailable, last)
			}
			return fmt.Errorf("connect to NATS: %w", reminder.ErrUnavailable)
		case <-tick.C:
		}
	}
	return nil
}

// Log calls fn with every revision of a schedule's records that is kept, in order, from one number and up to another.
func (l *Ledger) Log(ctx context.Context, namespace, schedule string, from, through uint64, fn func(Revision) error) error {
	pattern := reminder.Escape(namespace) + "." + reminder.Escape(schedule) + ".>"
	err := l.follow(ctx, pattern, max(from, 1), func(e entry) error {
		if e.revision > through {
			return errCaughtUp
		}
		if e.deleted {
			return nil
		}
		return fn(revisionOf(e))
	}, func() error { return errCaughtUp })
	if errors.Is(err, errCaughtUp) {
		return nil
	}
	return err
}

// Pristine tells whether the ledger has every revision that was ever written: none has expired or was removed.
func (l *Ledger) Pristine(ctx context.Context) (bool, error) {
	info, err := l.info(ctx, l.stream())
	if err != nil {
		return false, err
	}
	return info.State.FirstSeq <= 1 && info.State.NumDeleted == 0 && info.State.Msgs == info.State.LastSeq, nil
}

// Of are the tokens of a schedule's reminders for which a message stands: a due job that waits or is in flight, or the
// message schedule of one.
func (q *Queue) Of(ctx context.Context, namespace, schedule string) (map[string]bool, error) {
	all := map[string]bool{}
	for _, prefix := range []string{schedPrefix, duePrefix} {
		subjects, err := q.subjects(ctx, jobsStream, prefix+reminder.Escape(namespace)+".*."+reminder.Escape(schedule)+".>")
		if err != nil {
			return nil, err
		}
		for subject := range subjects {
			token, err := tokenOf(strings.TrimPrefix(subject, prefix))
			if err != nil {
				return nil, err
			}
			all[token] = true
		}
	}
	return all, nil
}

// Of are the tokens of a schedule's reminders that have a dead letter because they are dead. One that says that a due job
// could not be read speaks of the job, and is left out.
func (d *DeadLetters) Of(ctx context.Context, namespace, schedule string) (map[string]bool, error) {
	all := map[string]bool{}
	for _, owner := range []reminder.Owner{reminder.OwnerData, reminder.OwnerCapacity, reminder.OwnerPolicy, reminder.OwnerReconcile} {
		prefix := deadPrefix + string(owner) + "."
		subjects, err := d.subjects(ctx, deadStream, prefix+reminder.Escape(namespace)+"."+reminder.Escape(schedule)+".>")
		if err != nil {
			return nil, err
		}
		for subject := range subjects {
			if owner == reminder.OwnerData && d.ofJob(ctx, subject) {
				continue
			}
			all[strings.TrimPrefix(subject, prefix)] = true
		}
	}
	return all, nil
}

// ofJob tells whether a dead letter is that of a due job which could not be read.
func (d *DeadLetters) ofJob(ctx context.Context, subject string) bool {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	stream, err := d.handle(ctx, deadStream)
	if err != nil {
		return false
	}
	msg, err := stream.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return false
	}
	letter, err := reminder.DecodeDeadLetter(msg.Data)
	return err == nil && letter.Reason == reminder.InvalidJob
}

// Kept is for how long dead letters, and outcomes in the ledger, are kept.
func (d *DeadLetters) Kept(ctx context.Context) (time.Duration, error) {
	info, err := d.info(ctx, deadStream)
	if err != nil {
		return 0, err
	}
	return info.Config.MaxAge, nil
}

func (s store) info(ctx context.Context, name string, options ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	stream, err := s.handle(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", name, err)
	}
	info, err := stream.Info(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", name, classify(err))
	}
	return info, nil
}

// subjects are those of a stream that match and hold a message.
func (s store) subjects(ctx context.Context, name, pattern string) (map[string]uint64, error) {
	info, err := s.info(ctx, name, jetstream.WithSubjectFilter(pattern))
	if err != nil {
		return nil, err
	}
	return info.State.Subjects, nil
}
