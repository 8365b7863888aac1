package tally_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/tally"
)

var schedules = []string{"a", "a.b", "c"}

type seeded struct{ *rand.Rand }

func (s seeded) upTo(n int) int { return s.IntN(n) }

// write lets several writers change new reminders of all schedules, each its own,
// and answers the last revision.
func write(t *testing.T, b *broker.Broker, round, writers, revisions int) uint64 {
	t.Helper()
	var all sync.WaitGroup
	newest := make([]uint64, writers)
	for w := range writers {
		all.Go(func() {
			c := seeded{rand.New(rand.NewPCG(uint64(w), 7))}
			type stored struct {
				record   reminder.Record
				revision uint64
			}
			mine := map[string]stored{}
			for range revisions {
				schedule, recipient := schedules[c.upTo(len(schedules))], fmt.Sprintf("%d-%d-%d", round, w, c.upTo(5))
				s, known := mine[schedule+recipient]
				if known {
					s.record = next(c, s.record)
				} else {
					s.record = first(schedule, recipient)
				}
				var err error
				if s.revision, err = b.Ledger.Update(t.Context(), s.record, s.revision); err != nil {
					t.Errorf("write: %v", err)
					return
				}
				mine[schedule+recipient], newest[w] = s, s.revision
			}
		})
	}
	all.Wait()
	return slices.Max(newest)
}

// want counts the schedules again, from the whole stream.
func want(t *testing.T, b *broker.Broker, upTo uint64) map[string]reminder.Totals {
	t.Helper()
	var history []numbered
	done := errors.New("done")
	err := b.Ledger.Follow(t.Context(), 1, func(r broker.Revision) error {
		if r.Err != nil {
			return r.Err
		}
		if history = append(history, numbered{r.Number, r.Record}); r.Number == upTo {
			return done
		}
		return nil
	}, func() error { return nil })
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	all := map[string]reminder.Totals{}
	for _, s := range schedules {
		all[s] = recount(s, history)
	}
	return all
}

// store wraps the real one: it tells of each checkpoint, and runs between before
// each, when the totals are stored already.
type store struct {
	tally.Store
	between func()
	saved   chan<- uint64
}

func (s store) SaveCheckpoint(ctx context.Context, revision uint64) error {
	if s.between != nil {
		s.between()
	}
	err := s.Store.SaveCheckpoint(ctx, revision)
	if err == nil {
		s.saved <- revision
	}
	return err
}

// start runs a tally until ctx ends.
func start(t *testing.T, ctx context.Context, b *broker.Broker, s tally.Store) (wait func()) { //nolint:revive // t comes first in tests
	t.Helper()
	var run sync.WaitGroup
	run.Go(func() {
		counting := &tally.Tally{
			Ledger: b.Ledger, Store: s, Changed: func(string, string) {}, Every: 5 * time.Millisecond,
			Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		if err := counting.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return run.Wait
}

func check(t *testing.T, b *broker.Broker, want map[string]reminder.Totals) {
	t.Helper()
	for schedule, totals := range want {
		got, _, err := b.Tally.Totals(t.Context(), "shop", schedule)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(totals, got, equalCounts); diff != "" {
			t.Errorf("I5, schedule %s (-recount +stored):\n%s", schedule, diff)
		}
	}
}

// until waits for a checkpoint that includes the revision.
func until(t *testing.T, saved <-chan uint64, revision uint64) {
	t.Helper()
	limit := time.After(60 * time.Second)
	for {
		select {
		case at := <-saved:
			if at >= revision {
				return
			}
		case <-limit:
			t.Fatalf("no checkpoint at %d", revision)
		case <-t.Context().Done():
			return
		}
	}
}

func TestTwoTalliesAtOnceEndWithExactCounters(t *testing.T) {
	t.Parallel()
	url := brokertest.URL(t)
	b, other := brokertest.Connect(t, url), brokertest.Connect(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	saved := make(chan uint64, 1000)
	waitA := start(t, ctx, b, store{Store: b.Tally, saved: saved})
	waitB := start(t, ctx, other, store{Store: other.Tally, saved: saved})
	last := write(t, b, 0, 4, 150)
	until(t, saved, last)
	cancel()
	waitA()
	waitB()
	check(t, b, want(t, b, last))
}

// A tally dies after it has stored totals and before the checkpoint, again and
// again: what it has counted is not counted again.
func TestATallyThatDiesBetweenTotalsAndCheckpointStaysExact(t *testing.T) {
	t.Parallel()
	b := brokertest.Start(t)
	saved := make(chan uint64, 1000)
	last := uint64(0)
	for round := range 5 {
		last = write(t, b, round, 3, 40)
		dies, die := context.WithCancel(t.Context())
		start(t, dies, b, store{Store: b.Tally, saved: saved, between: die})()
	}
	if checkpoint, err := b.Tally.Checkpoint(t.Context()); err != nil || checkpoint != 0 {
		t.Fatalf("checkpoint %d, %v: the deaths came too late for this test", checkpoint, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	wait := start(t, ctx, b, store{Store: b.Tally, saved: saved})
	until(t, saved, last)
	cancel()
	wait()
	check(t, b, want(t, b, last))
}

func TestAGarbledRevisionIsSkippedAndANewerOneIsHeld(t *testing.T) {
	t.Parallel()
	url := brokertest.URL(t)
	b := brokertest.Connect(t, url)
	create := func(recipient string) uint64 {
		t.Helper()
		revision, err := b.Ledger.Create(t.Context(), first("a", recipient))
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	create("before")
	brokertest.Publish(t, url, brokertest.LedgerKeys+first("a", "garbled").Key.Token(), []byte(`{"schemaVersion":1`))
	held := create("between")
	brokertest.Publish(t, url, brokertest.LedgerKeys+first("a", "newer").Key.Token(), []byte(`{"schemaVersion":2}`))
	create("after")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	saved, failed := make(chan uint64, 1000), make(chan struct{}, 1000)
	var run sync.WaitGroup
	run.Go(func() {
		counting := &tally.Tally{
			Ledger: b.Ledger, Store: store{Store: b.Tally, saved: saved}, Changed: func(string, string) {}, Every: time.Hour,
			Now: time.Now, Log: slog.New(heard{failed}),
		}
		_ = counting.Run(ctx)
	})
	for range 4 { // one for the garbled revision, one for each time that it meets the newer one
		select {
		case <-failed:
		case <-time.After(60 * time.Second):
			t.Fatal("a revision of a newer version was not held")
		}
	}
	cancel()
	run.Wait()
	if checkpoint, err := b.Tally.Checkpoint(t.Context()); err != nil || checkpoint != held {
		t.Errorf("checkpoint: got %d, %v; want %d, before what this version cannot read", checkpoint, err, held)
	}
	got, _, err := b.Tally.Totals(t.Context(), "shop", "a")
	if err != nil || got.Pending() != 2 || got.Applied != held {
		t.Errorf("pending %d at %d, %v; want the two before the newer one, at %d", got.Pending(), got.Applied, err, held)
	}
}

// heard tells of each log record.
type heard struct{ records chan<- struct{} }

func (h heard) Enabled(context.Context, slog.Level) bool { return true }
func (h heard) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h heard) WithGroup(string) slog.Handler            { return h }
func (h heard) Handle(context.Context, slog.Record) error {
	h.records <- struct{}{}
	return nil
}

// The controller was away while one reminder was tried as often as a schedule may
// ask for: every transition is still there to be counted.
func TestALongHistoryIsCountedAfterwards(t *testing.T) {
	t.Parallel()
	b := brokertest.Start(t)
	r := first("a", "x")
	revision, err := b.Ledger.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	p := delivery.Policy{Retry: reminder.Retry{Attempts: 50}, OnUnknown: reminder.RetryUnknown, Lease: time.Second, Retention: time.Hour}
	for now, d := release, (delivery.Decision{}); d.Action != delivery.Settle; now = now.Add(time.Second) {
		var revisions []reminder.Record
		claim := delivery.Admit(r, delivery.Facts{Epoch: 1}, p, "w", now).Record
		mark := delivery.MarkSending(claim, p, now)
		d = delivery.Decide(mark, reminder.Result{Outcome: reminder.Transient}, p, now)
		for _, r = range append(revisions, claim, mark, d.Record) {
			if revision, err = b.Ledger.Update(t.Context(), r, revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	saved := make(chan uint64, 1000)
	wait := start(t, ctx, b, store{Store: b.Tally, saved: saved})
	until(t, saved, revision)
	cancel()
	wait()
	got, _, err := b.Tally.Totals(t.Context(), "shop", "a")
	if err != nil || got.Dead != 1 || got.Attempts != 50 || got.Retried != 49 || got.Pending() != 0 {
		t.Errorf("I5: %v: %d dead, %d attempts, %d retries, %d pending; want 1, 50, 49, 0", err, got.Dead, got.Attempts, got.Retried, got.Pending())
	}
}

// A ledger that ends before what was counted is another one.
func TestALedgerThatWasLostIsReported(t *testing.T) {
	t.Parallel()
	b := brokertest.Start(t)
	if _, err := b.Ledger.Create(t.Context(), first("a", "x")); err != nil {
		t.Fatal(err)
	}
	if err := b.Tally.SaveCheckpoint(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan struct{}, 1000)
	var run sync.WaitGroup
	run.Go(func() {
		counting := &tally.Tally{Ledger: b.Ledger, Store: b.Tally, Changed: func(string, string) {}, Now: time.Now, Log: slog.New(heard{failed})}
		_ = counting.Run(ctx)
	})
	select {
	case <-failed:
	case <-time.After(60 * time.Second):
		t.Error("waits for ever for revisions that will not come")
	}
	cancel()
	run.Wait()
}
