package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// ledger is a real one whose writes go wrong as told: before they reach the store,
// or only their answer.
type ledger struct {
	worker.Ledger
	refuse func(r reminder.Record) error // instead of writing
	forget func(r reminder.Record) error // after writing
	read   func(token string)
}

func (l ledger) Update(ctx context.Context, r reminder.Record, last uint64) (uint64, error) {
	if l.refuse != nil {
		if err := l.refuse(r); err != nil {
			return 0, err
		}
	}
	revision, err := l.Ledger.Update(ctx, r, last)
	if l.forget != nil && err == nil {
		if err := l.forget(r); err != nil {
			return 0, err
		}
	}
	return revision, err
}

func (l ledger) Get(ctx context.Context, token string) (reminder.Record, uint64, error) {
	if l.read != nil {
		l.read(token)
	}
	return l.Ledger.Get(ctx, token)
}

// Rows 28 and 29: fail closed.
func TestRow28NothingIsSentWhileTheLedgerCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{reminder.ErrUnavailable, reminder.ErrFull, reminder.ErrLost} {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			var away atomic.Bool
			away.Store(true)
			b.start(func(o *worker.Options) {
				o.Ledger = ledger{Ledger: o.Ledger, refuse: func(reminder.Record) error {
					if away.Load() {
						return fmt.Errorf("update: %w", cause)
					}
					return nil
				}}
			})
			r := b.due("a", nil)
			b.heard("Handling a due job failed", 2)
			b.sends("a", 0)
			if got := b.now(r.Key); got.State != reminder.Scheduled || len(b.letters()) != 0 {
				t.Errorf("became %s, %d dead letters", got.State, len(b.letters()))
			}
			away.Store(false)
			b.settled(r.Key, reminder.Sent, "")
			b.sends("a", 1)
		})
	}
}

// What the channel has said is recorded although the first writes fail.
func TestAnOutcomeIsRecordedAlthoughTheLedgerWasAway(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{reminder.ErrUnavailable, reminder.ErrFull, reminder.ErrLost, context.DeadlineExceeded} {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, park)
			var fails atomic.Int64
			b.start(func(o *worker.Options) {
				o.Ledger = ledger{Ledger: o.Ledger, refuse: func(r reminder.Record) error {
					if r.State == reminder.Sent && fails.Add(1) <= 3 {
						return fmt.Errorf("update: %w", cause)
					}
					return nil
				}}
			})
			r := b.due("a", nil)
			b.settled(r.Key, reminder.Sent, "")
			b.sends("a", 1)
		})
	}
}

// Row 37: the write has happened, its answer was lost.
func TestRow37ALostAnswerOfAWriteIsHarmless(t *testing.T) {
	t.Parallel()
	for _, state := range []reminder.State{reminder.Claimed, reminder.Sending, reminder.Retrying, reminder.Sent} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, park)
			b.receiver.answers("a", busy, accept)
			var once atomic.Bool
			b.start(func(o *worker.Options) {
				o.Ledger = ledger{Ledger: o.Ledger, forget: func(r reminder.Record) error {
					if r.State == state && once.CompareAndSwap(false, true) {
						return fmt.Errorf("update: %w", reminder.ErrUnavailable)
					}
					return nil
				}}
			})
			r := b.due("a", nil)
			got := b.settled(r.Key, reminder.Sent, "")
			b.empty()
			b.sends("a", 2)
			if got.Attempts != 2 || got.Retries != 1 {
				t.Errorf("got %d attempts, %d retries", got.Attempts, got.Retries)
			}
		})
	}
}

// Row 13: a bug of ours meets one reminder; the others go on, and so does it.
func TestRow13APanicDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r, other := b.due("a", nil), b.due("b", nil)
	var panics atomic.Int64
	b.start(func(o *worker.Options) {
		o.Ledger = ledger{Ledger: o.Ledger, read: func(token string) {
			if token == r.Key.Token() && panics.Add(1) == 1 {
				panic(errors.New("a bug"))
			}
		}}
	})
	b.settled(other.Key, reminder.Sent, "")
	b.settled(r.Key, reminder.Sent, "")
	b.heard("Handling a due job panicked", 1)
	b.sends("a", 1)
}

// letters fails until it is healed.
type letters struct {
	worker.DeadLetters
	away *atomic.Bool
}

func (l letters) Publish(ctx context.Context, letter reminder.DeadLetter) error {
	if l.away.Load() {
		return fmt.Errorf("publish: %w", reminder.ErrFull)
	}
	return l.DeadLetters.Publish(ctx, letter)
}

// Row 7, and a dead letter stream that is full: the record waits for its letter,
// and trying again counts as one redelivery.
func TestRow7ADeadLetterThatCannotBeStoredIsNotForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, park)
	b.receiver.answers("a", refuse)
	var away atomic.Bool
	away.Store(true)
	b.start(func(o *worker.Options) { o.DeadLetters = letters{o.DeadLetters, &away} })
	r := b.due("a", nil)
	b.settled(r.Key, reminder.Dead, reminder.InvalidRecipient)
	b.heard("Handling a due job failed", 3)
	if got := b.now(r.Key); got.Suppressed != 0 {
		t.Errorf("I5: counted %d redeliveries that have not come to an end", got.Suppressed)
	}
	away.Store(false)
	b.empty()
	if diff := cmp.Diff(map[reminder.Reason]int{reminder.InvalidRecipient: 1}, b.letters()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	if got := b.now(r.Key); got.Suppressed != 1 || got.State != reminder.Dead {
		t.Errorf("got %s with %d suppressed", got.State, got.Suppressed)
	}
	b.sends("a", 1)
}

func TestAChannelIsOpenedWhenItsSecretComes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := b.due("a", nil)
	var tries atomic.Int64
	b.start(func(o *worker.Options) {
		open := o.NewSender
		o.NewSender = func(c reminder.Channel) (worker.Sender, error) {
			if tries.Add(1) < 3 {
				return nil, errors.New("the Secret has no key")
			}
			return open(c)
		}
	})
	b.settled(r.Key, reminder.Sent, "")
}

func TestMoreConcurrencyTakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.channel.Concurrency, b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 1, 20*time.Second, 50*time.Second, time.Minute
	})
	g := newGate(accept)
	var all []reminder.Record
	for _, id := range []string{"a", "b", "c"} {
		b.receiver.answers(id, g.stubborn)
		all = append(all, b.due(id, nil))
	}
	b.start(nil)
	g.wait(t, 1)
	entry, revision, err := b.Registry.Channel(t.Context(), "shop", "mail")
	b.must(err)
	entry.Concurrency, entry.Generation = 3, 2
	b.must(b.Registry.PutChannel(t.Context(), entry, revision))
	g.wait(t, 2)
	close(g.open)
	for _, r := range all {
		b.settled(r.Key, reminder.Sent, "")
	}
}
