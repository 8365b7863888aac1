package channel

import (
	"fmt"
	"strings"
)

// CheckSecret tells what is wrong with the data of a channel's Secret, before it
// is mounted anywhere. The error names the key of the Secret, never its value.
func CheckSecret(data map[string][]byte) error {
	if _, ok := data[KeyFile]; !ok {
		return fmt.Errorf("lacks the key %s", KeyFile)
	}
	for _, name := range keyFiles() {
		value, ok := data[name]
		if !ok {
			continue
		}
		if _, err := parseKey(value); err != nil {
			return fmt.Errorf("key %s %w", name, err)
		}
	}
	_, err := parseSecretHeaders(data)
	return err
}

// IsSecretKey tells whether senders read a key of a channel's Secret.
func IsSecretKey(key string) bool {
	return key == KeyFile || key == PreviousKeyFile || strings.HasPrefix(key, HeaderPrefix)
}
