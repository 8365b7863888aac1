package broker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const retention = 24 * time.Hour

func planned(recipient string, release time.Time) reminder.Record {
	key := reminder.Key{Namespace: "shop", Schedule: "renewal.notice", Slot: reminder.SlotOf(release), Recipient: recipient, Channel: "mail"}
	return delivery.Plan(delivery.Planned{
		Key: key, Epoch: 1, ReleaseTime: release, DeadlineTime: release.Add(time.Hour), LateTime: release.Add(time.Minute),
	}, retention, time.Now().UTC())
}

func TestLedgerCreatesOnceAndUpdatesByRevision(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	r := planned("acct:1 имя", time.Now().UTC())
	first, err := b.Ledger.Create(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	other := r
	other.Epoch = 7
	if _, err := b.Ledger.Create(ctx, other); !errors.Is(err, reminder.ErrExists) {
		t.Errorf("second create: got %v, want ErrExists", err)
	}
	again, err := b.Ledger.Create(ctx, r)
	if err != nil || again != first {
		t.Errorf("repeating a create whose answer was lost: got revision %d, %v; want %d, nil", again, err, first)
	}
	claimed := r
	claimed.State, claimed.Owner = reminder.Claimed, "w1"
	second, err := b.Ledger.Update(ctx, claimed, first)
	if err != nil {
		t.Fatal(err)
	}
	claimed.Owner = "w2"
	if _, err := b.Ledger.Update(ctx, claimed, first); !errors.Is(err, reminder.ErrConflict) {
		t.Errorf("update over an old revision: got %v, want ErrConflict", err)
	}
	got, revision, err := b.Ledger.Get(ctx, r.Key.Token())
	if err != nil || revision != second || got.Owner != "w1" {
		t.Errorf("get: owner %q at %d, %v; want w1 at %d", got.Owner, revision, err, second)
	}
	if _, _, err := b.Ledger.Get(ctx, "shop.none.x.y"); !errors.Is(err, reminder.ErrNotFound) {
		t.Errorf("get of nothing: got %v, want ErrNotFound", err)
	}
}

// Row 11: two, then 16 claimers race; one wins each time.
func TestRow11OneClaimWins(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	for _, claimers := range []int{2, 16} {
		r := planned("acct_"+string(rune('a'+claimers)), time.Now().UTC())
		revision, err := b.Ledger.Create(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		var wins sync.Map
		var all sync.WaitGroup
		for i := range claimers {
			all.Go(func() {
				mine := r
				mine.State, mine.Owner = reminder.Claimed, string(rune('A'+i))
				if _, err := b.Ledger.Update(ctx, mine, revision); err == nil {
					wins.Store(mine.Owner, true)
				} else if !errors.Is(err, reminder.ErrConflict) {
					t.Errorf("losing claim: %v", err)
				}
			})
		}
		all.Wait()
		n := 0
		wins.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			t.Errorf("%d claimers: %d winners, want 1", claimers, n)
		}
	}
}

func TestRevisionsKeepTheirTTLOverUpdates(t *testing.T) {
	t.Parallel()
	url := brokertest.URL(t)
	b, ctx := brokertest.Connect(t, url), t.Context()
	r := planned("acct_1", time.Now().UTC())
	revision, err := b.Ledger.Create(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	sent := r
	sent.State = reminder.Sent
	if _, err := b.Ledger.Update(ctx, sent, revision); err != nil {
		t.Fatal(err)
	}
	js := stream(t, url)
	last, err := js.GetLastMsgForSubject(ctx, "$KV.reminders-ledger-0."+r.Key.Token())
	if err != nil {
		t.Fatal(err)
	}
	if last.Header.Get(jetstream.MsgTTLHeader) == "" {
		t.Error("the update has no TTL: it would live for ever")
	}
}

func stream(t *testing.T, url string) jetstream.Stream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "KV_reminders-ledger-0")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReleaseIsNeverEarly(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	channel := reminder.Channel{Namespace: "shop", Name: "mail", AckWait: 5 * time.Second, Concurrency: 8}
	if err := b.Queue.EnsureConsumer(ctx, channel); err != nil {
		t.Fatal(err)
	}
	release := time.Now().UTC().Add(1300 * time.Millisecond)
	r := planned("acct_1", release)
	revision, err := b.Ledger.Create(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // repeating replaces: one job
		if err := b.Queue.Release(ctx, r, revision, release, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	got := consume(t, b, 1, 2*time.Second)
	if len(got) != 1 || got[0].Token != r.Key.Token() {
		t.Fatalf("got %d jobs, want one of %s", len(got), r.Key.Token())
	}
	if got[0].StoreTime.Before(release) {
		t.Errorf("released %s early", release.Sub(got[0].StoreTime))
	}
}

// consume gathers deliveries until there are want and then quiet has passed.
func consume(t *testing.T, b *broker.Broker, want int, quiet time.Duration) []broker.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var mu sync.Mutex
	var got []broker.Delivery
	_ = b.Queue.Fetch(ctx, "shop", "mail", 8, func(d broker.Delivery) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, d)
		if err := d.Ack(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("ack: %v", err)
		}
		if len(got) == want {
			time.AfterFunc(quiet, cancel)
		}
	})
	return got
}

func TestRestoreOnlyWhereNothingStands(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	r := planned("acct_1", time.Now().UTC())
	standing := func() bool {
		t.Helper()
		s, err := b.Queue.Standing(ctx, r.Key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if standing() {
		t.Error("a message stands before any was published")
	}
	for range 2 {
		if err := b.Queue.Restore(ctx, r, 1); err != nil {
			t.Fatal(err)
		}
	}
	if !standing() {
		t.Error("no message stands after restoring it")
	}
	if err := b.Queue.Withdraw(ctx, r.Key); err != nil {
		t.Fatal(err)
	}
	if standing() {
		t.Error("a message stands after withdrawing it")
	}
	if err := b.Queue.Release(ctx, r, 1, time.Now().Add(time.Hour), time.Now()); err != nil {
		t.Fatal(err)
	}
	if !standing() {
		t.Error("a message schedule does not count as standing")
	}
	if err := b.Queue.WithdrawSchedule(ctx, "shop", "renewal.notice"); err != nil {
		t.Fatal(err)
	}
	if standing() {
		t.Error("a message stands after withdrawing the schedule")
	}
}

func TestUnsafeSettingsAreRefused(t *testing.T) {
	t.Parallel()
	jobs := 0 // the first shape is the jobs stream, the third the ledger
	tests := map[string]struct {
		shape  int
		change func(*jetstream.StreamConfig)
		want   string
	}{
		"a size limit on the jobs stream evicts schedules": {jobs, func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }, "max_bytes"},
		"an age limit on the jobs stream drops them":       {jobs, func(c *jetstream.StreamConfig) { c.MaxAge = time.Minute }, "max_age"},
		"limits retention keeps acknowledged jobs":         {jobs, func(c *jetstream.StreamConfig) { c.Retention = jetstream.LimitsPolicy }, "retention"},
		"memory storage forgets":                           {2, func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "storage"},
		"rollups can wipe the ledger":                      {2, func(c *jetstream.StreamConfig) { c.AllowRollup = true }, "allow_rollup_hdrs"},
		"async persistence loses acknowledged records":     {2, func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode }, "persist_mode"},
		"discarding old records loses them":                {2, func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }, "discard"},
		"a short history loses transitions":                {2, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }, "max_msgs_per_subject"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := broker.Shapes(broker.Options{})[tt.shape]
			have := want
			tt.change(&have)
			faults := broker.Unsafe(want, have)
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, tt.want) }) {
				t.Errorf("faults %q do not name %s", faults, tt.want)
			}
		})
	}
}

func TestEnsureRefusesAnExistingUnsafeStream(t *testing.T) {
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
	bad := broker.Shapes(broker.Options{})[2]
	bad.Storage = jetstream.MemoryStorage
	if _, err := js.CreateStream(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	b, err := broker.Connect(broker.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Ensure(t.Context()); !errors.Is(err, broker.ErrUnsafe) {
		t.Errorf("ensure: got %v, want ErrUnsafe", err)
	}
	if err := b.Ready(); !errors.Is(err, broker.ErrUnsafe) {
		t.Errorf("ready: got %v, want ErrUnsafe", err)
	}
}

func TestCallsFailFastWhileTheBrokerIsAway(t *testing.T) {
	t.Parallel()
	b, err := broker.Connect(broker.Options{URL: "nats://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, _, err := b.Ledger.Get(t.Context(), "a.b.c.d"); !errors.Is(err, reminder.ErrUnavailable) {
		t.Errorf("get: got %v, want ErrUnavailable", err)
	}
	if err := b.Ensure(t.Context()); !errors.Is(err, reminder.ErrUnavailable) {
		t.Errorf("ensure: got %v, want ErrUnavailable", err)
	}
}

func TestAudienceTellsRemovedFromMissing(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	people := []reminder.Recipient{{ID: "a", Address: "x", Active: true}, {ID: "b", Address: "y", Active: true}}
	if complete, err := b.Audience.Complete(ctx, "shop", "s", "h1"); err != nil || complete {
		t.Fatalf("complete before any: %t, %v", complete, err)
	}
	if err := b.Audience.Replace(ctx, "shop", "s", "h1", people); err != nil {
		t.Fatal(err)
	}
	if err := b.Audience.Replace(ctx, "shop", "s", "h2", people[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Audience.Recipient(ctx, "shop", "s", "b"); !errors.Is(err, reminder.ErrNotFound) {
		t.Errorf("removed recipient: got %v, want ErrNotFound", err)
	}
	if complete, err := b.Audience.Complete(ctx, "shop", "s", "h2"); err != nil || !complete {
		t.Errorf("complete after replace: %t, %v", complete, err)
	}
	if r, err := b.Audience.Recipient(ctx, "shop", "s", "a"); err != nil || r.Address != "x" {
		t.Errorf("kept recipient: %+v, %v", r, err)
	}
}
