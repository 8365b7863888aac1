package channel

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// keyring reads the signing keys of a mounted Secret, again whenever a file was
// replaced (a mounted Secret rotates by swapping a symbolic link) or rewritten.
type keyring struct {
	dir string

	mu     sync.Mutex
	loaded bool
	seen   [2]fs.FileInfo
	keys   []Secret
	err    error
}

// current is the keys in the order of their files; none when there is no Secret
// or no key in it.
func (r *keyring) current() ([]Secret, error) {
	if r.dir == "" {
		return nil, nil
	}
	seen, err := r.stat()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.loaded || !same(seen[0], r.seen[0]) || !same(seen[1], r.seen[1]) {
		r.keys, r.err = r.read(seen)
		r.seen, r.loaded = seen, true
	}
	return r.keys, r.err
}

func keyFiles() [2]string { return [2]string{KeyFile, PreviousKeyFile} }

// stat looks at both files; one that does not exist is nil. It comes before
// reading: a change in between is then seen as a change the next time.
func (r *keyring) stat() (seen [2]fs.FileInfo, err error) {
	for i, name := range keyFiles() {
		info, err := os.Stat(filepath.Join(r.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return seen, fmt.Errorf("look at secret file %s: %w", name, bare(err))
		default:
			seen[i] = info
		}
	}
	return seen, nil
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func (r *keyring) read(seen [2]fs.FileInfo) ([]Secret, error) {
	if seen[0] == nil && seen[1] != nil {
		return nil, fmt.Errorf("the channel's Secret has %s but no %s", PreviousKeyFile, KeyFile)
	}
	var keys []Secret
	for i, name := range keyFiles() {
		if seen[i] == nil {
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
	data, err := readFile(path)
	if err != nil {
		return Secret{}, err
	}
	return parseKey(data)
}

// readFile reads a file of a Secret, up to a byte more than it may have. Its
// errors do not hold the path.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	return data, bare(err)
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

// bare is a file error without the path.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
