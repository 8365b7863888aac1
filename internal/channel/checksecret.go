package channel

import "fmt"

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
	return nil
}
