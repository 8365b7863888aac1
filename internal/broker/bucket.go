package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// bucket is a KV bucket whose writes keep their TTL: jetstream.KeyValue drops
// it on update, so writes are publishes with an expected revision.
type bucket struct {
	store
	name string
}

func (b bucket) stream() string             { return "KV_" + b.name }
func (b bucket) subject(key string) string  { return "$KV." + b.name + "." + key }
func (b bucket) key(subject string) string  { return subject[len("$KV."+b.name+"."):] }
func (b bucket) what(op, key string) string { return op + " " + b.name + "/" + key }

// get reads the latest value. It may come from a follower and be old: decide by
// compare-and-set, never by get.
func (b bucket) get(ctx context.Context, key string) ([]byte, uint64, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	stream, err := b.handle(ctx, b.stream())
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", b.what("get", key), err)
	}
	msg, err := stream.GetLastMsgForSubject(ctx, b.subject(key))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", b.what("get", key), classify(err))
	}
	if deleted(msg.Header) {
		return nil, msg.Sequence, fmt.Errorf("%s: %w", b.what("get", key), reminder.ErrNotFound)
	}
	return msg.Data, msg.Sequence, nil
}

// write stores a value if the key's revision is the expected one (0: no live
// value), to be forgotten after ttl (0: never). When the answer of an earlier
// try was lost, the conflict with our own write counts as success.
func (b bucket) write(ctx context.Context, key string, value []byte, expected uint64, ttl time.Duration) (uint64, error) {
	options := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(expected)}
	if ttl > 0 {
		options = append(options, jetstream.WithMsgTTL(wholeSeconds(ttl)))
	}
	revision, err := b.publish(ctx, &nats.Msg{Subject: b.subject(key), Data: value}, options...)
	if err == nil {
		return revision, nil
	}
	if errors.Is(err, reminder.ErrConflict) {
		if have, at, getErr := b.get(ctx, key); getErr == nil && bytes.Equal(have, value) && at > expected {
			return at, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", b.what("write", key), err)
}

// put stores a value whatever is there, to be forgotten after ttl (0: never).
func (b bucket) put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	var options []jetstream.PublishOpt
	if ttl > 0 {
		options = append(options, jetstream.WithMsgTTL(wholeSeconds(ttl)))
	}
	if _, err := b.publish(ctx, &nats.Msg{Subject: b.subject(key), Data: value}, options...); err != nil {
		return fmt.Errorf("%s: %w", b.what("put", key), err)
	}
	return nil
}

// forget removes every revision of the keys that match.
func (b bucket) forget(ctx context.Context, pattern string) error {
	return b.purge(ctx, b.stream(), b.subject(pattern))
}

// wholeSeconds rounds up: the server's TTL has a resolution of one second.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

func deleted(h nats.Header) bool {
	op := h.Get("KV-Operation")
	return op == "DEL" || op == "PURGE" || h.Get(jetstream.MarkerReasonHeader) != ""
}
