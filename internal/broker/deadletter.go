package broker

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// DeadLetters is the stream of reminders whose automatic policy has ended, one
// message per reminder, routed by owner.
type DeadLetters struct{ store }

// Publish stores a dead letter. A second one of the same reminder replaces the
// first, so that it is safe to repeat.
func (d *DeadLetters) Publish(ctx context.Context, letter reminder.DeadLetter) error {
	body, err := letter.Encode()
	if err != nil {
		return fmt.Errorf("encode dead letter %s: %w", letter.Key, err)
	}
	if _, err := d.publish(ctx, &nats.Msg{Subject: deadSubject(letter), Data: body}); err != nil {
		return fmt.Errorf("publish dead letter %s: %w", letter.Key, err)
	}
	return nil
}

// Resolve removes the dead letter of a reminder that is no longer dead.
func (d *DeadLetters) Resolve(ctx context.Context, key reminder.Key) error {
	return d.purge(ctx, deadStream, deadPrefix+"*."+key.Token())
}

// deadSubject is reminders.dead.<owner>.<namespace>.<schedule>.<slot>.<hash>.
func deadSubject(d reminder.DeadLetter) string {
	return deadPrefix + string(d.Owner) + "." + d.Key.Token()
}
