package memory

import (
	"context"
	"strings"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// DeadLetters is as broker.DeadLetters.
type DeadLetters struct {
	*Broker
	bucket *bucket
}

// Publish stores a dead letter over an older one of the same reminder and owner.
func (d DeadLetters) Publish(_ context.Context, letter reminder.DeadLetter) error {
	body, err := letter.Encode()
	if err != nil {
		return err
	}
	now, unlock := d.lock()
	defer unlock()
	key := string(letter.Owner) + "." + letter.Key.Token()
	d.bucket.forget(key, true)
	d.bucket.put(now, key, body, 0)
	d.tell()
	return nil
}

// Standing tells whether a dead letter of the reminder for that owner stands.
func (d DeadLetters) Standing(_ context.Context, letter reminder.DeadLetter) (bool, error) {
	now, unlock := d.lock()
	defer unlock()
	_, _, err := d.bucket.get(now, string(letter.Owner)+"."+letter.Key.Token())
	return err == nil, nil
}

// Resolve removes the dead letter of a reminder that is no longer dead.
func (d DeadLetters) Resolve(_ context.Context, key reminder.Key) error {
	_, unlock := d.lock()
	defer unlock()
	for have := range d.bucket.latest {
		if strings.HasSuffix(have, "."+key.Token()) {
			d.bucket.forget(have, true)
		}
	}
	return nil
}

// All are the tokens of the reminders with a dead letter.
func (d DeadLetters) All() map[string]bool {
	_, unlock := d.lock()
	defer unlock()
	all := map[string]bool{}
	for key := range d.bucket.latest {
		_, token, _ := strings.Cut(key, ".")
		all[token] = true
	}
	return all
}
