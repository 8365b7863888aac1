// Package memory is a broker in the memory of one process, for simulations: it
// answers as internal/broker does, by the conformance suite of brokertest, and has
// no connection, no disk and no goroutine. It does not fail: faults are put between it and
// its users by whoever simulates them. It may not be linked into the image.
package memory

import (
	"sync"
	"time"
)

// Broker is one broker. All methods and services are safe for concurrent use.
type Broker struct {
	Ledger      Ledger
	Queue       Queue
	Registry    Registry
	Audience    Audience
	DeadLetters DeadLetters
	Tally       Tally

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	jobs    jobs
}

// New makes an empty broker.
func New() *Broker {
	b := &Broker{changed: make(chan struct{}), jobs: newJobs()}
	b.Ledger = Ledger{b, newBucket()}
	b.Queue = Queue{b}
	b.Registry = Registry{b, newBucket()}
	b.Audience = Audience{b, newBucket()}
	b.DeadLetters = DeadLetters{b, newBucket()}
	b.Tally = Tally{b, newBucket()}
	return b
}

// lock begins a call; the function that it answers ends it.
func (b *Broker) lock() (now time.Time, unlock func()) {
	b.mu.Lock()
	now = time.Now()
	b.jobs.fire(now)
	return now, b.mu.Unlock
}

// tell wakes whoever waits for a change.
func (b *Broker) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Changed is closed at the next change of anything.
func (b *Broker) Changed() <-chan struct{} {
	_, unlock := b.lock()
	defer unlock()
	return b.changed
}
