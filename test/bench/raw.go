package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// Sizes of the raw loop's messages: about those of the product.
const (
	jobBytes    = 350
	recordBytes = 750
)

// rawLead is from the end of publishing to the due time.
const rawLead = 5 * time.Second

// Streams of the product that the raw loop uses in the same shape.
const (
	jobs   = "REMINDERS-"
	ledger = "KV_reminders-ledger-"
)

// shapeOf is the first of the product's streams whose name begins so.
func shapeOf(prefix string) jetstream.StreamConfig {
	for _, shape := range broker.Shapes(broker.Options{}) {
		if strings.HasPrefix(shape.Name, prefix) {
			return shape
		}
	}
	panic("the product has no stream " + prefix) // a mistake in this file
}

// rawLoop does with plain nats.go what any delivery on JetStream must do: message
// schedules, pull, create, update, confirmed acknowledgement.
type rawLoop struct {
	o    options
	url  string
	js   jetstream.JetStream
	due  time.Time
	done chan struct{} // closed when all jobs are through

	mu   sync.Mutex
	late []time.Duration
	err  error
}

// measureRaw runs the raw loop on a fresh server.
func measureRaw(ctx context.Context, p *printer, dir string, o options) (lateness, error) {
	p.say("Raw NATS loop: starting a fresh server with the same settings")
	c, err := cluster.Start(ctx, cluster.Options{Dir: filepath.Join(dir, "raw"), NoKube: true})
	if err != nil {
		return lateness{}, err
	}
	defer c.Stop()
	r := &rawLoop{o: o, url: c.NATS.URL, done: make(chan struct{})}
	conn, err := nats.Connect(r.url)
	if err != nil {
		return lateness{}, fmt.Errorf("connect to NATS: %w", err)
	}
	defer conn.Close()
	if r.js, err = jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(256)); err != nil {
		return lateness{}, fmt.Errorf("open JetStream: %w", err)
	}
	for _, prefix := range []string{jobs, ledger} {
		if _, err := r.js.CreateStream(ctx, shapeOf(prefix)); err != nil {
			return lateness{}, fmt.Errorf("create stream %s: %w", prefix, err)
		}
	}
	if err := r.publish(ctx, p); err != nil {
		return lateness{}, err
	}
	return r.run(ctx, p)
}

func (r *rawLoop) subject(stage int, channel string) string {
	return strings.TrimSuffix(shapeOf(jobs).Subjects[stage], ">") + "raw." + channel + "."
}

// publish stores a message schedule for each job.
func (r *rawLoop) publish(ctx context.Context, p *printer) error {
	n := r.o.reminders()
	// At a rate of thousands a second it is over long before that.
	r.due = time.Now().Add(rawLead + time.Duration(n)*500*time.Microsecond).UTC().Truncate(time.Second)
	for i := range n {
		channel := channelName(i % r.o.channels)
		msg := nats.NewMsg(r.subject(0, channel) + strconv.Itoa(i))
		msg.Header.Set(jetstream.ScheduleHeader, "@at "+r.due.Format(time.RFC3339Nano))
		msg.Header.Set(jetstream.ScheduleTargetHeader, r.subject(1, channel)+strconv.Itoa(i))
		msg.Data = bytes.Repeat([]byte("j"), jobBytes)
		if _, err := r.js.PublishMsgAsync(msg); err != nil {
			return fmt.Errorf("publish schedule %d: %w", i, err)
		}
	}
	select {
	case <-r.js.PublishAsyncComplete():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.say("  %d message schedules published, %s to go", n, time.Until(r.due).Round(100*time.Millisecond))
	return nil
}

// run consumes until all are through.
func (r *rawLoop) run(ctx context.Context, p *printer) (lateness, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("raw loop: not within %s", limit))
	defer cancel()
	var consumers sync.WaitGroup
	for i := range r.o.channels {
		consumers.Go(func() {
			if err := r.consume(ctx, channelName(i)); err != nil {
				r.fail(err)
				cancel()
			}
		})
	}
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	cancel()
	consumers.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || cause != nil {
		return lateness{}, errors.Join(r.err, cause)
	}
	p.say("  %d jobs through", len(r.late))
	return newLateness(r.late), nil
}

// consume is one worker: a connection, a durable consumer, so many at a time.
func (r *rawLoop) consume(ctx context.Context, channel string) error {
	conn, err := nats.Connect(r.url)
	if err != nil {
		return fmt.Errorf("connect to NATS: %w", err)
	}
	defer conn.Close()
	kv, messages, err := r.open(ctx, conn, channel)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, messages.Stop)()
	places := make(chan struct{}, r.o.concurrency)
	var handlers sync.WaitGroup
	defer handlers.Wait()
	for {
		msg, err := messages.Next()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("consume %s: %w", channel, err)
		}
		places <- struct{}{}
		handlers.Go(func() {
			defer func() { <-places }()
			if err := r.handle(ctx, kv, msg); err != nil && ctx.Err() == nil {
				r.fail(err)
			}
		})
	}
}

// open opens what a worker needs.
func (r *rawLoop) open(ctx context.Context, conn *nats.Conn, channel string) (jetstream.KeyValue, jetstream.MessagesContext, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, nil, fmt.Errorf("open JetStream: %w", err)
	}
	kv, err := js.KeyValue(ctx, strings.TrimPrefix(shapeOf(ledger).Name, "KV_"))
	if err != nil {
		return nil, nil, fmt.Errorf("open the bucket: %w", err)
	}
	consumer, err := js.CreateConsumer(ctx, shapeOf(jobs).Name, jetstream.ConsumerConfig{
		Durable: channel, FilterSubject: r.subject(1, channel) + ">", AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second, MaxAckPending: 5000,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("create consumer %s: %w", channel, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(r.o.concurrency))
	if err != nil {
		return nil, nil, fmt.Errorf("consume %s: %w", channel, err)
	}
	return kv, messages, nil
}

// handle claims, records and acknowledges one job. As in the product, the time
// that counts is that of the acceptance, between claim and outcome.
func (r *rawLoop) handle(ctx context.Context, kv jetstream.KeyValue, msg jetstream.Msg) error {
	key := msg.Subject()[strings.LastIndexByte(msg.Subject(), '.')+1:]
	revision, err := kv.Create(ctx, key, bytes.Repeat([]byte("c"), recordBytes))
	if err != nil {
		return fmt.Errorf("claim %s: %w", key, err)
	}
	late := time.Since(r.due)
	if _, err := kv.Update(ctx, key, bytes.Repeat([]byte("o"), recordBytes), revision); err != nil {
		return fmt.Errorf("record %s: %w", key, err)
	}
	if err := msg.DoubleAck(ctx); err != nil {
		return fmt.Errorf("acknowledge %s: %w", key, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.late = append(r.late, late); len(r.late) == r.o.reminders() {
		close(r.done)
	}
	return nil
}

func (r *rawLoop) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}
