package broker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestAnAudienceIsNotCompleteAfterAReplaceThatFailed(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	old := []reminder.Recipient{{ID: "a", Address: "old", Active: true}}
	if err := b.Audience.Replace(ctx, "shop", "s", "h1", old); err != nil {
		t.Fatal(err)
	}
	huge := reminder.Recipient{ID: "b", Attributes: map[string]string{"x": strings.Repeat("x", 2<<20)}}
	if err := b.Audience.Replace(ctx, "shop", "s", "h2", []reminder.Recipient{{ID: "a", Address: "new", Active: true}, huge}); err == nil {
		t.Fatal("a recipient of 2 MiB was stored")
	}
	for _, hash := range []string{"h1", "h2", ""} {
		if complete, err := b.Audience.Complete(ctx, "shop", "s", hash); err != nil || complete {
			t.Errorf("half of h1 and half of h2 count as a complete %q: %t, %v", hash, complete, err)
		}
	}
	if err := b.Audience.Replace(ctx, "shop", "s", "h1", old); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Audience.Recipient(ctx, "shop", "s", "a"); err != nil || r.Address != "old" {
		t.Errorf("after going back to h1: %+v, %v", r, err)
	}
	if complete, err := b.Audience.Complete(ctx, "shop", "s", "h1"); err != nil || !complete {
		t.Errorf("h1 is not complete after going back to it: %t, %v", complete, err)
	}
}

func TestForgettingAnAudienceLeavesTheOthers(t *testing.T) {
	t.Parallel()
	b, ctx := brokertest.Start(t), t.Context()
	for _, schedule := range []string{"a", "a.b", "ab"} {
		if err := b.Audience.Replace(ctx, "shop", schedule, "h", []reminder.Recipient{{ID: "x", Active: true}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Audience.Forget(ctx, "shop", "a"); err != nil {
		t.Fatal(err)
	}
	for schedule, want := range map[string]bool{"a": false, "a.b": true, "ab": true} {
		_, err := b.Audience.Recipient(ctx, "shop", schedule, "x")
		if got := err == nil; got != want || err != nil && !errors.Is(err, reminder.ErrNotFound) {
			t.Errorf("%s: there is a recipient: %t, %v; want %t", schedule, got, err, want)
		}
	}
}
