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

// Publish stores a dead letter. A second one of the same reminder for the same
// owner replaces the first, so that it is safe to repeat.
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

// Standing tells whether a dead letter of the reminder for that owner stands.
func (d *DeadLetters) Standing(ctx context.Context, letter reminder.DeadLetter) (bool, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	stream, err := d.handle(ctx, deadStream)
	if err == nil {
		_, err = stream.GetLastMsgForSubject(ctx, deadSubject(letter))
	}
	if err = classify(err); err != nil && !isNotFound(err) {
		return false, fmt.Errorf("look for the dead letter of %s: %w", letter.Key, err)
	}
	return err == nil, nil
}

// Resolve removes the dead letter of a reminder that is no longer dead.
func (d *DeadLetters) Resolve(ctx context.Context, key reminder.Key) error {
	return d.purge(ctx, deadStream, deadPrefix+"*."+key.Token())
}

// deadSubject is reminders.dead.<owner>.<namespace>.<schedule>.<slot>.<hash>.
func deadSubject(d reminder.DeadLetter) string {
	return deadPrefix + string(d.Owner) + "." + d.Key.Token()
}
