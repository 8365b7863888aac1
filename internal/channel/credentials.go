package channel

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
)

// Files of the Secret of a channel of type SMTP.
const (
	// UserFile holds the name to log in with.
	UserFile = "username"
	// PasswordFile holds the password.
	PasswordFile = "password"
)

// credentials log in to a relay.
type credentials struct {
	user     string
	password Secret
}

// readCredentials reads the mounted Secret. It is read for each mail, so that a
// rotated password acts at once.
func readCredentials(dir string) (credentials, error) {
	if dir == "" {
		return credentials{}, errors.New("the channel's Secret is not mounted")
	}
	var values [2][]byte
	for i, name := range []string{UserFile, PasswordFile} {
		data, err := readFile(filepath.Join(dir, name), maxKeyFile)
		if err == nil {
			values[i], err = parseCredential(data)
		}
		if err != nil {
			return credentials{}, fmt.Errorf("read secret file %s: %w", name, err)
		}
	}
	return credentials{user: string(values[0]), password: NewSecret(values[1])}, nil
}

// parseCredential takes the line break off that editors add. Its errors never hold
// any of the value.
func parseCredential(data []byte) ([]byte, error) {
	value := bytes.TrimRight(data, "\r\n")
	switch {
	case len(value) == 0:
		return nil, errors.New("is empty")
	case len(value) > maxKeyFile:
		return nil, fmt.Errorf("has more than %d bytes", maxKeyFile)
	case bytes.ContainsAny(value, "\r\n\x00"):
		return nil, errors.New("has more than one line, or a NUL")
	}
	return value, nil
}
