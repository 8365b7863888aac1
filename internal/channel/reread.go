package channel

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// reread keeps what was read from files of a mounted Secret, and reads again
// whenever one was replaced (a mounted Secret rotates by swapping a symbolic
// link) or rewritten.
type reread[T any] struct {
	mu     sync.Mutex
	loaded bool
	seen   map[string]fs.FileInfo
	value  T
	err    error
}

// get is the value of the files as they were seen. Looking comes before reading:
// a change in between is then seen as a change the next time.
func (r *reread[T]) get(seen map[string]fs.FileInfo, read func() (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.loaded || !sameFiles(seen, r.seen) {
		r.value, r.err = read()
		r.seen, r.loaded = seen, true
	}
	return r.value, r.err
}

func sameFiles(a, b map[string]fs.FileInfo) bool {
	if len(a) != len(b) {
		return false
	}
	for name, info := range a {
		if other, ok := b[name]; !ok || !same(info, other) {
			return false
		}
	}
	return true
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// look looks at files of a folder; one that does not exist is left out.
func look(dir string, names []string) (map[string]fs.FileInfo, error) {
	seen := map[string]fs.FileInfo{}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("look at secret file %s: %w", name, bare(err))
		default:
			seen[name] = info
		}
	}
	return seen, nil
}

// readFile reads a file up to one byte beyond limit. Its errors hold no path.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, bare(err)
	}
	return data, nil
}

// bare is a file error without the path.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
