package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// errUnproven: durable data that should be there is not, or cannot be read, so
// that nothing can be concluded; a lost bucket must not look like a deleted
// schedule.
var errUnproven = errors.New("not provable")

// facts reads what durable data say about the reminder now, and the policy. A
// terminal reminder needs none: its schedule may be long forgotten.
func (w *Worker) facts(ctx context.Context, j *job) (delivery.Facts, error) {
	if j.record.State.Terminal() {
		j.policy = delivery.Policy{Retention: w.Retention}
		return delivery.Facts{}, nil
	}
	key := j.record.Key
	schedule, _, err := w.Registry.Schedule(ctx, key.Namespace, key.Schedule)
	switch {
	case errors.Is(err, reminder.ErrNotFound):
		return delivery.Facts{}, fmt.Errorf("schedule of %s is not registered: %w", key, errUnproven)
	case errors.Is(err, reminder.ErrMalformed):
		return delivery.Facts{}, fmt.Errorf("schedule of %s cannot be read: %w: %w", key, errUnproven, err)
	case err != nil:
		return delivery.Facts{}, err
	}
	j.schedule = schedule
	j.policy = delivery.Policy{
		Retry: schedule.Retry, OnUnknown: schedule.OnUnknown, Dedupes: j.channel.Dedupes,
		Lease: j.channel.Lease, Retention: w.Retention,
		Reconciles: j.channel.ReconcileURL != "", AsksEligibility: schedule.EligibilityURL != "",
	}
	facts := delivery.Facts{Deleted: schedule.Deleted, Suspended: schedule.Suspended, Epoch: schedule.EpochOf(j.record)}
	if facts.Deleted || facts.Suspended || j.record.Epoch < facts.Epoch {
		return facts, nil
	}
	if facts.Inactive, err = w.inactive(ctx, j); err != nil {
		return facts, err
	}
	return facts, w.eligibility(j, &facts)
}

func (w *Worker) inactive(ctx context.Context, j *job) (bool, error) {
	key := j.record.Key
	receiver, err := w.Audience.Recipient(ctx, key.Namespace, key.Schedule, key.Recipient)
	if err == nil {
		j.receiver = receiver
		return !receiver.Active, nil
	}
	if errors.Is(err, reminder.ErrMalformed) {
		return false, fmt.Errorf("recipient of %s cannot be read: %w: %w", key, errUnproven, err)
	}
	if !errors.Is(err, reminder.ErrNotFound) {
		return false, err
	}
	complete, err := w.Audience.Complete(ctx, key.Namespace, key.Schedule, j.schedule.AudienceHash)
	if err != nil {
		return false, err
	}
	if !complete {
		return false, fmt.Errorf("audience of %s is incomplete: %w", key, errUnproven)
	}
	return true, nil
}

// unreadable is the dead letter of a job that names no reminder we can act on.
func unreadable(namespace, channel string, d broker.Delivery, cause error, now time.Time) reminder.DeadLetter {
	return reminder.DeadLetter{
		SchemaVersion: 1, Owner: reminder.OwnerOf(reminder.InvalidJob), Reason: reminder.InvalidJob,
		Key:      reminder.Key{Namespace: namespace, Schedule: "unreadable", Slot: reminder.SlotOf(d.StoreTime), Recipient: "message " + strconv.FormatUint(d.Sequence, 10), Channel: channel},
		DeadTime: now, Diagnostic: cause.Error(),
	}
}
