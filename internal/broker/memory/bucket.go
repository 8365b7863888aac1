package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// entry is one revision of a key.
type entry struct {
	key      string
	value    []byte
	revision uint64
	expires  time.Time // zero: never
}

func (e entry) live(now time.Time) bool {
	return e.revision != 0 && (e.expires.IsZero() || now.Before(e.expires))
}

// bucket is a key-value bucket with all its revisions, in order.
type bucket struct {
	last   uint64
	log    []entry
	latest map[string]entry
}

func newBucket() *bucket { return &bucket{latest: map[string]entry{}} }

func (k *bucket) get(now time.Time, key string) ([]byte, uint64, error) {
	e := k.latest[key]
	if !e.live(now) {
		return nil, 0, fmt.Errorf("get %s: %w", key, reminder.ErrNotFound)
	}
	return e.value, e.revision, nil
}

func (k *bucket) put(now time.Time, key string, value []byte, ttl time.Duration) uint64 {
	k.last++
	e := entry{key: key, value: value, revision: k.last}
	if ttl > 0 {
		e.expires = now.Add((ttl + time.Second - 1).Truncate(time.Second))
	}
	k.latest[key] = e
	k.log = append(k.log, e)
	return k.last
}

// write is the compare-and-set. A conflict with the same value is success: it is the
// caller's own.
func (k *bucket) write(now time.Time, key string, value []byte, expected uint64, ttl time.Duration) (uint64, error) {
	have := k.latest[key]
	if !have.live(now) {
		have = entry{}
	}
	switch {
	case have.revision == expected:
		return k.put(now, key, value, ttl), nil
	case bytes.Equal(have.value, value) && have.revision > expected:
		return have.revision, nil
	}
	return 0, fmt.Errorf("write %s: %w", key, reminder.ErrConflict)
}

// forget removes every revision of the keys with a prefix; exact: of that key alone.
func (k *bucket) forget(prefix string, exact bool) {
	gone := func(key string) bool { return key == prefix || !exact && strings.HasPrefix(key, prefix) }
	kept := k.log[:0:0]
	for _, e := range k.log {
		if !gone(e.key) {
			kept = append(kept, e)
		}
	}
	k.log = kept
	for key := range k.latest {
		if gone(key) {
			delete(k.latest, key)
		}
	}
}

// since are the live revisions from a number on; with 0 the latest of each key.
func (k *bucket) since(now time.Time, from uint64, match func(string) bool) (found []entry) {
	for _, e := range k.log[k.index(from):] {
		if e.live(now) && match(e.key) && (from > 0 || k.latest[e.key].revision == e.revision) {
			found = append(found, e)
		}
	}
	return found
}

// index is the place of the first revision at or behind a number.
func (k *bucket) index(from uint64) int {
	low, high := 0, len(k.log)
	for low < high {
		if mid := (low + high) / 2; k.log[mid].revision < from {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// follow calls fn with each revision that matches, in order, and idle when nothing
// waits.
func (b *Broker) follow(ctx context.Context, k *bucket, from uint64, match func(string) bool, fn func(entry) error, idle func() error) error {
	for {
		found, last, changed := b.batch(k, from, match)
		from = last + 1
		for _, e := range found {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := fn(e); err != nil {
				return err
			}
		}
		if err := idle(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (b *Broker) batch(k *bucket, from uint64, match func(string) bool) ([]entry, uint64, <-chan struct{}) {
	now, unlock := b.lock()
	defer unlock()
	return k.since(now, from, match), k.last, b.changed
}

func isNotFound(err error) bool { return errors.Is(err, reminder.ErrNotFound) }

func always(string) bool { return true }

func withPrefix(prefix string) func(string) bool {
	return func(key string) bool { return strings.HasPrefix(key, prefix) }
}
