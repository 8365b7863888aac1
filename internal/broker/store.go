package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// store is what the services share: the connection and the time limit of a call.
type store struct {
	js      jetstream.JetStream
	conn    *nats.Conn
	timeout time.Duration
	handles *sync.Map // stream name → jetstream.Stream: opening one costs a round trip
}

// handle opens a stream. It does not tell whether the stream still exists.
func (s store) handle(ctx context.Context, name string) (jetstream.Stream, error) {
	if !s.conn.IsConnected() {
		return nil, reminder.ErrUnavailable
	}
	if known, ok := s.handles.Load(name); ok {
		return known.(jetstream.Stream), nil
	}
	stream, err := s.js.Stream(ctx, name)
	if err != nil {
		return nil, classify(err)
	}
	s.handles.Store(name, stream)
	return stream, nil
}

// bound gives a call its time limit, unless the caller's own ends earlier.
func (s store) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

func (s store) publish(ctx context.Context, msg *nats.Msg, options ...jetstream.PublishOpt) (uint64, error) {
	if !s.conn.IsConnected() {
		return 0, reminder.ErrUnavailable
	}
	ctx, cancel := s.bound(ctx)
	defer cancel()
	ack, err := s.js.PublishMsg(ctx, msg, options...)
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		return 0, s.silent(ctx, msg.Subject, err)
	}
	if err != nil {
		return 0, classify(err)
	}
	return ack.Sequence, nil
}

// silent tells a stream that does not exist from one that has no leader yet, such
// as after a restart of the broker: a publish meets no answer in both cases.
func (s store) silent(ctx context.Context, subject string, cause error) error {
	if _, err := s.js.StreamNameBySubject(ctx, subject); errors.Is(err, jetstream.ErrStreamNotFound) {
		return wrap(reminder.ErrLost, cause)
	}
	return wrap(reminder.ErrUnavailable, cause)
}

// purge removes all messages of the subjects that match.
func (s store) purge(ctx context.Context, stream, subject string) error {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	handle, err := s.handle(ctx, stream)
	if err == nil {
		err = handle.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		return fmt.Errorf("purge %s: %w", stream, classify(err))
	}
	return nil
}

const (
	codeStreamStoreFailed   = 10077 // "maximum bytes exceeded" and the like
	codeInsufficientStorage = 10047
	codeAccountLimit        = 10002
)

// classify maps what nats.go answers to the errors of package reminder, and
// keeps the original behind it.
func classify(err error) error {
	var api jetstream.JetStreamError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted), errors.Is(err, jetstream.ErrMsgNotFound):
		return wrap(reminder.ErrNotFound, err)
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrConsumerDeleted), errors.Is(err, jetstream.ErrConsumerDoesNotExist):
		return wrap(reminder.ErrLost, err)
	case errors.As(err, &api) && api.APIError() != nil:
		return classifyAPI(api.APIError(), err)
	case unreachable(err):
		return wrap(reminder.ErrUnavailable, err)
	}
	return err
}

func classifyAPI(api *jetstream.APIError, err error) error {
	switch api.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return wrap(reminder.ErrConflict, err)
	case codeStreamStoreFailed, codeInsufficientStorage, codeAccountLimit:
		return wrap(reminder.ErrFull, err)
	}
	if api.Code == 503 {
		return wrap(reminder.ErrUnavailable, err)
	}
	return err
}

func unreachable(err error) bool {
	for _, known := range []error{
		nats.ErrConnectionClosed, nats.ErrNoResponders, nats.ErrTimeout, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		nats.ErrConnectionReconnecting, nats.ErrNoServers, context.DeadlineExceeded, jetstream.ErrNoHeartbeat,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func wrap(kind, err error) error { return fmt.Errorf("%w: %w", kind, err) }

func isNotFound(err error) bool { return errors.Is(err, reminder.ErrNotFound) }
