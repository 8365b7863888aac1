package delivery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// noon is an hour before the deadline of dead reminders, and evening an hour after.
var (
	noon    = deadline.Add(-time.Hour)
	evening = deadline.Add(time.Hour)
)

func dead(reason reminder.Reason) func(*reminder.Record) {
	return func(r *reminder.Record) {
		r.Reason, r.Attempts, r.Diagnostic = reason, budget, "status 503"
		r.Unresolved = reason == reminder.ReconciliationRequired
	}
}

// replayed has been replayed n times before.
func replayed(n int) func(*reminder.Record) {
	return func(r *reminder.Record) {
		for range n {
			r.Replays = append(r.Replays, reminder.Replay{UID: "old", Action: reminder.ActionReplay, Attempts: r.Attempts, DeadlineTime: r.DeadlineTime})
		}
	}
}

func order(changes ...func(*delivery.ReplayOrder)) delivery.ReplayOrder {
	o := delivery.ReplayOrder{UID: "uid", Name: "after-outage", Why: "Gateway was down", Action: reminder.ActionReplay}
	for _, change := range changes {
		change(&o)
	}
	return o
}

func discard(o *delivery.ReplayOrder) { o.Action = reminder.ActionDiscard }
func named(o *delivery.ReplayOrder)   { o.Named = true }
func extend(d time.Duration) func(*delivery.ReplayOrder) {
	return func(o *delivery.ReplayOrder) { o.Extend = d }
}

func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	exhausted := dead(reminder.RetryBudgetExhausted)
	tests := map[string]struct {
		record reminder.Record
		order  delivery.ReplayOrder
		facts  delivery.Facts
		now    time.Time
		want   reminder.Reason
	}{
		"nothing against a dead one":                                {in(reminder.Dead, exhausted), order(), delivery.Facts{Epoch: 1}, noon, ""},
		"what was sent":                                             {in(reminder.Sent), order(named), delivery.Facts{Epoch: 1}, noon, reminder.AlreadySent},
		"a discard of what was sent":                                {in(reminder.Sent), order(discard), delivery.Facts{Epoch: 1}, noon, reminder.AlreadySent},
		"what waits":                                                {in(reminder.Scheduled), order(named), delivery.Facts{Epoch: 1}, noon, reminder.NotDead},
		"what is in flight":                                         {in(reminder.Sending), order(named), delivery.Facts{Epoch: 1}, noon, reminder.NotDead},
		"what was cancelled":                                        {in(reminder.Cancelled), order(named), delivery.Facts{Epoch: 1}, noon, reminder.NotDead},
		"what was discarded":                                        {in(reminder.Discarded), order(named), delivery.Facts{Epoch: 1}, noon, reminder.NotDead},
		"L2: what is past its deadline":                             {in(reminder.Dead, exhausted), order(), delivery.Facts{Epoch: 1}, deadline.Add(time.Second), reminder.DeadlineReached},
		"what reaches its deadline now":                             {in(reminder.Dead, exhausted), order(), delivery.Facts{Epoch: 1}, deadline, reminder.DeadlineReached},
		"nothing before the deadline":                               {in(reminder.Dead, exhausted), order(), delivery.Facts{Epoch: 1}, deadline.Add(-1), ""},
		"nothing past the deadline that is extended":                {in(reminder.Dead, exhausted), order(extend(time.Second)), delivery.Facts{Epoch: 1}, evening, ""},
		"no discard past the deadline":                              {in(reminder.Dead, exhausted), order(discard), delivery.Facts{Epoch: 1}, evening, ""},
		"what was replayed too often":                               {in(reminder.Dead, exhausted, replayed(delivery.MaxReplays)), order(), delivery.Facts{Epoch: 1}, noon, reminder.ReplayBudgetExhausted},
		"nothing that was replayed once less":                       {in(reminder.Dead, exhausted, replayed(delivery.MaxReplays-1)), order(), delivery.Facts{Epoch: 1}, noon, ""},
		"no discard of what was replayed too often":                 {in(reminder.Dead, exhausted, replayed(delivery.MaxReplays)), order(discard), delivery.Facts{Epoch: 1}, noon, ""},
		"what may have been accepted":                               {in(reminder.Dead, dead(reminder.ReconciliationRequired)), order(), delivery.Facts{Epoch: 1}, noon, reminder.ReconciliationRequired},
		"nothing that may have been accepted, where it is named":    {in(reminder.Dead, dead(reminder.ReconciliationRequired)), order(named), delivery.Facts{Epoch: 1}, noon, ""},
		"no discard of what may have been accepted":                 {in(reminder.Dead, dead(reminder.ReconciliationRequired)), order(discard), delivery.Facts{Epoch: 1}, noon, ""},
		"what an edit of the times has replaced":                    {in(reminder.Dead, exhausted), order(), delivery.Facts{Epoch: 2}, noon, reminder.Superseded},
		"no discard of what an edit has replaced":                   {in(reminder.Dead, exhausted), order(discard), delivery.Facts{Epoch: 2}, noon, ""},
		"a replay of a suspended schedule":                          {in(reminder.Dead, exhausted), order(), delivery.Facts{Epoch: 1, Suspended: true}, noon, reminder.Suspended},
		"no discard of a suspended schedule":                        {in(reminder.Dead, exhausted), order(discard), delivery.Facts{Epoch: 1, Suspended: true}, noon, ""},
		"a replay of a deleted schedule":                            {in(reminder.Dead, exhausted), order(), delivery.Facts{Epoch: 1, Deleted: true}, noon, reminder.ScheduleDeleted},
		"a discard of a deleted schedule":                           {in(reminder.Dead, exhausted), order(discard), delivery.Facts{Epoch: 1, Deleted: true}, noon, reminder.ScheduleDeleted},
		"what was sent rather than that its schedule was deleted":   {in(reminder.Sent), order(), delivery.Facts{Deleted: true}, noon, reminder.AlreadySent},
		"a replay, though its own deadline and extension are equal": {in(reminder.Dead, exhausted), order(extend(0)), delivery.Facts{Epoch: 1}, deadline, reminder.DeadlineReached},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next, refusal := delivery.Replay(tt.record, tt.order, tt.facts, retention, tt.now)
			if refusal != tt.want {
				t.Fatalf("refused with %q, want %q", refusal, tt.want)
			}
			if refusal != "" {
				if diff := cmp.Diff(tt.record, next); diff != "" {
					t.Errorf("a refusal changed the record:\n%s", diff)
				}
				return
			}
			checkNext(t, tt.record, next, tt.now)
			want := reminder.Replay{
				UID: "uid", Name: "after-outage", Action: tt.order.Action, Why: "Gateway was down", Time: tt.now, Reason: tt.record.Reason, DeadTime: tt.record.FinishTime,
				Attempts: budget, DeadlineTime: next.DeadlineTime,
			}
			if diff := cmp.Diff(append(tt.record.Replays, want), next.Replays); diff != "" {
				t.Errorf("audit (-want +got):\n%s", diff)
			}
			if _, ok := next.HandledBy("uid"); !ok {
				t.Error("the record does not know that it was handled")
			}
		})
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	facts := delivery.Facts{Epoch: 1}
	again := func(r reminder.Record, o delivery.ReplayOrder, now time.Time) reminder.Record {
		next, refusal := delivery.Replay(r, o, facts, retention, now)
		if refusal != "" {
			t.Fatalf("refused: %s", refusal)
		}
		return next
	}
	t.Run("the retry budget begins anew, attempts go on counting", func(t *testing.T) {
		t.Parallel()
		r := again(in(reminder.Dead, dead(reminder.RetryBudgetExhausted)), order(), noon)
		for n := 1; n <= budget; n++ {
			now := noon
			if r.State == reminder.Retrying {
				now = r.NextAttemptTime
			}
			d := delivery.Admit(r, facts, dedupes, "w", now)
			if d.Action != delivery.Submit {
				t.Fatalf("submission %d: %s of %s(%s)", n, d.Action, d.Record.State, d.Record.Reason)
			}
			r = delivery.Decide(d.Record, transient, dedupes, d.Record.UpdateTime).Record
			if r.Attempts != budget+n {
				t.Fatalf("%d attempts, want %d", r.Attempts, budget+n)
			}
		}
		if r.State != reminder.Dead || r.Reason != reminder.RetryBudgetExhausted {
			t.Errorf("ended as %s(%s)", r.State, r.Reason)
		}
	})
	t.Run("what killed its workers may do so sixteen times again", func(t *testing.T) {
		t.Parallel()
		r := again(in(reminder.Dead, dead(reminder.Poison), takeovers(16), attempts(1)), order(), noon)
		now := noon
		for n := range 17 {
			d := delivery.Admit(r, facts, dedupes, "w", now)
			if d.Action != delivery.Submit {
				t.Fatalf("claim %d: %s of %s(%s)", n, d.Action, d.Record.State, d.Record.Reason)
			}
			r, now = d.Record, now.Add(lease)
		}
		if d := delivery.Admit(r, facts, dedupes, "w", now); d.Record.State != reminder.Dead {
			t.Errorf("claimed for the 17th time again: %s", d.Record.State)
		}
	})
	t.Run("an extended deadline bounds every later attempt, and planning again leaves it", func(t *testing.T) {
		t.Parallel()
		r := again(in(reminder.Dead, dead(reminder.DeadlineReached)), order(extend(time.Hour)), evening)
		end := evening.Add(time.Hour)
		if !r.DeadlineTime.Equal(end) || !r.ReleaseTime.Equal(release) || !r.LateTime.Equal(release.Add(5*time.Minute)) {
			t.Fatalf("deadline %s, release %s, late %s", r.DeadlineTime, r.ReleaseTime, r.LateTime)
		}
		if d := delivery.Admit(r, facts, dedupes, "w", end.Add(-1)); d.Action != delivery.Submit {
			t.Errorf("before the new deadline: %s", d.Action)
		}
		if d := delivery.Admit(r, facts, dedupes, "w", end); d.Record.Reason != reminder.DeadlineReached {
			t.Errorf("at the new deadline: %s(%s)", d.Action, d.Record.Reason)
		}
		if next, changed := delivery.Replan(r, planned(1), retention, evening); changed && !next.DeadlineTime.Equal(end) {
			t.Errorf("planned again, its deadline is %s", next.DeadlineTime)
		}
		if next, changed := delivery.Replan(r, planned(2), retention, evening); !changed || !next.DeadlineTime.Equal(end) || next.Epoch != 2 {
			t.Errorf("adopted: %t, epoch %d, deadline %s", changed, next.Epoch, next.DeadlineTime)
		}
	})
	t.Run("an extension never shortens", func(t *testing.T) {
		t.Parallel()
		if r := again(in(reminder.Dead, dead(reminder.EndpointGone)), order(extend(time.Minute)), noon); !r.DeadlineTime.Equal(deadline) {
			t.Errorf("the deadline is %s", r.DeadlineTime)
		}
	})
	t.Run("what may have been accepted is sent again by Park too, once, and stays doubtful", func(t *testing.T) {
		t.Parallel()
		r := again(in(reminder.Dead, dead(reminder.ReconciliationRequired)), order(named), noon)
		d := delivery.Admit(r, facts, park, "w", noon)
		if d.Action != delivery.Submit {
			t.Fatalf("%s of %s(%s)", d.Action, d.Record.State, d.Record.Reason)
		}
		marked := delivery.MarkSending(d.Record, park, noon)
		for name, res := range map[string]reminder.Result{"refused": permanent, "unknown again": unknown} {
			if end := delivery.Decide(marked, res, park, noon).Record; end.State != reminder.Dead || end.Reason != reminder.ReconciliationRequired {
				t.Errorf("I6: %s: %s(%s)", name, end.State, end.Reason)
			}
		}
		if lapsed := delivery.Admit(marked, facts, park, "w2", noon.Add(lease)); lapsed.Action != delivery.Settle || lapsed.Record.Reason != reminder.ReconciliationRequired {
			t.Errorf("I2: after a crash in the call: %s of %s", lapsed.Action, lapsed.Record.State)
		}
		if end := delivery.Decide(marked, accepted, park, noon).Record; end.State != reminder.Sent || end.MayRepeat || end.Unresolved {
			t.Errorf("accepted: %+v", end)
		}
	})
	t.Run("the reason is cut", func(t *testing.T) {
		t.Parallel()
		long := order(func(o *delivery.ReplayOrder) { o.Why = strings.Repeat("ä", 1024) })
		if r := again(in(reminder.Dead, dead(reminder.EndpointGone)), long, noon); len(r.Replays[0].Why) != 256 {
			t.Errorf("%d bytes", len(r.Replays[0].Why))
		}
	})
	t.Run("a late acceptance upgrades also what was discarded", func(t *testing.T) {
		t.Parallel()
		r := again(in(reminder.Dead, dead(reminder.ReconciliationRequired)), order(discard), noon)
		if next, ok := delivery.Upgrade(r, accepted, park, noon); !ok || next.State != reminder.Sent {
			t.Errorf("%t, %s", ok, next.State)
		}
	})
}
