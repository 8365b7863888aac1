package brokertest

import (
	"context"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func registryByRevision(t *testing.T, s Services) {
	ctx := t.Context()
	_, _, err := s.Registry.Schedule(ctx, "shop", "a")
	want(t, "before any", err, reminder.ErrNotFound)
	entry := reminder.Schedule{Namespace: "shop", Name: "a", Epoch: 1}
	first, err := s.Registry.PutSchedule(ctx, entry, 0, 0)
	must(t, err)
	entry.Epoch = 2
	second, err := s.Registry.PutSchedule(ctx, entry, first, 0)
	must(t, err)
	entry.Epoch = 3
	_, err = s.Registry.PutSchedule(ctx, entry, first, 0)
	want(t, "over an old revision", err, reminder.ErrConflict)
	if got, revision, err := s.Registry.Schedule(ctx, "shop", "a"); err != nil || got.Epoch != 2 || revision != second {
		t.Errorf("epoch %d at %d, %v; want 2 at %d", got.Epoch, revision, err, second)
	}
}

func watchChannel(t *testing.T, s Services) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := reminder.Channel{Namespace: "shop", Name: "mail", Generation: 1}
	must(t, s.Registry.PutChannel(ctx, c, 0))
	var seen []int64
	err := s.Registry.WatchChannel(ctx, "shop", "mail", func(have reminder.Channel) error {
		if seen = append(seen, have.Generation); len(seen) == 2 {
			return errEnough
		}
		_, err := s.Registry.PutSchedule(ctx, reminder.Schedule{Namespace: "shop", Name: "other"}, 0, 0)
		must(t, err)
		_, revision, err := channelOf(ctx, s)
		must(t, err)
		c.Generation = 2
		return s.Registry.PutChannel(ctx, c, revision)
	})
	want(t, "the end of watching", err, errEnough)
	if len(seen) != 2 || seen[1] != 2 {
		t.Errorf("saw generations %v", seen)
	}
}

// channelOf reads a channel from a registry that can.
func channelOf(ctx context.Context, s Services) (reminder.Channel, uint64, error) {
	return s.Registry.(interface {
		Channel(ctx context.Context, namespace, name string) (reminder.Channel, uint64, error)
	}).Channel(ctx, "shop", "mail")
}

func heartbeats(t *testing.T, s Services) {
	ctx := t.Context()
	one, two := reminder.Worker{Namespace: "shop", Channel: "mail", Name: "pod.1"}, reminder.Worker{Namespace: "shop", Channel: "mail.b", Name: "pod"}
	for _, w := range []reminder.Worker{one, one, two} {
		must(t, s.Registry.Beat(ctx, w))
	}
	live, err := s.Registry.Workers(ctx, "shop", "mail")
	if err != nil || len(live) != 1 || live[0].Name != "pod.1" {
		t.Errorf("live: %v, %v", live, err)
	}
	must(t, s.Registry.Rest(ctx, one))
	if live, err := s.Registry.Workers(ctx, "shop", "mail"); err != nil || len(live) != 0 {
		t.Errorf("live after it has stopped: %v, %v", live, err)
	}
}

func replaceAudience(t *testing.T, s Services) {
	ctx := t.Context()
	people := []reminder.Recipient{{ID: "a", Address: "x", Active: true}, {ID: "b", Address: "y", Active: true}}
	complete := func(hash string, expected bool) {
		t.Helper()
		if got, err := s.Audience.Complete(ctx, "shop", "s", hash); err != nil || got != expected {
			t.Errorf("complete with %s: %t, %v", hash, got, err)
		}
	}
	complete("h1", false)
	must(t, s.Audience.Replace(ctx, "shop", "s", "h1", people))
	complete("h1", true)
	must(t, s.Audience.Replace(ctx, "shop", "s", "h2", people[:1]))
	complete("h1", false)
	complete("h2", true)
	if r, err := s.Audience.Recipient(ctx, "shop", "s", "a"); err != nil || r.Address != "x" {
		t.Errorf("kept: %+v, %v", r, err)
	}
	_, err := s.Audience.Recipient(ctx, "shop", "s", "b")
	want(t, "removed", err, reminder.ErrNotFound)
	must(t, s.Audience.Forget(ctx, "shop", "s"))
	complete("h2", false)
}

func letters(t *testing.T, s Services) {
	ctx, r := t.Context(), record("a", time.Now().UTC())
	r.State, r.Reason = reminder.Dead, reminder.PermanentFailure
	letter := reminder.DeadLetterOf(r)
	standing := func(expected bool) {
		t.Helper()
		if got, err := s.DeadLetters.Standing(ctx, letter); err != nil || got != expected {
			t.Errorf("stands: %t, %v", got, err)
		}
	}
	standing(false)
	for range 2 {
		must(t, s.DeadLetters.Publish(ctx, letter))
	}
	standing(true)
	letter.Owner = reminder.OwnerData
	standing(false)
	letter.Owner = reminder.OwnerPolicy
	must(t, s.DeadLetters.Resolve(ctx, record("b", r.DueTime).Key))
	standing(true)
	must(t, s.DeadLetters.Resolve(ctx, r.Key))
	standing(false)
}

func totals(t *testing.T, s Services) {
	ctx := t.Context()
	got, last, err := s.Tally.Totals(ctx, "shop", "s")
	if err != nil || last != 0 || got.Namespace != "shop" || got.Schedule != "s" {
		t.Fatalf("before any: %+v at %d, %v", got, last, err)
	}
	got.Sent = 3
	must(t, s.Tally.SaveTotals(ctx, got, 0))
	got.Sent = 4
	want(t, "a second first", s.Tally.SaveTotals(ctx, got, 0), reminder.ErrConflict)
	got, last, err = s.Tally.Totals(ctx, "shop", "s")
	if err != nil || got.Sent != 3 || last == 0 {
		t.Errorf("%d sent at %d, %v", got.Sent, last, err)
	}
	must(t, s.Tally.ForgetTotals(ctx, "shop", "s"))
	if got, last, err := s.Tally.Totals(ctx, "shop", "s"); err != nil || got.Sent != 0 || last != 0 {
		t.Errorf("forgotten: %d sent at %d, %v", got.Sent, last, err)
	}
}

func checkpoints(t *testing.T, s Services) {
	for _, n := range []uint64{0, 7, 5} {
		if n > 0 {
			must(t, s.Tally.SaveCheckpoint(t.Context(), n))
		}
		if got, err := s.Tally.Checkpoint(t.Context()); err != nil || got != n {
			t.Errorf("checkpoint: %d, %v; want %d", got, err, n)
		}
	}
}
