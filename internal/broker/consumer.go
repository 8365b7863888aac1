package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// maxAckPending bounds the due jobs of one channel that are in flight or wait
// for a delayed redelivery.
const maxAckPending = 5000

// maxConsumerName is below the server's limit of 255.
const maxConsumerName = 200

// ConsumerName is the durable consumer of a channel: <namespace>_<channel>. A
// namespace has no underscore, so that the two cannot run together.
func ConsumerName(namespace, channel string) string {
	name := reminder.Escape(namespace) + "_" + reminder.Escape(channel)
	if len(name) > maxConsumerName {
		name = name[:maxConsumerName] + "=" + reminder.RecipientToken(name)
	}
	return name
}

// EnsureConsumer creates the durable consumer of a channel, or brings back the
// settings that it must have.
func (q *Queue) EnsureConsumer(ctx context.Context, c reminder.Channel) error {
	ctx, cancel := q.bound(ctx)
	defer cancel()
	stream, err := q.handle(ctx, jobsStream)
	if err == nil {
		_, err = stream.CreateOrUpdateConsumer(ctx, consumerConfig(c))
	}
	if err != nil {
		return fmt.Errorf("ensure consumer of channel %s/%s: %w", c.Namespace, c.Name, classify(err))
	}
	return nil
}

// consumerConfig has no BackOff, which would silently replace AckWait, and no
// MaxDeliver: attempts and dead letters are the ledger's.
func consumerConfig(c reminder.Channel) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       ConsumerName(c.Namespace, c.Name),
		Description:   "reminder-operator: due jobs of one channel",
		FilterSubject: duePrefix + reminder.Escape(c.Namespace) + "." + reminder.Escape(c.Name) + ".>",
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       c.AckWait,
		MaxDeliver:    -1,
		MaxAckPending: maxAckPending,
		MaxWaiting:    2048,
	}
}

// RemoveConsumer deletes the durable consumer of a channel. The due jobs that wait
// for it stay, for a channel of that name that is made anew; the audit sweep ends
// their reminders at the deadline. It is safe to repeat.
func (q *Queue) RemoveConsumer(ctx context.Context, namespace, channel string) error {
	ctx, cancel := q.bound(ctx)
	defer cancel()
	stream, err := q.handle(ctx, jobsStream)
	if err == nil {
		err = stream.DeleteConsumer(ctx, ConsumerName(namespace, channel))
	}
	if err = classify(err); err != nil && !errors.Is(err, reminder.ErrLost) {
		return fmt.Errorf("remove consumer of channel %s/%s: %w", namespace, channel, err)
	}
	return nil
}

// Backlog is what waits on a channel's consumer.
type Backlog struct {
	// Waiting is the number of due jobs that no worker has fetched, InFlight of
	// those fetched and not acknowledged.
	Waiting, InFlight int64
}

// Backlog of a channel's consumer. It answers reminder.ErrLost when the consumer
// does not exist.
func (q *Queue) Backlog(ctx context.Context, namespace, channel string) (Backlog, error) {
	ctx, cancel := q.bound(ctx)
	defer cancel()
	stream, err := q.handle(ctx, jobsStream)
	if err != nil {
		return Backlog{}, fmt.Errorf("inspect consumer of channel %s/%s: %w", namespace, channel, err)
	}
	consumer, err := stream.Consumer(ctx, ConsumerName(namespace, channel))
	if err != nil {
		return Backlog{}, fmt.Errorf("inspect consumer of channel %s/%s: %w", namespace, channel, classify(err))
	}
	info := consumer.CachedInfo()
	return Backlog{Waiting: int64(info.NumPending), InFlight: int64(info.NumAckPending)}, nil
}

// Delivery is one delivered due job.
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
	// Malformed: the subject names no reminder; Token is empty.
	Malformed bool

	msg     jetstream.Msg
	timeout time.Duration
}

// Ack acknowledges and waits for the broker's confirmation.
func (d Delivery) Ack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := d.msg.DoubleAck(ctx); err != nil {
		return fmt.Errorf("acknowledge %s: %w", d.Token, classify(err))
	}
	return nil
}

// Nak asks for redelivery after a delay, at least 100 ms: without one the broker
// redelivers at once, thousands of times a second.
func (d Delivery) Nak(delay time.Duration) error {
	if err := d.msg.NakWithDelay(max(delay, 100*time.Millisecond)); err != nil {
		return fmt.Errorf("refuse %s: %w", d.Token, classify(err))
	}
	return nil
}

// Drop ends the delivery for good: the job cannot be read by anyone.
func (d Delivery) Drop() error {
	if err := d.msg.TermWithReason("malformed due job"); err != nil {
		return fmt.Errorf("drop malformed due job: %w", classify(err))
	}
	return nil
}

// Working extends the ack wait while the job is in hand.
func (d Delivery) Working() error { return classify(d.msg.InProgress()) }

// Consume calls fn with each due job of a channel until ctx ends or the consumer
// fails. At most limit jobs are buffered ahead, so that none waits for its turn
// longer than the ack wait. When ctx ends, fn still gets what was buffered, so
// that it can be given back at once.
func (q *Queue) Consume(ctx context.Context, namespace, channel string, limit int, fn func(Delivery)) error {
	stream, err := q.handle(ctx, jobsStream)
	if err != nil {
		return fmt.Errorf("consume channel %s/%s: %w", namespace, channel, err)
	}
	consumer, err := stream.Consumer(ctx, ConsumerName(namespace, channel))
	if err != nil {
		return fmt.Errorf("consume channel %s/%s: %w", namespace, channel, classify(err))
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(limit), jetstream.PullHeartbeat(2*time.Second), jetstream.PullExpiry(5*time.Second))
	if err != nil {
		return fmt.Errorf("consume channel %s/%s: %w", namespace, channel, classify(err))
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Drain)()
	for {
		msg, err := messages.Next()
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("consume channel %s/%s: %w", namespace, channel, classify(err))
		}
		fn(DeliveryOf(msg, q.timeout))
	}
}

// DeliveryOf is the delivery that a message on a due subject makes; timeout bounds its
// acknowledgement. It is exported for brokers that live in memory.
func DeliveryOf(msg jetstream.Msg, timeout time.Duration) Delivery {
	d := Delivery{Body: msg.Data(), msg: msg, timeout: timeout, Count: 1}
	if meta, err := msg.Metadata(); err == nil {
		d.Count, d.StoreTime, d.Sequence = meta.NumDelivered, meta.Timestamp, meta.Sequence.Stream
	}
	token, err := TokenOf(msg.Subject())
	d.Token, d.Malformed = token, err != nil
	return d
}

// tokenOf turns <namespace>.<channel>.<schedule>.<slot>.<hash> into the ledger's
// token, which has no channel.
func tokenOf(tail string) (string, error) {
	parts := strings.Split(tail, ".")
	if len(parts) != 5 {
		return "", fmt.Errorf("subject of a due job: %w", reminder.ErrMalformed)
	}
	return strings.Join([]string{parts[0], parts[2], parts[3], parts[4]}, "."), nil
}
