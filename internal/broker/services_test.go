package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestTheBacklogOfAChannel(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	if _, err := b.Queue.Backlog(ctx, "shop", "mail"); !errors.Is(err, reminder.ErrLost) {
		t.Errorf("backlog of no consumer: got %v, want ErrLost", err)
	}
	channel := reminder.Channel{Namespace: "shop", Name: "mail", AckWait: time.Minute}
	for range 2 { // repeating is harmless
		if err := b.Queue.EnsureConsumer(ctx, channel); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"a", "b", "c"} {
		if err := b.Queue.Restore(ctx, planned(id, time.Now().UTC()), 1); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want broker.Backlog) {
		t.Helper()
		got, err := b.Queue.Backlog(ctx, "shop", "mail")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", when, err, diff)
		}
	}
	check("before", broker.Backlog{Waiting: 3})
	part, stop := context.WithCancel(ctx)
	_ = b.Queue.Fetch(part, "shop", "mail", 3, func(broker.Delivery) { stop() })
	got, err := b.Queue.Backlog(ctx, "shop", "mail")
	if err != nil || got.Waiting+got.InFlight != 3 || got.InFlight < 1 {
		t.Errorf("in hand: %+v, %v", got, err)
	}
	for range 2 {
		if err := b.Queue.RemoveConsumer(ctx, "shop", "mail"); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if standing, err := b.Queue.Standing(ctx, planned("a", time.Now().UTC()).Key); err != nil && standing {
		t.Errorf("after the consumer was removed: %t, %v", standing, err)
	}
	if err := b.Queue.EnsureConsumer(ctx, channel); err != nil {
		t.Fatal(err)
	}
	check("for a channel that was made anew", broker.Backlog{Waiting: 3})
}

func TestConsumersOfLongAndOddNamesDiffer(t *testing.T) {
	t.Parallel()
	long := string(slices.Repeat([]byte("x."), 126))
	names := map[string]string{}
	for _, channel := range []string{"a", "a.b", "a_b", long + "a", long + "b"} {
		name := broker.ConsumerName("shop", channel)
		if other, ok := names[name]; ok || len(name) > 255 {
			t.Errorf("%s and %s have one consumer, or %d characters are too many", channel, other, len(name))
		}
		names[name] = channel
	}
	b := brokertest.Start(t)
	for _, channel := range names {
		if err := b.Queue.EnsureConsumer(t.Context(), reminder.Channel{Namespace: "shop", Name: channel, AckWait: time.Minute}); err != nil {
			t.Errorf("%.20s: %v", channel, err)
		}
	}
}

func TestHeartbeatsOfAChannel(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	beat := func(channel, name string) reminder.Worker {
		t.Helper()
		w := reminder.Worker{Namespace: "shop", Channel: channel, Name: name, InFlight: 3}
		if err := b.Registry.Beat(ctx, w); err != nil {
			t.Fatal(err)
		}
		return w
	}
	live := func() (names []string) {
		t.Helper()
		workers, err := b.Registry.Workers(ctx, "shop", "mail")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range workers {
			names = append(names, w.Name)
		}
		slices.Sort(names)
		return names
	}
	if got := live(); len(got) != 0 {
		t.Errorf("before any: %v", got)
	}
	one := beat("mail", "pod-1.x")
	beat("mail", "pod-2")
	beat("mail", "pod-2")
	beat("mail.b", "pod-3")
	if diff := cmp.Diff([]string{"pod-1.x", "pod-2"}, live()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := b.Registry.Rest(ctx, one); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pod-2"}, live()); diff != "" {
		t.Errorf("after one has stopped (-want +got):\n%s", diff)
	}
}

func TestTheRegistryIsWrittenByRevision(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	for _, name := range []string{"a", "a.b"} {
		if _, err := b.Registry.PutSchedule(ctx, reminder.Schedule{Namespace: "shop", Name: name, Epoch: 1}, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	entry, revision, err := b.Registry.Schedule(ctx, "shop", "a")
	if err != nil || entry.Epoch != 1 || entry.Name != "a" {
		t.Fatalf("got %+v, %v", entry, err)
	}
	entry.Epoch = 2
	if _, err := b.Registry.PutSchedule(ctx, entry, revision, time.Hour); err != nil {
		t.Fatal(err)
	}
	entry.Epoch = 3
	if _, err := b.Registry.PutSchedule(ctx, entry, revision, 0); !errors.Is(err, reminder.ErrConflict) {
		t.Errorf("over an old revision: got %v, want ErrConflict", err)
	}
	seen := map[string]int64{}
	if err := b.Registry.Schedules(ctx, func(s reminder.Schedule, _ uint64) error { seen[s.Name] = s.Epoch; return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"a": 2, "a.b": 1}, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := b.Registry.PutChannel(ctx, reminder.Channel{Namespace: "shop", Name: "mail"}, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.Registry.ForgetChannel(ctx, "shop", "mail"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Registry.Channel(ctx, "shop", "mail"); !errors.Is(err, reminder.ErrNotFound) {
		t.Errorf("a channel that was forgotten: got %v, want ErrNotFound", err)
	}
}

func TestForgottenTotalsBeginAnew(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	totals, last, err := b.Tally.Totals(ctx, "shop", "s")
	if err != nil || last != 0 {
		t.Fatalf("before any: %d, %v", last, err)
	}
	totals.Sent = 3
	if err := b.Tally.SaveTotals(ctx, totals, last); err != nil {
		t.Fatal(err)
	}
	if err := b.Tally.SaveTotals(ctx, reminder.Totals{Namespace: "shop", Schedule: "s", Sent: 4}, last); !errors.Is(err, reminder.ErrConflict) {
		t.Errorf("a second first: got %v, want ErrConflict", err)
	}
	if got, _, err := b.Tally.Totals(ctx, "shop", "s"); err != nil || got.Sent != 3 {
		t.Errorf("got %d sent, %v", got.Sent, err)
	}
	if err := b.Tally.ForgetTotals(ctx, "shop", "s"); err != nil {
		t.Fatal(err)
	}
	got, last, err := b.Tally.Totals(ctx, "shop", "s")
	if err != nil || got.Sent != 0 || last != 0 {
		t.Errorf("after forgetting: %d sent at %d, %v", got.Sent, last, err)
	}
}

// Row 28: a full ledger refuses, and what it holds can still be read.
func TestRow28AFullLedgerRefusesAndStaysReadable(t *testing.T) {
	t.Parallel()
	url := brokertest.URL(t)
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	small := broker.Shapes(broker.Options{})[2]
	small.MaxBytes = 20_000
	if _, err := js.CreateStream(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	b := brokertest.Connect(t, url)
	first := planned("first", time.Now().UTC())
	if _, err := b.Ledger.Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if _, err = b.Ledger.Create(t.Context(), planned(fmt.Sprint(i), time.Now().UTC())); err != nil {
			break
		}
	}
	if !errors.Is(err, reminder.ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	if _, _, err := b.Ledger.Get(t.Context(), first.Key.Token()); err != nil {
		t.Errorf("an old record: %v", err)
	}
}
