package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Delivery is one due job in a worker's hands.
type Delivery struct {
	// Token is the reminder's key in the ledger, taken from the subject.
	Token string
	// Body is the envelope as it came; Count of deliveries of this message,
	// from 1; StoreTime is when the broker stored it, by the broker's clock;
	// Sequence is the message's number in the stream.
	Body      []byte
	Count     uint64
	StoreTime time.Time
	Sequence  uint64
	// Behind is how many due jobs of the channel wait behind it.
	Behind uint64
	// Ahead: it was taken out of turn, see Queue.Peek.
	Ahead bool
	// Malformed: the subject names no reminder; Token is empty.
	Malformed bool

	hold hold
}

// hold is how a due job that is in hand is let go.
type hold interface {
	ack(ctx context.Context) error
	nak(delay time.Duration) error
	drop(ctx context.Context) error
	working() error
}

// Ack removes the job and waits for the broker's confirmation.
func (d Delivery) Ack(ctx context.Context) error {
	if err := d.hold.ack(ctx); err != nil {
		return fmt.Errorf("acknowledge %s: %w", d.Token, classify(err))
	}
	return nil
}

// Nak asks for redelivery after a delay, at least 100 ms: without one the broker
// redelivers at once, thousands of times a second.
func (d Delivery) Nak(delay time.Duration) error {
	if err := d.hold.nak(max(delay, 100*time.Millisecond)); err != nil {
		return fmt.Errorf("refuse %s: %w", d.Token, classify(err))
	}
	return nil
}

// Drop ends the delivery for good: the job cannot be read by anyone.
func (d Delivery) Drop(ctx context.Context) error {
	if err := d.hold.drop(ctx); err != nil {
		return fmt.Errorf("drop malformed due job: %w", classify(err))
	}
	return nil
}

// Working extends the ack wait while the job is in hand.
func (d Delivery) Working() error { return classify(d.hold.working()) }

// delivered is a job that the consumer delivered.
type delivered struct {
	msg     jetstream.Msg
	timeout time.Duration
}

func (d delivered) ack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	return d.msg.DoubleAck(ctx)
}

func (d delivered) nak(delay time.Duration) error { return d.msg.NakWithDelay(delay) }

func (d delivered) drop(context.Context) error { return d.msg.TermWithReason("malformed due job") }

func (d delivered) working() error { return d.msg.InProgress() }

// peeked is a job that was read out of turn: it stands until it is removed, and
// the consumer delivers it when its turn comes.
type peeked struct {
	queue    *Queue
	sequence uint64
}

func (p peeked) ack(ctx context.Context) error {
	ctx, cancel := p.queue.bound(ctx)
	defer cancel()
	stream, err := p.queue.handle(ctx, jobsStream)
	if err != nil {
		return err
	}
	if err := stream.DeleteMsg(ctx, p.sequence); !errors.Is(classify(err), reminder.ErrNotFound) {
		return err
	}
	return nil
}

func (p peeked) nak(time.Duration) error { return nil }

func (p peeked) drop(ctx context.Context) error { return p.ack(ctx) }

func (p peeked) working() error { return nil }

// Fetch calls fn with due jobs of a channel as they come, until there were as many
// as limit, ctx ends or the consumer fails. It buffers none beyond the limit. When
// ctx ends, fn still gets what is on its way, so that it can be given back at once.
func (q *Queue) Fetch(ctx context.Context, namespace, channel string, limit int, fn func(Delivery)) error {
	messages, err := q.pull(ctx, namespace, channel, limit)
	if err != nil {
		q.consumers.Delete(ConsumerName(namespace, channel))
		return fmt.Errorf("consume channel %s/%s: %w", namespace, channel, classify(err))
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Drain)()
	for range limit {
		msg, err := messages.Next()
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			q.consumers.Delete(ConsumerName(namespace, channel))
			return fmt.Errorf("consume channel %s/%s: %w", namespace, channel, classify(err))
		}
		fn(DeliveryOf(msg, q.timeout))
	}
	return nil
}

func (q *Queue) pull(ctx context.Context, namespace, channel string, limit int) (jetstream.MessagesContext, error) {
	consumer, err := q.consumer(ctx, ConsumerName(namespace, channel))
	if err != nil {
		return nil, err
	}
	return consumer.Messages(jetstream.PullMaxMessages(limit), jetstream.StopAfter(limit), jetstream.PullHeartbeat(2*time.Second), jetstream.PullExpiry(5*time.Second))
}

// consumer opens a consumer once: that costs a round trip.
func (q *Queue) consumer(ctx context.Context, name string) (jetstream.Consumer, error) {
	if known, ok := q.consumers.Load(name); ok && q.conn.IsConnected() {
		return known.(jetstream.Consumer), nil
	}
	stream, err := q.handle(ctx, jobsStream)
	if err != nil {
		return nil, err
	}
	consumer, err := stream.Consumer(ctx, name)
	if err == nil {
		q.consumers.Store(name, consumer)
	}
	return consumer, err
}

// DeliveryOf is the delivery that a message on a due subject makes; timeout bounds its
// acknowledgement. It is exported for brokers that live in memory.
func DeliveryOf(msg jetstream.Msg, timeout time.Duration) Delivery {
	d := Delivery{Body: msg.Data(), hold: delivered{msg, timeout}, Count: 1}
	if meta, err := msg.Metadata(); err == nil {
		d.Count, d.StoreTime, d.Sequence, d.Behind = meta.NumDelivered, meta.Timestamp, meta.Sequence.Stream, meta.NumPending
	}
	token, err := TokenOf(msg.Subject())
	d.Token, d.Malformed = token, err != nil
	return d
}

// Peek reads the first due job of one schedule from a sequence on, out of turn:
// the consumer does not know of it, and may deliver the same job to another worker
// meanwhile. The claim in the ledger decides who sends it. It answers
// reminder.ErrNotFound when there is none.
func (q *Queue) Peek(ctx context.Context, namespace, channel, schedule string, from uint64) (Delivery, error) {
	ctx, cancel := q.bound(ctx)
	defer cancel()
	subject := duePrefix + reminder.Escape(namespace) + "." + reminder.Escape(channel) + "." + reminder.Escape(schedule) + ".>"
	stream, err := q.handle(ctx, jobsStream)
	if err != nil {
		return Delivery{}, fmt.Errorf("look ahead for %s/%s: %w", namespace, schedule, err)
	}
	msg, err := stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(subject))
	if err != nil {
		return Delivery{}, fmt.Errorf("look ahead for %s/%s: %w", namespace, schedule, classify(err))
	}
	d := Delivery{Body: msg.Data, Count: 1, StoreTime: msg.Time, Sequence: msg.Sequence, Ahead: true, hold: peeked{q, msg.Sequence}}
	token, err := TokenOf(msg.Subject)
	d.Token, d.Malformed = token, err != nil
	return d, nil
}
