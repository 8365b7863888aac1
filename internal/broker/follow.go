package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// entry is one revision of a bucket as a follower sees it.
type entry struct {
	key      string
	value    []byte
	revision uint64
	written  time.Time // by the server's clock
	deleted  bool
	// pending is the number of entries that were waiting behind this one.
	pending uint64
}

// follow calls fn with each entry of the keys that match, in order of revision:
// from a revision on (from > 0), or the latest of each key and then what comes
// (from == 0). idle is called when nothing is waiting, also at the beginning.
// It returns when ctx ends, fn fails, or the bucket is lost.
func (b bucket) follow(ctx context.Context, pattern string, from uint64, fn func(entry) error, idle func() error) error {
	// Without a bound the client tries for ever to bring a consumer back, and a list
	// that the broker has left hangs; callers begin again by themselves.
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{b.subject(pattern)}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, MaxResetAttempts: 1}
	if from > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from
	}
	if !b.conn.IsConnected() {
		return fmt.Errorf("follow %s: %w", b.name, reminder.ErrUnavailable)
	}
	consumer, err := b.js.OrderedConsumer(ctx, b.stream(), config)
	if err != nil {
		return fmt.Errorf("follow %s: %w", b.name, classify(err))
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("follow %s: %w", b.name, classify(err))
	}
	defer b.end(consumer, messages)
	defer context.AfterFunc(ctx, messages.Stop)()
	pending := uint64(1) // unless the broker has said so, assume that some is
	if info := consumer.CachedInfo(); info != nil {
		pending = info.NumPending
	}
	if pending == 0 {
		if err := idle(); err != nil {
			return err
		}
	}
	return b.drain(ctx, consumer, messages, pending, fn, idle)
}

// end removes the consumer at once: left alone it would stay for minutes, and a
// stream has room for so many.
func (b bucket) end(consumer jetstream.Consumer, messages jetstream.MessagesContext) {
	messages.Stop()
	info := consumer.CachedInfo()
	if info == nil || !b.conn.IsConnected() {
		return
	}
	ctx, cancel := b.bound(context.Background())
	defer cancel()
	_ = b.js.DeleteConsumer(ctx, b.stream(), info.Name) // gone already is as good
}

// quiet is how long nothing may come before the consumer is asked whether
// anything is still on its way: what was announced as pending can expire or be
// removed before it is delivered.
const quiet = time.Second

// stuck is for how many times that long the broker may say that something is on its
// way while nothing comes: the request for it can be lost with the leader that took it,
// and the client, which is asked again and again, does not notice by its heartbeats.
const stuck = 10

func (b bucket) drain(ctx context.Context, consumer jetstream.Consumer, messages jetstream.MessagesContext, pending uint64, fn func(entry) error, idle func() error) error {
	for {
		e, err := b.next(ctx, consumer, messages, pending > 0)
		if err != nil {
			return err
		}
		if e.key != "" {
			err = fn(e)
		}
		if pending = e.pending; err == nil && pending == 0 {
			err = idle()
		}
		if err != nil {
			return err
		}
	}
}

// next waits for an entry, while some are expected no longer than until it turns
// out that they have vanished: then it answers an empty entry. Without a time
// limit the client itself notices a consumer that is gone, by its heartbeats.
func (b bucket) next(ctx context.Context, consumer jetstream.Consumer, messages jetstream.MessagesContext, expected bool) (entry, error) {
	var limit []jetstream.NextOpt
	if expected {
		limit = []jetstream.NextOpt{jetstream.NextMaxWait(quiet)}
	}
	for vanished, waits := false, 0; ; waits++ {
		msg, err := messages.Next(limit...)
		switch {
		case ctx.Err() != nil:
			return entry{}, ctx.Err()
		case err == nil:
			return b.entry(msg)
		case !errors.Is(err, nats.ErrTimeout):
			return entry{}, fmt.Errorf("follow %s: %w", b.name, classify(err))
		case vanished: // and what was sent before the broker said so has not come either
			return entry{}, nil
		case waits == stuck:
			return entry{}, fmt.Errorf("follow %s: what is pending does not come: %w", b.name, reminder.ErrUnavailable)
		}
		if vanished, err = b.nothingPending(ctx, consumer); err != nil {
			return entry{}, err
		}
	}
}

func (b bucket) entry(msg jetstream.Msg) (entry, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return entry{}, fmt.Errorf("follow %s: %w", b.name, err)
	}
	return entry{key: b.key(msg.Subject()), value: msg.Data(), revision: meta.Sequence.Stream, written: meta.Timestamp.UTC(), deleted: deleted(msg.Headers()), pending: meta.NumPending}, nil
}

func (b bucket) nothingPending(ctx context.Context, consumer jetstream.Consumer) (bool, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	info, err := consumer.Info(ctx)
	if err != nil {
		return false, fmt.Errorf("follow %s: %w", b.name, classify(err))
	}
	return info.NumPending == 0, nil
}

// errCaughtUp ends a follow that only wanted what is there now.
var errCaughtUp = errors.New("caught up")

// each calls fn with the latest entry of each key that matches, as of now.
func (b bucket) each(ctx context.Context, pattern string, fn func(entry) error) error {
	err := b.follow(ctx, pattern, 0, func(e entry) error {
		if e.deleted {
			return nil
		}
		return fn(e)
	}, func() error { return errCaughtUp })
	if errors.Is(err, errCaughtUp) {
		return nil
	}
	return err
}

// Supervise keeps a long-running part going until ctx ends: when fn fails, it is
// called again after a pause that doubles from 100 ms to 5 s.
func Supervise(ctx context.Context, failed func(error), fn func(context.Context) error) {
	pause := 100 * time.Millisecond
	for ctx.Err() == nil {
		started := time.Now()
		err := fn(ctx)
		if ctx.Err() != nil {
			return
		}
		failed(err)
		if time.Since(started) > time.Minute {
			pause = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, 5*time.Second)
	}
}
