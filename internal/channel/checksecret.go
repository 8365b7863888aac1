package channel

import (
	"fmt"
	"strings"

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

// RequiredKeys names the keys that a channel's Secret must have.
func RequiredKeys(t reminder.ChannelType) (required []string) {
	for _, k := range secretKeys(t) {
		if !k.optional {
			required = append(required, k.name)
		}
	}
	return required
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
	if t != reminder.ChannelHTTP {
		return nil
	}
	_, err := parseSecretHeaders(data)
	return err
}

// IsSecretKey tells whether senders of a type read a key of the channel's Secret.
func IsSecretKey(t reminder.ChannelType, key string) bool {
	for _, k := range secretKeys(t) {
		if k.name == key {
			return true
		}
	}
	return t == reminder.ChannelHTTP && strings.HasPrefix(key, HeaderPrefix)
}
