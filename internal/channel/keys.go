package channel

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Files of a channel's Secret. During a rotation both keys sign, so that the
// receiver can change its key at any moment in between.
const (
	// KeyFile holds the signing key: whsec_<base64>, or the base64 alone.
	KeyFile = "signingKey"
	// PreviousKeyFile holds the key that is being rotated out; it is optional.
	PreviousKeyFile = "previousSigningKey"
)

const (
	keyPrefix = "whsec_"
	// minKey is the smallest key, in bytes: Standard Webhooks, "Signature scheme".
	minKey = 24
	// maxKeyFile is the largest key file that is read, in bytes.
	maxKeyFile = 4 << 10
)

// keyring reads the signing keys of a mounted Secret, again when they change.
type keyring struct {
	dir   string
	cache reread[[]Secret]
}

// current is the keys in the order of their files; none when there is no Secret
// or no key in it.
func (r *keyring) current() ([]Secret, error) {
	if r.dir == "" {
		return nil, nil
	}
	names := keyFiles()
	seen, err := look(r.dir, names[:])
	if err != nil {
		return nil, err
	}
	return r.cache.get(seen, func() ([]Secret, error) { return r.read(seen) })
}

func keyFiles() [2]string { return [2]string{KeyFile, PreviousKeyFile} }

func (r *keyring) read(seen map[string]fs.FileInfo) ([]Secret, error) {
	if seen[KeyFile] == nil && seen[PreviousKeyFile] != nil {
		return nil, fmt.Errorf("the channel's Secret has %s but no %s", PreviousKeyFile, KeyFile)
	}
	var keys []Secret
	for _, name := range keyFiles() {
		if seen[name] == nil {
			continue
		}
		key, err := readKey(filepath.Join(r.dir, name))
		if err != nil {
			return nil, fmt.Errorf("read secret file %s: %w", name, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func readKey(path string) (Secret, error) {
	data, err := readFile(path, maxKeyFile)
	if err != nil {
		return Secret{}, err
	}
	return parseKey(data)
}

// parseKey decodes a signing key. Its errors never hold any of it.
func parseKey(data []byte) (Secret, error) {
	if len(data) > maxKeyFile {
		return Secret{}, fmt.Errorf("has more than %d bytes", maxKeyFile)
	}
	encoded := strings.TrimPrefix(string(bytes.TrimSpace(data)), keyPrefix)
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return Secret{}, fmt.Errorf("is neither %s<base64> nor base64", keyPrefix)
	}
	if len(key) < minKey {
		return Secret{}, fmt.Errorf("holds a key of %d bytes; at least %d are needed", len(key), minKey)
	}
	return NewSecret(key), nil
}
