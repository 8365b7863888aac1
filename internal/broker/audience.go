package broker

import (
	"context"
	"fmt"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Audience is the bucket of projected recipients, by schedule.
type Audience struct{ bucket }

func recipientKey(namespace, schedule, id string) string {
	return audiencePrefix(namespace, schedule) + reminder.RecipientToken(id)
}

func audiencePrefix(namespace, schedule string) string {
	return reminder.Escape(namespace) + "." + reminder.Escape(schedule) + "."
}

// Recipient reads one recipient; reminder.ErrNotFound when the audience no
// longer has it.
func (a *Audience) Recipient(ctx context.Context, namespace, schedule, id string) (reminder.Recipient, error) {
	r, _, err := read[reminder.Recipient](ctx, a.bucket, recipientKey(namespace, schedule, id))
	return r, err
}

// markerToken names the entry that says which audience is complete. It is not a
// recipient's token: those have 26 characters.
const markerToken = "complete"

// Complete tells whether the bucket holds the whole audience with that hash. A
// recipient that a complete audience lacks was removed; one that an incomplete
// audience lacks may be on its way, or the bucket was lost.
func (a *Audience) Complete(ctx context.Context, namespace, schedule, hash string) (bool, error) {
	value, _, err := a.get(ctx, audiencePrefix(namespace, schedule)+markerToken)
	if isNotFound(err) {
		return false, nil
	}
	return string(value) == hash, err
}

// Replace makes the audience of a schedule exactly these recipients and marks it
// complete with its hash: those of others are removed, changed ones rewritten. It
// is safe to repeat, and does nothing when the audience is complete already. While
// it is under way, and after a failure, no audience counts as complete.
func (a *Audience) Replace(ctx context.Context, namespace, schedule, hash string, recipients []reminder.Recipient) error {
	if complete, err := a.Complete(ctx, namespace, schedule, hash); err != nil || complete {
		return err
	}
	if err := a.forget(ctx, audiencePrefix(namespace, schedule)+markerToken); err != nil {
		return err
	}
	if err := a.rewrite(ctx, namespace, schedule, recipients); err != nil {
		return err
	}
	return a.put(ctx, audiencePrefix(namespace, schedule)+markerToken, []byte(hash), 0)
}

func (a *Audience) rewrite(ctx context.Context, namespace, schedule string, recipients []reminder.Recipient) error {
	have, err := a.values(ctx, namespace, schedule)
	if err != nil {
		return err
	}
	delete(have, audiencePrefix(namespace, schedule)+markerToken)
	for _, r := range recipients {
		r.SchemaVersion = reminder.RegistryVersion
		value, err := reminder.EncodeEntry(r)
		if err != nil {
			return fmt.Errorf("encode recipient of %s/%s: %w", namespace, schedule, err)
		}
		key := recipientKey(namespace, schedule, r.ID)
		if have[key] != string(value) {
			if err := a.put(ctx, key, value, 0); err != nil {
				return err
			}
		}
		delete(have, key)
	}
	for key := range have {
		if err := a.forget(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// All are the recipients of a schedule as they were projected last, in no order;
// false when the audience is not complete with that hash.
func (a *Audience) All(ctx context.Context, namespace, schedule, hash string) ([]reminder.Recipient, bool, error) {
	values, err := a.values(ctx, namespace, schedule)
	if err != nil {
		return nil, false, err
	}
	marker := audiencePrefix(namespace, schedule) + markerToken
	complete := values[marker] == hash
	delete(values, marker)
	all := make([]reminder.Recipient, 0, len(values))
	for key, value := range values {
		r, err := reminder.DecodeEntry[reminder.Recipient]([]byte(value))
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", a.what("get", key), err)
		}
		all = append(all, r)
	}
	return all, complete, nil
}

func (a *Audience) values(ctx context.Context, namespace, schedule string) (map[string]string, error) {
	have := map[string]string{}
	err := a.each(ctx, audiencePrefix(namespace, schedule)+"*", func(e entry) error {
		have[e.key] = string(e.value)
		return nil
	})
	return have, err
}

// Forget removes the whole audience of a schedule.
func (a *Audience) Forget(ctx context.Context, namespace, schedule string) error {
	return a.forget(ctx, audiencePrefix(namespace, schedule)+"*")
}
