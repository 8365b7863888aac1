package brokertest

import (
	"context"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// suiteAckWait is long beside what a slow machine takes between two calls.
const suiteAckWait = 2 * time.Second

func mailConsumer(t *testing.T, s Services, name string) {
	t.Helper()
	must(t, s.Queue.EnsureConsumer(t.Context(), reminder.Channel{Namespace: "shop", Name: name, AckWait: suiteAckWait, Concurrency: 8}))
}

// consumed are the deliveries that come until there are enough and quiet has passed
// without more of them.
func consumed(t *testing.T, s Services, enough int, quiet time.Duration, each func(n int, d broker.Delivery)) (got []broker.Delivery) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := s.Queue.Fetch(ctx, "shop", "mail", 64, func(d broker.Delivery) {
		if ctx.Err() != nil {
			return
		}
		got = append(got, d)
		each(len(got), d)
		if len(got) == enough {
			time.AfterFunc(quiet, cancel)
		}
	})
	want(t, "the end of consuming", err, context.Canceled)
	if len(got) != enough {
		t.Fatalf("%d deliveries, want %d", len(got), enough)
	}
	return got
}

func acked(t *testing.T) func(int, broker.Delivery) {
	return func(_ int, d broker.Delivery) { must(t, d.Ack(t.Context())) }
}

func due(t *testing.T, s Services, recipient string) reminder.Record {
	t.Helper()
	r := record(recipient, time.Now().UTC())
	must(t, s.Queue.Restore(t.Context(), r, 1))
	return r
}

func releaseOnTime(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	release := time.Now().UTC().Add(1300 * time.Millisecond)
	r := record("a", release)
	for revision := range uint64(3) {
		must(t, s.Queue.Release(t.Context(), r, revision+1, release, time.Now()))
	}
	if standing, err := s.Queue.Standing(t.Context(), r.Key); err != nil || !standing {
		t.Errorf("what is scheduled stands: %t, %v", standing, err)
	}
	d := consumed(t, s, 1, time.Second, acked(t))[0]
	job, err := reminder.DecodeJob(d.Body)
	if err != nil || d.Token != r.Key.Token() || job.LedgerRevision != 3 || d.Count != 1 {
		t.Errorf("got %s for revision %d, delivery %d, %v", d.Token, job.LedgerRevision, d.Count, err)
	}
	if d.StoreTime.Before(release) {
		t.Errorf("released %s early", release.Sub(d.StoreTime))
	}
}

func releaseAtOnce(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	now := time.Now().UTC()
	for range 2 {
		must(t, s.Queue.Release(t.Context(), record("a", now), 1, now, now))
	}
	consumed(t, s, 1, time.Second, acked(t))
}

func restoreOnce(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	r := due(t, s, "a")
	must(t, s.Queue.Restore(t.Context(), r, 2))
	consumed(t, s, 1, time.Second/2, func(_ int, d broker.Delivery) {
		must(t, s.Queue.Restore(t.Context(), r, 3))
		must(t, d.Ack(t.Context()))
	})
	if standing, err := s.Queue.Standing(t.Context(), r.Key); err != nil || standing {
		t.Errorf("what was acknowledged stands: %t, %v", standing, err)
	}
}

func redeliver(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	due(t, s, "a")
	begin := time.Now()
	got := consumed(t, s, 2, 0, func(n int, d broker.Delivery) {
		if n == 2 {
			must(t, d.Ack(t.Context()))
		}
	})
	if got[1].Count != 2 || got[1].Sequence != got[0].Sequence || time.Since(begin) < suiteAckWait/2 {
		t.Errorf("delivery %d of message %d after %s; want the second of %d", got[1].Count, got[1].Sequence, time.Since(begin), got[0].Sequence)
	}
}

func keepInHand(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	due(t, s, "a")
	consumed(t, s, 1, time.Second/2, func(_ int, d broker.Delivery) {
		for range 8 { // twice the ack wait
			select {
			case <-t.Context().Done():
			case <-time.After(suiteAckWait / 4):
			}
			must(t, d.Working())
		}
		must(t, d.Ack(t.Context()))
	})
}

func giveBack(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	due(t, s, "a")
	var back time.Time
	got := consumed(t, s, 2, time.Second/2, func(n int, d broker.Delivery) {
		if n == 2 {
			must(t, d.Ack(t.Context()))
			return
		}
		back = time.Now()
		must(t, d.Nak(500*time.Millisecond))
	})
	if after := time.Since(back); got[1].Count != 2 || after < 500*time.Millisecond {
		t.Errorf("delivery %d came after %s", got[1].Count, after)
	}
}

func ackOlder(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	due(t, s, "a")
	var first broker.Delivery
	consumed(t, s, 2, suiteAckWait+time.Second, func(n int, d broker.Delivery) {
		if n == 1 {
			first = d
			return
		}
		must(t, first.Ack(t.Context()))
	})
}

func withdraw(t *testing.T, s Services) {
	ctx := t.Context()
	mailConsumer(t, s, "mail")
	gone, dropped, all := due(t, s, "gone"), due(t, s, "dropped"), record("all", time.Now().UTC())
	must(t, s.Queue.Withdraw(ctx, gone.Key))
	consumed(t, s, 1, suiteAckWait+time.Second, func(_ int, d broker.Delivery) { must(t, d.Drop(t.Context())) })
	must(t, s.Queue.Restore(ctx, all, 1))
	must(t, s.Queue.Release(ctx, gone, 2, time.Now().Add(time.Hour), time.Now()))
	must(t, s.Queue.WithdrawSchedule(ctx, "shop", "renewal.notice"))
	for _, r := range []reminder.Record{gone, dropped, all} {
		if standing, err := s.Queue.Standing(ctx, r.Key); err != nil || standing {
			t.Errorf("%s stands: %t, %v", r.Key, standing, err)
		}
	}
}

func consumersApart(t *testing.T, s Services) {
	mailConsumer(t, s, "mail")
	mailConsumer(t, s, "mail.b")
	other := record("b", time.Now().UTC())
	other.Key.Channel = "mail.b"
	must(t, s.Queue.Restore(t.Context(), other, 1))
	r := due(t, s, "a")
	if d := consumed(t, s, 1, time.Second/2, acked(t))[0]; d.Token != r.Key.Token() {
		t.Errorf("got the job of %s", d.Token)
	}
	err := s.Queue.Fetch(t.Context(), "shop", "none", 1, func(broker.Delivery) {})
	want(t, "consuming where no consumer is", err, reminder.ErrLost)
}
