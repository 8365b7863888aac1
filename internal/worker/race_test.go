package worker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// Row 11: workers race on one key; one sends.
func TestRow11RacingWorkersSendOnce(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{2, 16} {
		for name, change := range map[string]func(*bench){"deduping": nil, "Park": park} {
			t.Run(fmt.Sprintf("%d workers, %s", workers, name), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, change)
				r, _ := b.plan("a", nil)
				for range workers {
					b.start(nil)
					b.again(r)
				}
				b.settled(r.Key, reminder.Sent, "")
				b.until(r.Key, "suppressed for each loser", func(r reminder.Record) bool { return r.Suppressed == workers-1 })
				b.empty()
				b.sends("a", 1)
				if got := b.now(r.Key); got.Attempts != 1 || got.Suppressed != workers-1 || got.State != reminder.Sent {
					t.Errorf("I2, I5: got %+v", got)
				}
			})
		}
	}
}

// Row 10: a worker is stopped inside the call, another parks the reminder, and
// then the first one hears that it was accepted.
func TestRow10ALateAcceptanceUpgradesAParkedReminder(t *testing.T) {
	t.Parallel()
	b := newBench(t, park)
	g := newGate(accept)
	b.receiver.answers("a", g.stubborn)
	b.start(nil)
	r := b.due("a", nil)
	g.wait(t, 1)
	b.start(nil)
	b.again(r)
	dead := b.settled(r.Key, reminder.Dead, reminder.ReconciliationRequired)
	b.letter(dead, true)
	close(g.open)
	got := b.until(r.Key, "upgraded", func(r reminder.Record) bool { return r.State == reminder.Sent })
	if got.Previous.State != reminder.Dead || got.Unresolved || got.Attempts != 1 {
		t.Errorf("I3: got %+v", got)
	}
	b.letter(dead, false)
	b.empty()
	b.sends("a", 1)
}

// letter waits until the dead letter of a record stands, or no longer does.
func (b *bench) letter(r reminder.Record, want bool) {
	b.Helper()
	b.eventually(fmt.Sprintf("the dead letter of %s stands: %t", r.Key, want), func() bool {
		stands, err := b.DeadLetters.Standing(b.Context(), reminder.DeadLetterOf(r))
		return err == nil && stands == want
	})
}

func TestALateFailureOfALostClaimChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, park)
	g := newGate(refuse)
	b.receiver.answers("a", g.stubborn)
	b.start(nil)
	r := b.due("a", nil)
	g.wait(t, 1)
	b.start(nil)
	b.again(r)
	dead := b.settled(r.Key, reminder.Dead, reminder.ReconciliationRequired)
	close(g.open)
	b.heard("Dropped the outcome of a lost claim", 1)
	b.empty()
	b.letter(dead, true)
	if got := b.now(r.Key); got.State != reminder.Dead || got.Reason != reminder.ReconciliationRequired {
		t.Errorf("I6: got %s(%s)", got.State, got.Reason)
	}
}

// Row 12: a worker that is told to stop finishes what it has begun, and gives the
// rest back at once.
func TestRow12ADrainRecordsAllAndGivesTheRestBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		park(b)
		b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 20*time.Second, 2*time.Minute, 3*time.Minute
		for i := range 24 {
			b.people = append(b.people, reminder.Recipient{ID: fmt.Sprint(i), Active: true, Attributes: map[string]string{"name": "Ada"}})
		}
	})
	g := newGate(accept)
	var all []reminder.Record
	for i := range 24 {
		b.receiver.answers(fmt.Sprint(i), g.stubborn, accept)
		all = append(all, b.due(fmt.Sprint(i), nil))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.worker(nil).Run(ctx)
	}()
	g.wait(t, b.channel.Concurrency)
	cancel()
	select {
	case <-ended:
		t.Fatal("stopped with reminders in flight")
	case <-time.After(50 * time.Millisecond):
	}
	close(g.open)
	<-ended
	sent := 0
	for _, r := range all {
		switch got := b.now(r.Key); got.State {
		case reminder.Sent:
			sent++
		case reminder.Scheduled:
		default:
			t.Errorf("left behind as %s(%s)", got.State, got.Reason)
		}
	}
	if sent < b.channel.Concurrency {
		t.Errorf("%d sent, want the %d in flight at least", sent, b.channel.Concurrency)
	}
	if n := len(b.letters()); n != 0 {
		t.Errorf("%d parked", n)
	}
	b.start(nil) // within the ack wait, it gets only what was given back
	for _, r := range all {
		b.settled(r.Key, reminder.Sent, "")
		b.sends(r.Key.Recipient, 1)
	}
}

func TestADrainEndsWithItsGrace(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		park(b)
		b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 20*time.Second, 2*time.Minute, 3*time.Minute
	})
	arrived := make(chan struct{})
	b.receiver.answers("a", func(ctx context.Context, m reminder.Message) reminder.Result {
		close(arrived)
		return silent(ctx, m)
	})
	stop := b.start(func(o *worker.Options) { o.Grace = 100 * time.Millisecond })
	r := b.due("a", nil)
	<-arrived
	stop()
	b.settled(r.Key, reminder.Dead, reminder.ReconciliationRequired)
}

// Row 10: a worker is stopped after its claim, and finds on waking that lease or
// deadline have passed: it sends nothing and gives the claim back.
func TestRow10AWorkerThatWakesTooLateSendsNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*bench)
		last   reminder.State // what it writes before it falls asleep
	}{
		"deduping": {nil, reminder.Claimed}, "Park, before the mark": {park, reminder.Claimed}, "Park, behind the mark": {park, reminder.Sending},
	} {
		for after, slept := range map[string]time.Duration{"the lease": 2 * lease, "the deadline": 2 * time.Hour} {
			t.Run(name+", after "+after, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, tt.change)
				var clock atomic.Int64 // how far it has gone on meanwhile
				b.start(func(o *worker.Options) {
					o.Now = func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }
					o.Ledger = ledger{Ledger: o.Ledger, forget: func(r reminder.Record) error {
						if r.State == reminder.Sending && tt.last == reminder.Claimed && after == "the deadline" {
							t.Error("marked as Sending behind the deadline: killed now, it would be parked though nobody has sent it")
						}
						if r.State == tt.last {
							clock.CompareAndSwap(0, int64(slept))
						}
						return nil
					}}
				})
				r := b.due("a", nil)
				if after == "the deadline" {
					got := b.settled(r.Key, reminder.Dead, reminder.DeadlineReached)
					b.sends("a", 0)
					if got.Attempts != 0 {
						t.Errorf("counted %d attempts", got.Attempts)
					}
					return
				}
				b.until(r.Key, "given back", func(r reminder.Record) bool { return r.State == reminder.Scheduled && r.Previous != nil })
				got := b.settled(r.Key, reminder.Sent, "")
				b.sends("a", 1)
				if got.Attempts != 1 || got.Takeovers != 0 {
					t.Errorf("got %d attempts, %d takeovers", got.Attempts, got.Takeovers)
				}
			})
		}
	}
}
