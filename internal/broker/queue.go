package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Queue is the stream of due jobs and of the message schedules that release them.
type Queue struct {
	store
	consumers sync.Map // durable name → jetstream.Consumer
}

// Release makes a due job for a record's revision appear at a time: at once
// when it has come, else by a message schedule, which also works while the
// operator is down. The schedule's subject is the reminder's own, so that a
// repetition replaces the first.
func (q *Queue) Release(ctx context.Context, r reminder.Record, revision uint64, at, now time.Time) error {
	msg, err := jobMessage(r, revision)
	if err != nil {
		return err
	}
	if at.After(now) {
		msg.Header.Set(jetstream.ScheduleHeader, "@at "+at.UTC().Format(time.RFC3339Nano))
		msg.Header.Set(jetstream.ScheduleTargetHeader, msg.Subject)
		msg.Subject = schedPrefix + r.Key.Subject()
		_, err = q.publish(ctx, msg)
	} else {
		id := r.Key.Token() + "/" + strconv.FormatUint(revision, 10)
		_, err = q.publish(ctx, msg, jetstream.WithMsgID(id))
	}
	if err != nil {
		return fmt.Errorf("release due job of %s: %w", r.Key, err)
	}
	return nil
}

// Standing tells whether a message stands for the reminder: a due job that waits
// or is in flight, or the message schedule of one.
func (q *Queue) Standing(ctx context.Context, key reminder.Key) (bool, error) {
	ctx, cancel := q.bound(ctx)
	defer cancel()
	stream, err := q.handle(ctx, jobsStream)
	if err != nil {
		return false, fmt.Errorf("look for the messages of %s: %w", key, err)
	}
	for _, prefix := range []string{duePrefix, schedPrefix} {
		_, err := stream.GetLastMsgForSubject(ctx, prefix+key.Subject())
		if err == nil {
			return true, nil
		}
		if err = classify(err); !isNotFound(err) {
			return false, fmt.Errorf("look for the messages of %s: %w", key, err)
		}
	}
	return false, nil
}

// Restore publishes a due job unless one waits or is in flight already.
func (q *Queue) Restore(ctx context.Context, r reminder.Record, revision uint64) error {
	msg, err := jobMessage(r, revision)
	if err != nil {
		return err
	}
	_, err = q.publish(ctx, msg, jetstream.WithExpectLastSequencePerSubject(0))
	if err != nil && !errors.Is(err, reminder.ErrConflict) {
		return fmt.Errorf("restore due job of %s: %w", r.Key, err)
	}
	return nil
}

// Withdraw removes the messages of one reminder, waiting or scheduled. One that
// a worker holds already is stopped at its claim.
func (q *Queue) Withdraw(ctx context.Context, key reminder.Key) error {
	for _, prefix := range []string{schedPrefix, duePrefix} {
		if err := q.purge(ctx, jobsStream, prefix+key.Subject()); err != nil {
			return fmt.Errorf("withdraw %s: %w", key, err)
		}
	}
	return nil
}

// WithdrawSchedule removes the messages of all reminders of a schedule.
func (q *Queue) WithdrawSchedule(ctx context.Context, namespace, schedule string) error {
	for _, prefix := range []string{schedPrefix, duePrefix} {
		subject := prefix + reminder.Escape(namespace) + ".*." + reminder.Escape(schedule) + ".>"
		if err := q.purge(ctx, jobsStream, subject); err != nil {
			return fmt.Errorf("withdraw schedule %s/%s: %w", namespace, schedule, err)
		}
	}
	return nil
}

// jobMessage is the due job as it lies on its due subject. The key stands in the
// subject and in the body, because the server strips Nats-Msg-Id from a
// scheduled message when it fires.
func jobMessage(r reminder.Record, revision uint64) (*nats.Msg, error) {
	body, err := reminder.JobOf(r, revision).Encode()
	if err != nil {
		return nil, err
	}
	h := nats.Header{}
	h.Set("ce-specversion", "1.0")
	h.Set("ce-type", "dev.reminders.due")
	h.Set("ce-source", "/namespaces/"+r.Key.Namespace+"/reminderschedules/"+r.Key.Schedule)
	h.Set("ce-id", r.Key.ID())
	h.Set("Content-Type", "application/json")
	return &nats.Msg{Subject: duePrefix + r.Key.Subject(), Header: h, Data: body}, nil
}

// TokenOf is the ledger token that a due job's subject speaks of.
func TokenOf(subject string) (string, error) {
	if len(subject) <= len(duePrefix) || subject[:len(duePrefix)] != duePrefix {
		return "", fmt.Errorf("subject of a due job: %w", reminder.ErrMalformed)
	}
	return tokenOf(subject[len(duePrefix):])
}
