package worker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestWhatMustNotBeSentIsCancelled(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*bench)
		want   reminder.Reason
	}{
		"row 50: suspended":           {func(b *bench) { b.schedule.Suspended = true }, reminder.Suspended},
		"row 49: edited":              {func(b *bench) { b.schedule.Epoch = 2 }, reminder.Superseded},
		"row 48: deleted":             {func(b *bench) { b.schedule.Deleted = true }, reminder.ScheduleDeleted},
		"the recipient is not active": {func(b *bench) { b.people[0].Active = false }, reminder.RecipientInactive},
		"the recipient was removed":   {func(b *bench) { b.people = b.people[1:] }, reminder.RecipientInactive},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.change)
			b.start(nil)
			r := b.due("a", nil)
			b.settled(r.Key, reminder.Cancelled, tt.want)
			b.empty()
			b.sends("a", 0)
			if n := len(b.letters()); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

func TestARetryIsCheckedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { park(b); b.schedule.Retry.Delays = []time.Duration{time.Second} })
	b.receiver.answers("a", busy)
	b.start(nil)
	r := b.due("a", nil)
	b.until(r.Key, "retrying", func(r reminder.Record) bool { return r.State == reminder.Retrying })
	entry, revision, err := b.Registry.Schedule(t.Context(), "shop", "renewal")
	b.must(err)
	entry.Suspended = true
	b.register(entry, revision)
	b.settled(r.Key, reminder.Cancelled, reminder.Suspended)
	b.sends("a", 1)
}

// What cannot be proven is held: a lost bucket must not look like a deletion.
func TestWhatCannotBeProvenIsHeldAndThenSent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil, heal func(*bench)
		want        string
	}{
		"the schedule is not registered": {
			func(b *bench) { b.schedule.Name = "another" },
			func(b *bench) {
				b.schedule.Name = "renewal"
				b.register(b.schedule, 0)
			}, "is not registered",
		},
		"the audience is not complete": {
			func(b *bench) { b.schedule.AudienceHash, b.people = "h2", b.people[1:] },
			func(b *bench) {
				b.must(b.Audience.Replace(b.Context(), "shop", "renewal", "h2", []reminder.Recipient{{ID: "a", Active: true, Attributes: map[string]string{"name": "Ada"}}}))
			}, "is incomplete",
		},
		"the schedule cannot be read": {
			func(b *bench) {
				b.schedule.Name = "another"
				brokertest.Publish(b.T, b.url, "$KV.reminders-registry.schedule.shop.renewal", []byte("{"))
			},
			func(b *bench) {
				_, revision, _ := b.Registry.Schedule(b.Context(), "shop", "renewal")
				b.schedule.Name = "renewal"
				b.register(b.schedule, revision)
			}, "cannot be read",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.spoil)
			b.start(nil)
			r := b.due("a", nil)
			b.heard(tt.want, 2)
			if got := b.now(r.Key); got.State != reminder.Scheduled || len(b.letters()) != 0 {
				t.Errorf("became %s(%s), %v", got.State, got.Reason, b.letters())
			}
			b.sends("a", 0)
			tt.heal(b)
			b.settled(r.Key, reminder.Sent, "")
		})
	}
}

func TestWhatCannotBeProvenIsDeadAfterItsDeadline(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*bench)
		record func(*reminder.Record)
		want   reminder.Reason
	}{
		"the schedule is not registered": {func(b *bench) { b.schedule.Name = "another" }, nil, reminder.DeadlineReached},
		"the audience is not complete":   {func(b *bench) { b.schedule.AudienceHash, b.people = "h2", b.people[1:] }, nil, reminder.DeadlineReached},
		"and its outcome was open": {func(b *bench) { b.schedule.Name = "another" }, func(r *reminder.Record) {
			r.State, r.NextAttemptTime, r.Unresolved = reminder.Retrying, r.ReleaseTime, true
		}, reminder.ReconciliationRequired},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.change)
			b.start(nil)
			r := b.due("a", func(r *reminder.Record) {
				r.DeadlineTime = r.ReleaseTime.Add(2500 * time.Millisecond)
				if tt.record != nil {
					tt.record(r)
				}
			})
			got := b.settled(r.Key, reminder.Dead, tt.want)
			if got.FinishTime.Before(r.DeadlineTime) {
				t.Error("ended before its deadline")
			}
			b.empty()
			b.sends("a", 0)
			if diff := cmp.Diff(map[reminder.Reason]int{tt.want: 1}, b.letters()); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
		})
	}
}
