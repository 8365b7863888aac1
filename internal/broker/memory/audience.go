package memory

import (
	"context"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Audience is as broker.Audience.
type Audience struct {
	*Broker
	bucket *bucket
}

const marker = "complete"

// Recipient reads one recipient.
func (a Audience) Recipient(_ context.Context, namespace, schedule, id string) (reminder.Recipient, error) {
	r, _, err := read[reminder.Recipient](a.Broker, a.bucket, path(namespace, schedule, reminder.RecipientToken(id)))
	return r, err
}

// Complete tells whether the bucket holds the whole audience with that hash.
func (a Audience) Complete(_ context.Context, namespace, schedule, hash string) (bool, error) {
	now, unlock := a.lock()
	defer unlock()
	value, _, err := a.bucket.get(now, path(namespace, schedule, marker))
	if isNotFound(err) {
		return false, nil
	}
	return string(value) == hash, err
}

// Replace makes the audience of a schedule exactly these recipients.
func (a Audience) Replace(ctx context.Context, namespace, schedule, hash string, recipients []reminder.Recipient) error {
	if complete, err := a.Complete(ctx, namespace, schedule, hash); err != nil || complete {
		return err
	}
	now, unlock := a.lock()
	defer unlock()
	a.bucket.forget(path(namespace, schedule)+".", false)
	for _, r := range recipients {
		r.SchemaVersion = reminder.RegistryVersion
		value, err := reminder.EncodeEntry(r)
		if err != nil {
			return err
		}
		a.bucket.put(now, path(namespace, schedule, reminder.RecipientToken(r.ID)), value, 0)
	}
	a.bucket.put(now, path(namespace, schedule, marker), []byte(hash), 0)
	a.tell()
	return nil
}

// Forget removes the whole audience of a schedule.
func (a Audience) Forget(_ context.Context, namespace, schedule string) error {
	a.forget(a.bucket, path(namespace, schedule)+".", false)
	return nil
}
