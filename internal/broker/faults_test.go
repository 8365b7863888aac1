package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// A bucket that does not exist is lost; a broker that does not answer is away.
func TestWritesTellALostBucketFromABrokerThatIsAway(t *testing.T) {
	t.Parallel()
	b, err := broker.Connect(broker.Options{URL: brokertest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for ctx := t.Context(); errors.Is(b.Ready(), reminder.ErrUnavailable) && ctx.Err() == nil; { // until connected
		if _, err = b.Ledger.Create(ctx, planned("a", time.Now().UTC())); !errors.Is(err, reminder.ErrUnavailable) {
			break
		}
	}
	if !errors.Is(err, reminder.ErrLost) {
		t.Errorf("create in a bucket that does not exist: got %v, want ErrLost", err)
	}
}

func TestADeadLetterStandsUntilItIsResolved(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	r, other := planned("a", time.Now().UTC()), planned("b", time.Now().UTC())
	letter, beside := reminder.DeadLetterOf(dead(r, reminder.EndpointGone)), reminder.DeadLetterOf(dead(other, reminder.EndpointGone))
	check := func(when string, l reminder.DeadLetter, want bool) {
		t.Helper()
		if got, err := b.DeadLetters.Standing(ctx, l); err != nil || got != want {
			t.Errorf("%s: stands: %t, %v; want %t", when, got, err, want)
		}
	}
	check("before", letter, false)
	for range 2 {
		if err := b.DeadLetters.Publish(ctx, letter); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.DeadLetters.Publish(ctx, beside); err != nil {
		t.Fatal(err)
	}
	check("after", letter, true)
	check("for another owner", reminder.DeadLetterOf(dead(r, reminder.DeadlineReached)), false)
	if err := b.DeadLetters.Resolve(ctx, r.Key); err != nil {
		t.Fatal(err)
	}
	check("resolved", letter, false)
	check("the letter beside it", beside, true)
}

func dead(r reminder.Record, reason reminder.Reason) reminder.Record {
	r.State, r.Owner = reminder.Claimed, "w"
	return delivery.Refuse(r, reason, "", delivery.Policy{Retention: retention}, time.Now().UTC()).Record
}

func TestWatchingAChannelEndsWhenItCannotBeUsed(t *testing.T) {
	t.Parallel()
	b := brokertest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := b.Registry.PutChannel(ctx, reminder.Channel{Namespace: "shop", Name: "mail", Generation: 3}, 0); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("no secret yet")
	err := b.Registry.WatchChannel(ctx, "shop", "mail", func(c reminder.Channel) error {
		if c.Generation != 3 {
			t.Errorf("got generation %d", c.Generation)
		}
		return refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want what the watcher answered", err)
	}
}
