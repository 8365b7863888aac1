package broker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// fill creates n records of one schedule.
func fill(t *testing.T, b *broker.Broker, n int) {
	t.Helper()
	var all sync.WaitGroup
	work := make(chan int)
	for range 16 {
		all.Go(func() {
			for i := range work {
				if _, err := b.Ledger.Create(t.Context(), planned(fmt.Sprint(i), time.Now().UTC())); err != nil {
					t.Errorf("create: %v", err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	all.Wait()
}

// The last entries of a bucket can vanish after a follower has been told that
// they are on their way: it must not wait for them for ever.
func TestAListEndsAlthoughTheLastEntriesVanish(t *testing.T) {
	t.Parallel()
	url := brokertest.URL(t)
	b := brokertest.Connect(t, url)
	const entries = 2000 // more than a follower fetches ahead
	fill(t, b, entries)
	ledger := stream(t, url)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	seen := 0
	err := b.Ledger.Of(ctx, "shop", "renewal.notice", func(broker.Revision) error {
		if seen++; seen > 1 {
			return nil
		}
		return ledger.Purge(ctx)
	})
	if err != nil || seen == 0 || seen == entries {
		t.Errorf("saw %d of %d entries, %v; want some, and an end", seen, entries, err)
	}
}

// What is pending may never come, where the request for it was lost with a leader: the
// follower must not ask for ever whether it is still on its way.
func TestAListFailsWhenWhatIsPendingDoesNotCome(t *testing.T) {
	t.Parallel()
	url := brokertest.URL(t)
	b := brokertest.Connect(t, url)
	fill(t, b, 2000) // more than a follower fetches ahead
	ledger, paused := stream(t, url), false
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := b.Ledger.Of(ctx, "shop", "renewal.notice", func(broker.Revision) error {
		for name := range ledger.ConsumerNames(ctx).Name() {
			if paused {
				break
			}
			if _, err := ledger.PauseConsumer(ctx, name, time.Now().Add(time.Hour)); err != nil {
				return err
			}
			paused = true
		}
		return nil
	})
	if !paused || !errors.Is(err, reminder.ErrUnavailable) {
		t.Errorf("paused %t, error %v; want unavailable", paused, err)
	}
}

func TestAListSeesTheLatestOfEachReminderOfTheSchedule(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	fill(t, b, 20)
	other := planned("x", time.Now().UTC())
	other.Key.Schedule = "renewal"
	if _, err := b.Ledger.Create(ctx, other); err != nil {
		t.Fatal(err)
	}
	seen := map[string]uint64{}
	list := func() {
		t.Helper()
		err := b.Ledger.Of(ctx, "shop", "renewal.notice", func(r broker.Revision) error {
			if r.Err != nil || r.Number <= seen[r.Token] || r.Record.Key.Token() != r.Token {
				t.Errorf("revision %d of %s: %v", r.Number, r.Token, r.Err)
			}
			seen[r.Token] = r.Number
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list()
	for token, number := range seen {
		r, _, err := b.Ledger.Get(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		r.Epoch = 2
		if _, err := b.Ledger.Update(ctx, r, number); err != nil {
			t.Fatal(err)
		}
	}
	list()
	if len(seen) != 20 {
		t.Errorf("saw %d reminders, want 20", len(seen))
	}
	if err := b.Ledger.Of(ctx, "shop", "none", func(broker.Revision) error { return fmt.Errorf("not empty") }); err != nil {
		t.Errorf("list of nothing: %v", err)
	}
}

// The bucket opens as one of NATS's own, and its history is the whole trace.
func TestTheLedgerKeepsTheWholeTraceOfAReminder(t *testing.T) {
	t.Parallel()
	url := brokertest.URL(t)
	b, ctx := brokertest.Connect(t, url), t.Context()
	r := planned("a", time.Now().UTC())
	revision, err := b.Ledger.Create(ctx, r)
	for i := range 199 {
		if err != nil {
			t.Fatal(err)
		}
		r.Epoch = int64(i + 2)
		revision, err = b.Ledger.Update(ctx, r, revision)
	}
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(ctx, "reminders-ledger-0")
	if err != nil {
		t.Fatal(err)
	}
	history, err := bucket.History(ctx, r.Key.Token())
	if err != nil || len(history) != 200 || history[199].Revision() != revision {
		t.Errorf("%d revisions, %v; want 200, the last one %d", len(history), err, revision)
	}
}
