package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Registry is what workers need to know of schedules and channels, written by
// controllers, and the heartbeats of workers.
type Registry struct{ bucket }

const heartbeatTTL = 30 * time.Second

func scheduleKey(namespace, name string) string {
	return "schedule." + reminder.Escape(namespace) + "." + reminder.Escape(name)
}

func channelKey(namespace, name string) string {
	return "channel." + reminder.Escape(namespace) + "." + reminder.Escape(name)
}

func stakesKey(namespace, channel string) string {
	return "stakes." + reminder.Escape(namespace) + "." + reminder.Escape(channel)
}

func workerKey(namespace, channel, name string) string {
	return "worker." + reminder.Escape(namespace) + "." + reminder.Escape(channel) + "." + reminder.Escape(name)
}

// Schedule reads a schedule's entry with its revision; reminder.ErrNotFound when
// there is none.
func (r *Registry) Schedule(ctx context.Context, namespace, name string) (reminder.Schedule, uint64, error) {
	return read[reminder.Schedule](ctx, r.bucket, scheduleKey(namespace, name))
}

// Schedules calls fn with each registered schedule and its revision, also with
// deleted ones that are still kept.
func (r *Registry) Schedules(ctx context.Context, fn func(reminder.Schedule, uint64) error) error {
	return r.each(ctx, "schedule.>", func(e entry) error {
		s, err := reminder.DecodeEntry[reminder.Schedule](e.value)
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is nobody's to act on
		}
		return fn(s, e.revision)
	})
}

// PutSchedule stores a schedule's entry by compare-and-set: last is the revision
// that was read, 0 when there was none. The entry of a deleted schedule is kept
// for ttl (0: for ever). It answers the new revision.
func (r *Registry) PutSchedule(ctx context.Context, s reminder.Schedule, last uint64, ttl time.Duration) (uint64, error) {
	s.SchemaVersion = reminder.RegistryVersion
	return save(ctx, r.bucket, scheduleKey(s.Namespace, s.Name), s, last, ttl)
}

// Channel reads a channel's entry with its revision; reminder.ErrNotFound when
// there is none.
func (r *Registry) Channel(ctx context.Context, namespace, name string) (reminder.Channel, uint64, error) {
	return read[reminder.Channel](ctx, r.bucket, channelKey(namespace, name))
}

// Time is what the server's clock shows.
func (r *Registry) Time(ctx context.Context) (time.Time, error) {
	ctx, cancel := r.bound(ctx)
	defer cancel()
	stream, err := r.handle(ctx, r.stream())
	if err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", err)
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", classify(err))
	}
	return info.TimeStamp.UTC(), nil
}

// WatchChannel calls fn with a channel's entry as it is now and at each change,
// until ctx ends, fn fails or the bucket is lost. A removed channel is not
// reported.
func (r *Registry) WatchChannel(ctx context.Context, namespace, name string, fn func(reminder.Channel) error) error {
	return r.follow(ctx, channelKey(namespace, name), 0, func(e entry) error {
		if e.deleted {
			return nil
		}
		c, err := reminder.DecodeEntry[reminder.Channel](e.value)
		if err != nil {
			return fmt.Errorf("%s: %w", r.what("watch", e.key), err)
		}
		return fn(c)
	}, func() error { return nil })
}

// PutChannel stores a channel's entry by compare-and-set.
func (r *Registry) PutChannel(ctx context.Context, c reminder.Channel, last uint64) error {
	c.SchemaVersion = reminder.RegistryVersion
	_, err := save(ctx, r.bucket, channelKey(c.Namespace, c.Name), c, last, 0)
	return err
}

// ForgetChannel removes a channel's entry.
func (r *Registry) ForgetChannel(ctx context.Context, namespace, name string) error {
	return r.forget(ctx, channelKey(namespace, name))
}

// SchedulesOf lists the names of the registered schedules of a channel that are
// not deleted.
func (r *Registry) SchedulesOf(ctx context.Context, namespace, channel string) (names []string, err error) {
	err = r.each(ctx, "schedule."+reminder.Escape(namespace)+".*", func(e entry) error {
		s, err := reminder.DecodeEntry[reminder.Schedule](e.value)
		if err == nil && s.Channel == channel && !s.Deleted {
			names = append(names, s.Name)
		}
		return nil
	})
	return names, err
}

// stakesTTL is how long stakes are kept that nobody renews.
const stakesTTL = time.Hour

// Stakes reads how a channel's limits are divided, with the revision; none where
// nobody has a stake.
func (r *Registry) Stakes(ctx context.Context, namespace, channel string) (reminder.Stakes, uint64, error) {
	s, revision, err := read[reminder.Stakes](ctx, r.bucket, stakesKey(namespace, channel))
	if errors.Is(err, reminder.ErrNotFound) {
		return reminder.Stakes{}, 0, nil
	}
	return s, revision, err
}

// PutStakes stores how a channel's limits are divided, by compare-and-set.
func (r *Registry) PutStakes(ctx context.Context, namespace, channel string, s reminder.Stakes, last uint64) error {
	s.SchemaVersion = reminder.RegistryVersion
	_, err := save(ctx, r.bucket, stakesKey(namespace, channel), s, last, stakesTTL)
	return err
}

// Beat stores a worker's heartbeat; it is forgotten after 30 s.
func (r *Registry) Beat(ctx context.Context, w reminder.Worker) error {
	w.SchemaVersion = reminder.RegistryVersion
	value, err := reminder.EncodeEntry(w)
	if err != nil {
		return fmt.Errorf("encode heartbeat of %s: %w", w.Name, err)
	}
	return r.put(ctx, workerKey(w.Namespace, w.Channel, w.Name), value, heartbeatTTL)
}

// Rest removes a worker's heartbeat when it stops.
func (r *Registry) Rest(ctx context.Context, w reminder.Worker) error {
	return r.forget(ctx, workerKey(w.Namespace, w.Channel, w.Name))
}

// Workers lists the live workers of a channel.
func (r *Registry) Workers(ctx context.Context, namespace, channel string) ([]reminder.Worker, error) {
	var live []reminder.Worker
	err := r.each(ctx, "worker."+reminder.Escape(namespace)+"."+reminder.Escape(channel)+".*", func(e entry) error {
		w, err := reminder.DecodeEntry[reminder.Worker](e.value)
		if err == nil {
			live = append(live, w)
		}
		return nil
	})
	return live, err
}

func read[E reminder.Entry](ctx context.Context, b bucket, key string) (E, uint64, error) {
	var none E
	value, revision, err := b.get(ctx, key)
	if err != nil {
		return none, revision, err
	}
	e, err := reminder.DecodeEntry[E](value)
	if err != nil {
		return none, revision, fmt.Errorf("%s: %w", b.what("get", key), err)
	}
	return e, revision, nil
}

func save[E reminder.Entry](ctx context.Context, b bucket, key string, e E, last uint64, ttl time.Duration) (uint64, error) {
	value, err := reminder.EncodeEntry(e)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", b.what("encode", key), err)
	}
	return b.write(ctx, key, value, last, ttl)
}
