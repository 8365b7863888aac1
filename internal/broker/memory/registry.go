package memory

import (
	"context"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Registry is as broker.Registry.
type Registry struct {
	*Broker
	bucket *bucket
}

func path(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = reminder.Escape(p)
	}
	return strings.Join(escaped, ".")
}

// Schedule reads a schedule's entry with its revision.
func (r Registry) Schedule(_ context.Context, namespace, name string) (reminder.Schedule, uint64, error) {
	return read[reminder.Schedule](r.Broker, r.bucket, path("schedule", namespace, name))
}

// PutSchedule stores a schedule's entry by compare-and-set.
func (r Registry) PutSchedule(_ context.Context, s reminder.Schedule, last uint64, ttl time.Duration) (uint64, error) {
	s.SchemaVersion = reminder.RegistryVersion
	return save(r.Broker, r.bucket, path("schedule", s.Namespace, s.Name), s, last, ttl)
}

// Channel reads a channel's entry with its revision.
func (r Registry) Channel(_ context.Context, namespace, name string) (reminder.Channel, uint64, error) {
	return read[reminder.Channel](r.Broker, r.bucket, path("channel", namespace, name))
}

// PutChannel stores a channel's entry by compare-and-set.
func (r Registry) PutChannel(_ context.Context, c reminder.Channel, last uint64) error {
	c.SchemaVersion = reminder.RegistryVersion
	_, err := save(r.Broker, r.bucket, path("channel", c.Namespace, c.Name), c, last, 0)
	return err
}

// ForgetChannel removes a channel's entry.
func (r Registry) ForgetChannel(_ context.Context, namespace, name string) error {
	r.forget(r.bucket, path("channel", namespace, name), true)
	return nil
}

// WatchChannel calls fn with a channel's entry as it is and at each change.
func (r Registry) WatchChannel(ctx context.Context, namespace, name string, fn func(reminder.Channel) error) error {
	key := path("channel", namespace, name)
	return r.follow(ctx, r.bucket, 0, func(k string) bool { return k == key }, func(e entry) error {
		c, err := reminder.DecodeEntry[reminder.Channel](e.value)
		if err != nil {
			return err
		}
		return fn(c)
	}, func() error { return nil })
}

const heartbeatTTL = 30 * time.Second

// Beat stores a worker's heartbeat.
func (r Registry) Beat(_ context.Context, w reminder.Worker) error {
	w.SchemaVersion = reminder.RegistryVersion
	return put(r.Broker, r.bucket, path("worker", w.Namespace, w.Channel, w.Name), w, heartbeatTTL)
}

// Rest removes a worker's heartbeat.
func (r Registry) Rest(_ context.Context, w reminder.Worker) error {
	r.forget(r.bucket, path("worker", w.Namespace, w.Channel, w.Name), true)
	return nil
}

// Workers lists the live workers of a channel.
func (r Registry) Workers(_ context.Context, namespace, channel string) (live []reminder.Worker, err error) {
	found, _, _ := r.batch(r.bucket, 0, withPrefix(path("worker", namespace, channel)+"."))
	for _, e := range found {
		if w, err := reminder.DecodeEntry[reminder.Worker](e.value); err == nil {
			live = append(live, w)
		}
	}
	return live, nil
}

func (b *Broker) forget(k *bucket, prefix string, exact bool) {
	_, unlock := b.lock()
	defer unlock()
	k.forget(prefix, exact)
}

func read[E reminder.Entry](b *Broker, k *bucket, key string) (E, uint64, error) {
	now, unlock := b.lock()
	defer unlock()
	var none E
	value, revision, err := k.get(now, key)
	if err != nil {
		return none, 0, err
	}
	e, err := reminder.DecodeEntry[E](value)
	return e, revision, err
}

func save[E reminder.Entry](b *Broker, k *bucket, key string, e E, last uint64, ttl time.Duration) (uint64, error) {
	value, err := reminder.EncodeEntry(e)
	if err != nil {
		return 0, err
	}
	now, unlock := b.lock()
	defer unlock()
	revision, err := k.write(now, key, value, last, ttl)
	b.tell()
	return revision, err
}

func put[E reminder.Entry](b *Broker, k *bucket, key string, e E, ttl time.Duration) error {
	value, err := reminder.EncodeEntry(e)
	if err != nil {
		return err
	}
	now, unlock := b.lock()
	defer unlock()
	k.put(now, key, value, ttl)
	b.tell()
	return nil
}
