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

// Outlet is where channels of type NATS publish: streams that are not ours.
type Outlet struct{ store }

// Publish stores a message under an id in the stream that takes the subject. It
// tells its sequence there, and whether the stream had it before. It publishes
// once; ctx bounds how long it waits for the stream's answer.
//
// It answers ErrUnsent when nobody was reached, ErrLost when no stream takes the
// subject, ErrFull, ErrTooLarge and ErrRefused when the stream did not take the
// message. After any other error the message may have been stored.
func (o *Outlet) Publish(ctx context.Context, subject, id string, header map[string]string, body []byte) (sequence uint64, duplicate bool, err error) {
	if !o.conn.IsConnected() {
		return 0, false, reminder.ErrUnsent
	}
	msg := &nats.Msg{Subject: subject, Header: nats.Header{}, Data: body}
	for name, value := range header {
		msg.Header.Set(name, value)
	}
	ack, err := o.js.PublishMsg(ctx, msg, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		err = o.unheard(ctx, subject, err)
	}
	if err != nil {
		return 0, false, fmt.Errorf("publish %s: %w", id, classifyPublish(err))
	}
	return ack.Sequence, ack.Duplicate, nil
}

// unheard tells a subject that no stream takes from a stream without a leader. In
// both cases the server has said that nobody has the message.
func (o *Outlet) unheard(ctx context.Context, subject string, cause error) error {
	if err := o.silent(ctx, subject, cause); errors.Is(err, reminder.ErrLost) {
		return err
	}
	return wrap(reminder.ErrUnsent, cause)
}

const codeMessageTooLarge = 10054

// classifyPublish maps what a publish to a foreign stream can meet.
func classifyPublish(err error) error {
	var api jetstream.JetStreamError
	switch {
	case errors.Is(err, reminder.ErrLost), errors.Is(err, reminder.ErrUnsent):
		return err
	case errors.Is(err, nats.ErrMaxPayload):
		return wrap(reminder.ErrTooLarge, err)
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return wrap(reminder.ErrUnsent, err)
	case errors.As(err, &api) && api.APIError() != nil:
		return classifyRefusal(api.APIError(), err)
	}
	return err
}

func classifyRefusal(api *jetstream.APIError, err error) error {
	switch api.ErrorCode {
	case codeMessageTooLarge:
		return wrap(reminder.ErrTooLarge, err)
	case codeStreamStoreFailed, codeInsufficientStorage, codeAccountLimit:
		return wrap(reminder.ErrFull, err)
	}
	return wrap(reminder.ErrRefused, err)
}

// StreamInfo is what a stream does with what is published to it.
type StreamInfo struct {
	Name string
	// Window is for how long it remembers message ids.
	Window time.Duration
	// Acknowledges: it answers a publish.
	Acknowledges bool
}

// Stream finds the stream that takes a subject. It answers ErrLost when none does.
func (o *Outlet) Stream(ctx context.Context, subject string) (StreamInfo, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	name, err := o.js.StreamNameBySubject(ctx, subject)
	if err != nil {
		return StreamInfo{}, fmt.Errorf("find the stream of a subject: %w", classify(err))
	}
	stream, err := o.js.Stream(ctx, name)
	if err != nil {
		return StreamInfo{}, fmt.Errorf("look at stream %s: %w", name, classify(err))
	}
	config := stream.CachedInfo().Config
	return StreamInfo{Name: name, Window: config.Duplicates, Acknowledges: !config.NoAck}, nil
}
