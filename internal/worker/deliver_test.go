package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

func TestADueReminderIsSentOnce(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){"where the channel dedupes": nil, "under Park": park, "under Retry": repeat} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, change)
			b.start(nil)
			r := b.due("acct:1 имя", nil)
			got := b.settled(r.Key, reminder.Sent, "")
			if got.Attempts != 1 || got.Receipt != "ok" || got.Unresolved || got.Takeovers+got.Retries+got.Suppressed != 0 {
				t.Errorf("got %+v", got)
			}
			want := reminder.Message{
				Key: r.Key, ID: r.Key.ID(), DueTime: r.ReleaseTime, DeadlineTime: r.DeadlineTime, Attempt: 1,
				Address: "acct:1 имя@example.com", Subject: "Due", Body: "Hello Ada",
			}
			if diff := cmp.Diff(want, b.sends("acct:1 имя", 1)[0].Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			b.empty()
			if n := len(b.letters()); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

func TestTheTraceOfAReminder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*bench)
		want   []reminder.State
	}{
		"a channel that dedupes needs no mark": {nil, []reminder.State{reminder.Scheduled, reminder.Claimed, reminder.Retrying, reminder.Claimed, reminder.Sent}},
		"others mark each submission": {park, []reminder.State{
			reminder.Scheduled, reminder.Claimed, reminder.Sending, reminder.Retrying, reminder.Claimed, reminder.Sending, reminder.Sent,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.change)
			b.receiver.answers("a", busy, accept)
			b.start(nil)
			r := b.due("a", nil)
			var trace []reminder.State
			attempts := int64(0) // as a fold counts them
			b.until(r.Key, "sent", func(r reminder.Record) bool {
				trace = append(trace, r.State)
				attempts += int64(r.Attempts)
				if r.Previous != nil {
					attempts -= int64(r.Previous.Attempts)
				}
				return r.State == reminder.Sent
			})
			if diff := cmp.Diff(tt.want, trace); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if attempts != 2 {
				t.Errorf("I5: folded %d attempts, want 2", attempts)
			}
		})
	}
}

func TestATransientFailureIsRetriedAtItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { park(b); b.schedule.Retry.Delays = []time.Duration{400 * time.Millisecond} })
	b.receiver.answers("a", busy, busy, accept)
	b.start(nil)
	r := b.due("a", nil)
	got := b.settled(r.Key, reminder.Sent, "")
	if got.Attempts != 3 || got.Retries != 2 || got.Diagnostic != "" {
		t.Errorf("got %d attempts, %d retries, diagnostic %q", got.Attempts, got.Retries, got.Diagnostic)
	}
	calls := b.sends("a", 3)
	for i := 1; i < len(calls); i++ {
		if wait := calls[i].at.Sub(calls[i-1].at); wait < 400*time.Millisecond {
			t.Errorf("I4: retried after %s", wait)
		}
	}
	b.empty()
}

func TestAReminderThatCannotBeSentIsDead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change     func(*bench)
		script     []answer
		want       reminder.Reason
		wantSends  int
		diagnostic string
	}{
		"permanently refused":               {park, []answer{refuse}, reminder.InvalidRecipient, 1, "status 422"},
		"refused after a busy answer":       {park, []answer{busy, refuse}, reminder.InvalidRecipient, 2, "status 422"},
		"busy to the end of the budget":     {park, []answer{busy}, reminder.RetryBudgetExhausted, 3, "status 503"},
		"row 16: unknown under Park":        {park, []answer{silent}, reminder.ReconciliationRequired, 1, "timeout"},
		"unknown to the end, under Retry":   {repeat, []answer{silent}, reminder.ReconciliationRequired, 3, "timeout"},
		"unknown to the end, deduping":      {nil, []answer{silent}, reminder.ReconciliationRequired, 3, "timeout"},
		"refused after an unknown one":      {nil, []answer{silent, refuse}, reminder.ReconciliationRequired, 2, "status 422"},
		"row 13: what makes a sender panic": {nil, []answer{crash}, reminder.ReconciliationRequired, 3, "the sender panicked"},
		"row 13: the same under Park":       {park, []answer{crash}, reminder.ReconciliationRequired, 1, "the sender panicked"},
		"row 17: told to wait beyond the deadline": {park, []answer{func(context.Context, reminder.Message) reminder.Result {
			return reminder.Result{Outcome: reminder.Transient, RetryAfter: 2 * time.Hour, Diagnostic: "status 429"}
		}}, reminder.DeadlineReached, 1, "status 429"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.change)
			b.receiver.answers("a", tt.script...)
			b.start(nil)
			r, other := b.due("a", nil), b.due("b", nil)
			got := b.settled(r.Key, reminder.Dead, tt.want)
			b.settled(other.Key, reminder.Sent, "")
			b.empty()
			b.sends("a", tt.wantSends)
			if got.Attempts != tt.wantSends || got.Diagnostic != tt.diagnostic {
				t.Errorf("got %d attempts, diagnostic %q; want %d, %q", got.Attempts, got.Diagnostic, tt.wantSends, tt.diagnostic)
			}
			if diff := cmp.Diff(map[reminder.Reason]int{tt.want: 1}, b.letters()); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
		})
	}
}

// Row 15: the receiver has accepted it, and the answer was lost.
func TestRow15AnUnknownOutcomeIsSentAgainWithTheSameKey(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){"where the channel dedupes": nil, "under Retry": repeat} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, change)
			b.receiver.answers("a", silent, accept)
			b.start(nil)
			got := b.settled(b.due("a", nil).Key, reminder.Sent, "")
			b.sends("a", 2)
			if got.Unresolved || got.Attempts != 2 {
				t.Errorf("got unresolved %t, %d attempts", got.Unresolved, got.Attempts)
			}
		})
	}
}

func TestAMessageThatDoesNotRenderIsDead(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.people[0].Attributes = map[string]string{"surname": "canary-value"} })
	b.start(nil)
	r, other := b.due("a", nil), b.due("b", nil)
	got := b.settled(r.Key, reminder.Dead, reminder.InvalidMessage)
	b.settled(other.Key, reminder.Sent, "")
	b.empty()
	b.sends("a", 0)
	if got.Attempts != 0 || !strings.Contains(got.Diagnostic, "name") || strings.Contains(got.Diagnostic+b.logged.String(), "canary-value") {
		t.Errorf("got %d attempts, diagnostic %q", got.Attempts, got.Diagnostic)
	}
	if diff := cmp.Diff(map[reminder.Reason]int{reminder.InvalidMessage: 1}, b.letters()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

func TestAJobThatIsNotDueIsNotSentEarly(t *testing.T) {
	t.Parallel()
	b := newBench(t, park)
	b.start(nil)
	r, _ := b.plan("a", func(r *reminder.Record) { r.ReleaseTime = time.Now().UTC().Add(1500 * time.Millisecond) })
	b.again(r)
	b.settled(r.Key, reminder.Sent, "")
	if at := b.sends("a", 1)[0].at; at.Before(r.ReleaseTime) {
		t.Errorf("I4: sent %s early", r.ReleaseTime.Sub(at))
	}
	b.empty()
}

func TestNothingIsSentAtOrAfterTheDeadline(t *testing.T) {
	t.Parallel()
	t.Run("a job that comes too late", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, park)
		b.start(nil)
		r := b.due("a", func(r *reminder.Record) { r.DeadlineTime = r.ReleaseTime.Add(time.Millisecond) })
		b.settled(r.Key, reminder.Dead, reminder.DeadlineReached)
		b.sends("a", 0)
	})
	t.Run("a reminder that is retried until then", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, func(b *bench) {
			park(b)
			b.schedule.Retry = reminder.Retry{Attempts: 100, Delays: []time.Duration{150 * time.Millisecond}}
		})
		b.receiver.answers("a", busy)
		b.start(nil)
		r := b.due("a", func(r *reminder.Record) { r.DeadlineTime = r.ReleaseTime.Add(2500 * time.Millisecond) })
		got := b.settled(r.Key, reminder.Dead, reminder.DeadlineReached)
		calls := b.receiver.of("a")
		if len(calls) < 2 || got.Attempts != len(calls) {
			t.Errorf("%d submissions, counted %d", len(calls), got.Attempts)
		}
		for _, c := range calls {
			if !c.at.Before(r.DeadlineTime) {
				t.Errorf("I4: sent %s after the deadline", c.at.Sub(r.DeadlineTime))
			}
		}
	})
	t.Run("the call itself ends there", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, func(b *bench) { park(b); b.channel.SendTimeout = 900 * time.Millisecond })
		ended := make(chan time.Time, 1)
		b.receiver.answers("a", func(ctx context.Context, m reminder.Message) reminder.Result {
			limit, _ := ctx.Deadline()
			ended <- limit
			return accept(ctx, m)
		})
		b.start(nil)
		deadline := time.Now().UTC().Add(600 * time.Millisecond)
		r := b.due("a", func(r *reminder.Record) { r.DeadlineTime = deadline })
		b.until(r.Key, "settled", func(r reminder.Record) bool { return r.State.Terminal() })
		select {
		case limit := <-ended:
			if limit.After(deadline.Add(50 * time.Millisecond)) {
				t.Errorf("the submission may go on until %s after the deadline", limit.Sub(deadline))
			}
		default: // too slow a machine: it was not sent at all
		}
	})
}

// A worker whose clock is an hour slow goes by the broker's.
func TestASlowClockNeitherHoldsUpNorHurries(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { park(b); b.schedule.Retry.Delays = []time.Duration{2 * time.Second} })
	b.receiver.answers("a", busy, accept)
	b.start(func(o *worker.Options) { o.Now = func() time.Time { return time.Now().Add(-time.Hour) } })
	r := b.due("a", nil)
	got := b.settled(r.Key, reminder.Sent, "")
	calls := b.sends("a", 2)
	// The broker's time of the job is older than the job in hand, so that the wait
	// is shorter by what the delivery took.
	if wait := calls[1].at.Sub(calls[0].at); wait < time.Second {
		t.Errorf("retried after %s, want about 2s", wait)
	}
	if off := time.Since(got.FinishTime); off > 10*time.Minute {
		t.Errorf("finished %s ago by the record", off)
	}
	past := b.due("b", func(r *reminder.Record) {
		r.ReleaseTime, r.DeadlineTime = r.ReleaseTime.Add(-time.Minute), r.ReleaseTime
	})
	b.settled(past.Key, reminder.Dead, reminder.DeadlineReached)
	b.sends("b", 0)
}

func TestARedeliveredOutcomeIsSuppressedAndCounted(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*reminder.Record){
		"sent":      func(r *reminder.Record) { r.State = reminder.Sent },
		"cancelled": func(r *reminder.Record) { r.State, r.Reason = reminder.Cancelled, reminder.Suspended },
		"discarded": func(r *reminder.Record) { r.State = reminder.Discarded },
		"dead":      func(r *reminder.Record) { r.State, r.Reason = reminder.Dead, reminder.EndpointGone },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) { b.schedule.Name = "another" }) // its own is long forgotten
			b.start(nil)
			r, _ := b.plan("a", func(r *reminder.Record) { change(r); r.FinishTime = r.ReleaseTime })
			b.again(r)
			got := b.until(r.Key, "suppressed", func(r reminder.Record) bool { return r.Suppressed == 1 })
			b.empty()
			b.sends("a", 0)
			if got.State != r.State || got.Reason != r.Reason || !got.FinishTime.Equal(r.FinishTime) {
				t.Errorf("I3: became %s(%s)", got.State, got.Reason)
			}
			if want := map[bool]int{true: 1}[r.State == reminder.Dead]; len(b.letters()) != want {
				t.Errorf("%d dead letters, want %d: whoever wrote the record may have died before", len(b.letters()), want)
			}
		})
	}
}

// The next worker finds what a dead one left behind.
func TestALapsedClaimIsTakenOver(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change     func(*bench)
		state      reminder.State
		unmarked   bool
		want       reminder.State
		wantReason reminder.Reason
		wantSends  int
	}{
		"row 2: claimed under Park, nothing was sent":     {park, reminder.Claimed, false, reminder.Sent, "", 1},
		"row 3: sending under Park is parked":             {park, reminder.Sending, false, reminder.Dead, reminder.ReconciliationRequired, 0},
		"row 3: sending under Retry is repeated":          {repeat, reminder.Sending, false, reminder.Sent, "", 1},
		"row 4: claimed where the channel dedupes":        {nil, reminder.Claimed, true, reminder.Sent, "", 1},
		"claimed where the channel deduped until an edit": {park, reminder.Claimed, true, reminder.Dead, reminder.ReconciliationRequired, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.change)
			b.start(nil)
			until := time.Now().UTC().Add(700 * time.Millisecond)
			r, _ := b.plan("a", func(r *reminder.Record) {
				r.State, r.Unmarked, r.Owner, r.LeaseUntilTime = tt.state, tt.unmarked, "dead", until
			})
			b.again(r)
			got := b.settled(r.Key, tt.want, tt.wantReason)
			if got.FinishTime.Before(until) {
				t.Errorf("taken over %s before the lease ended", until.Sub(got.FinishTime))
			}
			if calls := b.receiver.of("a"); len(calls) != tt.wantSends {
				t.Errorf("%d submissions, want %d", len(calls), tt.wantSends)
			}
		})
	}
}

// Settings that would break the promise are refused, with the remedy.
func TestAChannelWithUnsafeTimesIsNotOpened(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change  func(*bench)
		options func(*worker.Options)
		want    string
	}{
		"no send timeout":            {func(b *bench) { b.channel.SendTimeout = 0 }, nil, "must rise in this order"},
		"ack wait of a send timeout": {func(b *bench) { b.channel.AckWait = sendTimeout }, nil, "must rise in this order"},
		"lease of an ack wait":       {func(b *bench) { b.channel.Lease = ackWait }, nil, "must rise in this order"},
		"no concurrency":             {func(b *bench) { b.channel.Concurrency = 0 }, nil, "concurrency is 0"},
		"retention of two leases":    {nil, func(o *worker.Options) { o.Retention = 2 * lease }, "raise --retention"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.change)
			r := b.due("a", nil)
			b.start(tt.options)
			b.heard(tt.want, 1)
			b.sends("a", 0)
			if got := b.now(r.Key); got.State != reminder.Scheduled {
				t.Errorf("became %s", got.State)
			}
		})
	}
}
