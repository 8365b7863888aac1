package memory

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Msg is one delivery of a due job.
type Msg struct {
	broker *Broker
	job    job
	wait   time.Duration
}

var _ jetstream.Msg = (*Msg)(nil)

// Metadata says which message it is, and how often it was delivered.
func (m *Msg) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{
		Sequence: jetstream.SequencePair{Stream: m.job.sequence}, NumDelivered: m.job.count, Timestamp: m.job.stored,
	}, nil
}

// Data is the body.
func (m *Msg) Data() []byte { return m.job.body }

// Headers are empty: nothing reads them.
func (m *Msg) Headers() nats.Header { return nats.Header{} }

// Subject is the due subject.
func (m *Msg) Subject() string { return duePrefix + m.job.tail }

// Reply is empty.
func (m *Msg) Reply() string { return "" }

// Ack removes the message, also by a delivery that is not the last one.
func (m *Msg) Ack() error {
	_, unlock := m.broker.lock()
	defer unlock()
	m.broker.jobs.remove(m.job.sequence)
	m.broker.tell()
	return nil
}

// DoubleAck is Ack.
func (m *Msg) DoubleAck(context.Context) error { return m.Ack() }

// Nak asks for redelivery at once.
func (m *Msg) Nak() error { return m.NakWithDelay(0) }

// NakWithDelay asks for redelivery after a delay.
func (m *Msg) NakWithDelay(delay time.Duration) error { return m.put(delay) }

// InProgress begins the ack wait anew.
func (m *Msg) InProgress() error { return m.put(m.wait) }

func (m *Msg) put(delay time.Duration) error {
	now, unlock := m.broker.lock()
	defer unlock()
	if d := m.broker.jobs.find(m.job.sequence); d != nil && d.out {
		d.until = now.Add(delay)
		m.broker.tell()
	}
	return nil
}

// Term is Ack.
func (m *Msg) Term() error { return m.Ack() }

// TermWithReason is Ack.
func (m *Msg) TermWithReason(string) error { return m.Ack() }
