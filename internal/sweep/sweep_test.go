package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/sweep"
)

const (
	retention = 24 * time.Hour
	patience  = 30 * time.Second
)

// bench is a broker with a sweep on it.
type bench struct {
	*testing.T
	url string
	*broker.Broker
	seq int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	url := brokertest.URL(t)
	return &bench{T: t, url: url, Broker: brokertest.Connect(t, url)}
}

// store puts a record into the ledger that was written an hour ago; its release
// was an hour ago too, its deadline is in an hour.
func (b *bench) store(change func(*reminder.Record)) reminder.Record {
	b.Helper()
	ago := time.Now().UTC().Add(-time.Hour)
	b.seq++
	r := delivery.Plan(delivery.Planned{
		Key:   reminder.Key{Namespace: "shop", Schedule: "s", Slot: reminder.SlotOf(ago), Recipient: fmt.Sprint(b.seq), Channel: "mail"},
		Epoch: 1, ReleaseTime: ago, DeadlineTime: ago.Add(2 * time.Hour), LateTime: ago.Add(time.Minute),
	}, retention, ago)
	if change != nil {
		change(&r)
	}
	if _, err := b.Ledger.Create(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	return r
}

// late moves a record's deadline to half an hour ago.
func late(r *reminder.Record) { r.DeadlineTime = r.ReleaseTime.Add(30 * time.Minute) }

func lapsed(state reminder.State, unmarked bool) func(*reminder.Record) {
	return func(r *reminder.Record) {
		r.State, r.Owner, r.LeaseUntilTime, r.Unmarked = state, "w1", r.ReleaseTime.Add(time.Minute), unmarked
	}
}

// start runs a sweep until the test or stop ends it; ledger, queue and letters may
// be wrapped by change.
func (b *bench) start(change func(*sweep.Sweep)) (stop func()) {
	b.Helper()
	s := &sweep.Sweep{
		Ledger: b.Ledger, Queue: b.Queue, DeadLetters: b.DeadLetters, Retention: retention,
		Grace: 100 * time.Millisecond, Every: 10 * time.Millisecond, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := s.Run(ctx); err != nil {
			b.Errorf("run: %v", err)
		}
	})
	stop = func() {
		cancel()
		run.Wait()
	}
	b.Cleanup(stop)
	return stop
}

// until waits for a revision of the reminder that is as wanted.
func (b *bench) until(key reminder.Key, what string, wanted func(reminder.Record) bool) reminder.Record {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	var found reminder.Record
	done := errors.New("found")
	err := b.Ledger.Follow(ctx, 1, func(r broker.Revision) error {
		if r.Record.Key != key || !wanted(r.Record) {
			return nil
		}
		found = r.Record
		return done
	}, func() error { return nil })
	if !errors.Is(err, done) {
		b.Fatalf("%s: never %s: %v", key, what, err)
	}
	return found
}

func (b *bench) now(key reminder.Key) reminder.Record {
	b.Helper()
	r, _, err := b.Ledger.Get(b.Context(), key.Token())
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (b *bench) messages(stream string) int {
	b.Helper()
	return len(brokertest.Messages(b.T, b.url, stream))
}

// looks counts how often a sweep has looked for a reminder's message.
type looks struct {
	sweep.Queue
	at chan reminder.Key
}

func watch(s *sweep.Sweep) looks {
	l := looks{s.Queue, make(chan reminder.Key, 10_000)}
	s.Queue = l
	return l
}

func (l looks) Standing(ctx context.Context, key reminder.Key) (bool, error) {
	defer func() { l.at <- key }()
	return l.Queue.Standing(ctx, key)
}

func (l looks) wait(t *testing.T, key reminder.Key, times int) {
	t.Helper()
	limit := time.After(patience)
	for times > 0 {
		select {
		case at := <-l.at:
			if at == key {
				times--
			}
		case <-limit:
			t.Fatalf("%s was not looked at", key)
		}
	}
}

func republished(r reminder.Record) bool { return r.Republished > 0 }
func terminal(r reminder.Record) bool    { return r.State.Terminal() }

func TestAMissingMessageIsRestoredAndCountedOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*reminder.Record){
		"of a planned reminder": nil,
		"of a retry": func(r *reminder.Record) {
			r.State, r.NextAttemptTime = reminder.Retrying, r.ReleaseTime.Add(time.Minute)
		},
		"of a lapsed claim":                 lapsed(reminder.Claimed, true),
		"of a submission of unknown result": lapsed(reminder.Sending, false),
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			r := b.store(change)
			var l looks
			b.start(func(s *sweep.Sweep) { l = watch(s) })
			got := b.until(r.Key, "published again", republished)
			if got.State != r.State || got.Owner != r.Owner || got.Attempts != r.Attempts {
				t.Errorf("changed more than the count: %+v", got)
			}
			l.wait(t, r.Key, 3)
			if n := b.now(r.Key).Republished; n != 1 || b.messages(brokertest.JobsStream) != 1 {
				t.Errorf("counted %d times, %d messages; want one of each", n, b.messages(brokertest.JobsStream))
			}
		})
	}
}

func TestTwoSweepsCountOneRepair(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var l looks
	r := b.store(nil)
	b.start(func(s *sweep.Sweep) { l = watch(s) })
	b.start(nil)
	b.until(r.Key, "published again", republished)
	l.wait(t, r.Key, 3)
	if n := b.now(r.Key).Republished; n != 1 || b.messages(brokertest.JobsStream) != 1 {
		t.Errorf("counted %d times, %d messages; want one of each", n, b.messages(brokertest.JobsStream))
	}
}

func TestAllMessagesOfAPurgedStreamComeBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all []reminder.Record
	for range 50 {
		r := b.store(nil)
		if err := b.Queue.Restore(t.Context(), r, 1); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	brokertest.Purge(t, b.url, brokertest.JobsStream)
	b.start(nil)
	for _, r := range all {
		b.until(r.Key, "published again", republished)
	}
}

func TestAReminderWhoseMessageStandsIsLeftAlone(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*bench, reminder.Record) error{
		"a due job": func(b *bench, r reminder.Record) error { return b.Queue.Restore(b.Context(), r, 1) },
		"a message schedule": func(b *bench, r reminder.Record) error {
			return b.Queue.Release(b.Context(), r, 1, time.Now().Add(time.Hour), time.Now())
		},
	}
	for name, publish := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			r := b.store(nil)
			if err := publish(b, r); err != nil {
				t.Fatal(err)
			}
			var l looks
			b.start(func(s *sweep.Sweep) { l = watch(s) })
			l.wait(t, r.Key, 3)
			if got := b.now(r.Key); got.Republished != 0 || got.State != reminder.Scheduled || b.messages(brokertest.JobsStream) != 1 {
				t.Errorf("got %s, published again %d times", got.State, got.Republished)
			}
		})
	}
}

// What is not for the sweep to touch stays as it is while it repairs another one.
func TestWhoseTimeHasNotComeIsLeftAlone(t *testing.T) {
	t.Parallel()
	soon := time.Now().UTC().Add(time.Hour)
	tests := map[string]func(*reminder.Record){
		"not due yet":                         func(r *reminder.Record) { r.ReleaseTime, r.DeadlineTime = soon, soon.Add(time.Hour) },
		"a retry that is not due":             func(r *reminder.Record) { r.State, r.NextAttemptTime = reminder.Retrying, soon },
		"a live claim":                        func(r *reminder.Record) { r.State, r.LeaseUntilTime, r.Owner = reminder.Claimed, soon, "w1" },
		"a live claim past the deadline":      func(r *reminder.Record) { late(r); r.State, r.LeaseUntilTime, r.Owner = reminder.Sending, soon, "w1" },
		"planned just now for a time gone by": func(r *reminder.Record) { r.UpdateTime = soon }, // its message is on the way
		"sent":                                func(r *reminder.Record) { late(r); r.State, r.FinishTime = reminder.Sent, r.ReleaseTime },
		"cancelled": func(r *reminder.Record) {
			late(r)
			r.State, r.FinishTime, r.Reason = reminder.Cancelled, r.ReleaseTime, reminder.Suspended
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			r, canary := b.store(change), b.store(nil)
			var l looks
			b.start(func(s *sweep.Sweep) { l = watch(s) })
			l.wait(t, canary.Key, 3)
			got := b.now(r.Key)
			if got.State != r.State || got.Republished != 0 || !got.UpdateTime.Equal(r.UpdateTime) {
				t.Errorf("was touched: %+v", got)
			}
		})
	}
}

// A due job whose channel is gone has no consumer that would ever take it.
func TestTheJobOfAnExpiredReminderIsTakenOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.store(late)
	if err := b.Queue.Restore(b.Context(), r, 1); err != nil {
		t.Fatal(err)
	}
	b.start(nil)
	b.until(r.Key, "ended", terminal)
	for deadline := time.Now().Add(patience); ; {
		standing, err := b.Queue.Standing(b.Context(), r.Key)
		if err == nil && !standing {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the job still stands: %v", err)
		}
	}
}

func TestAReminderPastItsDeadlineEndsWithADeadLetter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*reminder.Record)
		want   reminder.Reason
	}{
		"planned": {nil, reminder.DeadlineReached},
		"waiting for a retry": {func(r *reminder.Record) {
			r.State, r.NextAttemptTime = reminder.Retrying, r.ReleaseTime.Add(time.Minute)
		}, reminder.DeadlineReached},
		"a lapsed claim with marks": {lapsed(reminder.Claimed, false), reminder.DeadlineReached},
		"a lapsed claim without":    {lapsed(reminder.Claimed, true), reminder.ReconciliationRequired},
		"a lapsed submission":       {lapsed(reminder.Sending, false), reminder.ReconciliationRequired},
		"an outcome that stayed open": {func(r *reminder.Record) {
			r.State, r.NextAttemptTime, r.Unresolved = reminder.Retrying, r.ReleaseTime.Add(time.Minute), true
		}, reminder.ReconciliationRequired},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			r := b.store(func(r *reminder.Record) {
				late(r)
				if tt.change != nil {
					tt.change(r)
				}
			})
			b.start(nil)
			got := b.until(r.Key, "ended", terminal)
			if got.State != reminder.Dead || got.Reason != tt.want || got.Republished != 0 {
				t.Errorf("got %s(%s), published again %d times; want Dead(%s)", got.State, got.Reason, got.Republished, tt.want)
			}
			b.letter(got, true)
		})
	}
}

// letter waits until the dead letter of a record stands, or no longer does.
func (b *bench) letter(r reminder.Record, want bool) {
	b.Helper()
	look, limit := time.NewTicker(10*time.Millisecond), time.After(patience)
	defer look.Stop()
	for {
		stands, err := b.DeadLetters.Standing(b.Context(), reminder.DeadLetterOf(r))
		if err == nil && stands == want {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			b.Fatalf("the dead letter of %s stands: %t, %v; want %t", r.Key, stands, err, want)
		}
	}
}

// together lets two sweeps meet at the same update.
type together struct {
	sweep.Ledger
	arrived *atomic.Int64
	both    chan struct{}
	done    chan<- error
}

func (l together) Update(ctx context.Context, r reminder.Record, last uint64) (uint64, error) {
	if l.arrived.Add(1) == 2 {
		close(l.both)
	}
	select {
	case <-l.both:
	case <-ctx.Done():
	}
	revision, err := l.Ledger.Update(ctx, r, last)
	l.done <- err
	return revision, err
}

func TestTwoSweepsLeaveOneDeadLetter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.store(late)
	both, done, arrived := make(chan struct{}), make(chan error, 10), &atomic.Int64{}
	var stops []func()
	for range 2 {
		stops = append(stops, b.start(func(s *sweep.Sweep) {
			s.Ledger, s.Grace = together{s.Ledger, arrived, both, done}, time.Second // both may finish what they began
		}))
	}
	wins := 0
	for range 2 {
		select {
		case err := <-done:
			if err == nil {
				wins++
			}
		case <-time.After(patience):
			t.Fatal("the two sweeps did not meet")
		}
	}
	got := b.until(r.Key, "ended", terminal)
	b.letter(got, true)
	for _, stop := range stops {
		stop()
	}
	if n := b.messages(brokertest.DeadStream); n != 1 || wins != 1 {
		t.Errorf("%d dead letters, %d writers; want one of each", n, wins)
	}
}

// A crash between record and dead letter, on either side of it, is repaired.
func TestDeadLettersFollowTheLedger(t *testing.T) {
	t.Parallel()
	ended := func(r *reminder.Record) {
		late(r)
		r.State, r.Reason, r.FinishTime = reminder.Dead, reminder.EndpointGone, r.ReleaseTime.Add(time.Minute)
		r.ExpireTime = r.FinishTime.Add(10 * retention)
	}
	wasDead := &reminder.Footprint{State: reminder.Dead}
	t.Run("a dead reminder gets the letter that it lacks", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		r := b.store(ended)
		b.start(nil)
		b.letter(r, true)
	})
	t.Run("one that was sent after all loses it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		r := b.store(ended)
		sent := b.store(func(r *reminder.Record) {
			r.State, r.FinishTime, r.Previous = reminder.Sent, r.ReleaseTime, wasDead
		})
		stale := sent
		stale.Reason = reminder.ReconciliationRequired
		if err := b.DeadLetters.Publish(t.Context(), reminder.DeadLetterOf(stale)); err != nil {
			t.Fatal(err)
		}
		b.start(nil)
		b.letter(stale, false)
		b.letter(r, true)
	})
	t.Run("one that is replayed loses it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		replayed := b.store(func(r *reminder.Record) { r.Previous = wasDead })
		stale := replayed
		stale.Reason = reminder.EndpointGone
		if err := b.DeadLetters.Publish(t.Context(), reminder.DeadLetterOf(stale)); err != nil {
			t.Fatal(err)
		}
		b.start(nil)
		b.letter(stale, false)
	})
	t.Run("a letter that has aged out stays away", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		old := b.store(func(r *reminder.Record) {
			ended(r)
			r.FinishTime = r.FinishTime.Add(-retention)
		})
		r := b.store(ended)
		b.start(nil)
		b.letter(r, true)
		b.letter(old, false)
	})
}

// away fails the first reads, as a broker that restarts.
type away struct {
	sweep.Ledger
	fails *atomic.Int64
}

func (l away) Get(ctx context.Context, token string) (reminder.Record, uint64, error) {
	if l.fails.Add(-1) >= 0 {
		return reminder.Record{}, 0, fmt.Errorf("get: %w", reminder.ErrUnavailable)
	}
	return l.Ledger.Get(ctx, token)
}

func TestAPassGoesOnWhenTheBrokerIsBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r, other := b.store(nil), b.store(late)
	var fails atomic.Int64
	fails.Store(5)
	b.start(func(s *sweep.Sweep) {
		s.Ledger, s.Grace = away{s.Ledger, &fails}, 10*time.Minute // as long as a pass that gave up would wait
	})
	b.until(r.Key, "published again", republished)
	b.until(other.Key, "ended", terminal)
}
