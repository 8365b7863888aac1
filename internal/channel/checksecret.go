package channel

import (
	"fmt"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// secretKey is a key of a channel's Secret that workers read.
type secretKey struct {
	name     string
	optional bool
	check    func([]byte) error
}

// secretKeys are the keys of the Secret by the type of its channel.
func secretKeys(t reminder.ChannelType) []secretKey {
	if t == reminder.ChannelSMTP {
		check := func(data []byte) error { _, err := parseCredential(data); return err }
		return []secretKey{{UserFile, false, check}, {PasswordFile, false, check}}
	}
	check := func(data []byte) error { _, err := parseKey(data); return err }
	return []secretKey{{KeyFile, false, check}, {PreviousKeyFile, true, check}}
}

// SecretKeys names the keys of a channel's Secret: those that it must have, and
// all that workers read.
func SecretKeys(t reminder.ChannelType) (required, all []string) {
	for _, k := range secretKeys(t) {
		if !k.optional {
			required = append(required, k.name)
		}
		all = append(all, k.name)
	}
	return required, all
}

// CheckSecret tells what is wrong with the data of a channel's Secret, before it
// is mounted anywhere. The error names the key of the Secret, never its value.
func CheckSecret(t reminder.ChannelType, data map[string][]byte) error {
	for _, k := range secretKeys(t) {
		value, ok := data[k.name]
		if !ok && k.optional {
			continue
		}
		if !ok {
			return fmt.Errorf("lacks the key %s", k.name)
		}
		if err := k.check(value); err != nil {
			return fmt.Errorf("key %s %w", k.name, err)
		}
	}
	return nil
}
