package delivery_test

import (
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	lapsed := release.Add(lease)
	tests := map[string]struct {
		record     reminder.Record
		facts      delivery.Facts
		policy     delivery.Policy
		now        time.Time
		want       delivery.Action
		wantState  reminder.State
		wantReason reminder.Reason
		wantAt     time.Time
	}{
		"a due reminder is claimed":             {in(reminder.Scheduled), delivery.Facts{Epoch: 1}, park, release, delivery.Submit, reminder.Claimed, "", time.Time{}},
		"one that is not due goes back":         {in(reminder.Scheduled), delivery.Facts{Epoch: 1}, park, release.Add(-1), delivery.Reschedule, reminder.Scheduled, "", release},
		"a retry waits for its time":            {in(reminder.Retrying), delivery.Facts{Epoch: 1}, park, release.Add(time.Minute), delivery.Reschedule, reminder.Retrying, "", release.Add(30 * time.Minute)},
		"a retry runs at its time":              {in(reminder.Retrying), delivery.Facts{Epoch: 1}, park, release.Add(30 * time.Minute), delivery.Submit, reminder.Claimed, "", time.Time{}},
		"a live claim is left alone":            {in(reminder.Claimed), delivery.Facts{Epoch: 1}, park, lapsed.Add(-1), delivery.Wait, "", "", lapsed},
		"a live submission is left alone":       {in(reminder.Sending), delivery.Facts{Epoch: 1}, park, lapsed.Add(-1), delivery.Wait, "", "", lapsed},
		"also past the deadline":                {in(reminder.Sending, func(r *reminder.Record) { r.LeaseUntilTime = deadline.Add(time.Minute) }), delivery.Facts{Epoch: 1}, park, deadline, delivery.Wait, "", "", deadline.Add(time.Minute)},
		"a lapsed claim is taken over":          {in(reminder.Claimed), delivery.Facts{Epoch: 1}, park, lapsed, delivery.Submit, reminder.Claimed, "", time.Time{}},
		"a lapsed submission is parked":         {in(reminder.Sending), delivery.Facts{Epoch: 1}, park, lapsed, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"or repeated where the channel says so": {in(reminder.Sending), delivery.Facts{Epoch: 1}, repeat, lapsed, delivery.Submit, reminder.Claimed, "", time.Time{}},
		"a lapsed claim without marks is repeated where the channel dedupes": {
			in(reminder.Claimed, unmarked), delivery.Facts{Epoch: 1}, dedupes, lapsed, delivery.Submit, reminder.Claimed, "", time.Time{},
		},
		"and parked where the channel no longer does": {
			in(reminder.Claimed, unmarked), delivery.Facts{Epoch: 1}, park, lapsed, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{},
		},
		"an unknown outcome is not repeated once the policy is Park": {
			in(reminder.Retrying, unresolved, attempts(1)), delivery.Facts{Epoch: 1}, park, release.Add(time.Hour), delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{},
		},
		"a deleted schedule cancels":        {in(reminder.Scheduled), delivery.Facts{Deleted: true, Suspended: true, Epoch: 2, Inactive: true}, park, release, delivery.Settle, reminder.Cancelled, reminder.ScheduleDeleted, time.Time{}},
		"a suspended one cancels":           {in(reminder.Scheduled), delivery.Facts{Suspended: true, Epoch: 2, Inactive: true}, park, release, delivery.Settle, reminder.Cancelled, reminder.Suspended, time.Time{}},
		"an edited one cancels":             {in(reminder.Scheduled), delivery.Facts{Epoch: 2, Inactive: true}, park, release, delivery.Settle, reminder.Cancelled, reminder.Superseded, time.Time{}},
		"an inactive recipient cancels":     {in(reminder.Scheduled), delivery.Facts{Epoch: 1, Inactive: true}, park, release, delivery.Settle, reminder.Cancelled, reminder.RecipientInactive, time.Time{}},
		"a retry can be cancelled too":      {in(reminder.Retrying), delivery.Facts{Epoch: 1, Suspended: true}, park, release, delivery.Settle, reminder.Cancelled, reminder.Suspended, time.Time{}},
		"but not one of unknown outcome":    {in(reminder.Retrying, unresolved), delivery.Facts{Epoch: 1, Suspended: true}, repeat, release, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"a record of a newer epoch is sent": {in(reminder.Scheduled, func(r *reminder.Record) { r.Epoch = 5 }), delivery.Facts{Epoch: 4}, park, release, delivery.Submit, reminder.Claimed, "", time.Time{}},
		"the deadline ends it":              {in(reminder.Scheduled), delivery.Facts{Epoch: 1}, park, deadline, delivery.Settle, reminder.Dead, reminder.DeadlineReached, time.Time{}},
		"also a lapsed claim":               {in(reminder.Claimed), delivery.Facts{Epoch: 1}, park, deadline, delivery.Settle, reminder.Dead, reminder.DeadlineReached, time.Time{}},
		"unless it may have been submitted": {in(reminder.Claimed, unmarked), delivery.Facts{Epoch: 1}, dedupes, deadline, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"the last moment is good enough":    {in(reminder.Scheduled), delivery.Facts{Epoch: 1}, park, deadline.Add(-1), delivery.Submit, reminder.Claimed, "", time.Time{}},
		"a spent budget ends it":            {in(reminder.Retrying, attempts(budget)), delivery.Facts{Epoch: 1}, park, release.Add(time.Hour), delivery.Settle, reminder.Dead, reminder.RetryBudgetExhausted, time.Time{}},
		"what kills its workers is poison":  {in(reminder.Claimed, takeovers(16)), delivery.Facts{Epoch: 1}, park, lapsed, delivery.Settle, reminder.Dead, reminder.Poison, time.Time{}},
		"fifteen dead workers are not":      {in(reminder.Claimed, takeovers(15)), delivery.Facts{Epoch: 1}, park, lapsed, delivery.Submit, reminder.Claimed, "", time.Time{}},
		"old takeovers do not count alone":  {in(reminder.Scheduled, takeovers(16)), delivery.Facts{Epoch: 1}, park, release, delivery.Submit, reminder.Claimed, "", time.Time{}},
		"a sent one is suppressed":          {in(reminder.Sent), delivery.Facts{Epoch: 1}, park, release.Add(time.Hour), delivery.Suppress, reminder.Sent, "", time.Time{}},
		"a dead one too":                    {in(reminder.Dead), delivery.Facts{Deleted: true}, park, deadline.Add(time.Hour), delivery.Suppress, reminder.Dead, reminder.PermanentFailure, time.Time{}},
		"a cancelled one too":               {in(reminder.Cancelled), delivery.Facts{Epoch: 1}, park, release, delivery.Suppress, reminder.Cancelled, reminder.Suspended, time.Time{}},
		"a discarded one too":               {in(reminder.Discarded), delivery.Facts{Epoch: 1}, park, release, delivery.Suppress, reminder.Discarded, "", time.Time{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := delivery.Admit(tt.record, tt.facts, tt.policy, "w2", tt.now)
			if d.Action != tt.want || d.Record.State != tt.wantState || d.Record.Reason != tt.wantReason || !d.At.Equal(tt.wantAt) {
				t.Errorf("got %s %s(%s) at %s, want %s %s(%s) at %s", d.Action, d.Record.State, d.Record.Reason, d.At, tt.want, tt.wantState, tt.wantReason, tt.wantAt)
			}
		})
	}
}

// Every state, time, lease, budget, history, fact and policy at once.
func TestAdmitKeepsTheInvariantsInEveryCell(t *testing.T) {
	t.Parallel()
	times := map[string]time.Time{
		"long before": release.Add(-time.Hour), "just before": release.Add(-1), "at the release": release, "under lease": release.Add(lease - 1),
		"lapsed": release.Add(lease), "at the retry": release.Add(30 * time.Minute), "just in time": deadline.Add(-1), "at the deadline": deadline, "long after": deadline.Add(retention),
	}
	facts := map[string]delivery.Facts{
		"good": {Epoch: 1}, "deleted": {Epoch: 1, Deleted: true}, "suspended": {Epoch: 1, Suspended: true}, "superseded": {Epoch: 2}, "inactive": {Epoch: 1, Inactive: true},
	}
	cells := 0
	for _, state := range states {
		for policyName, p := range policies {
			for timeName, now := range times {
				for factName, f := range facts {
					for _, n := range []int{0, budget - 1, budget, budget + 1} {
						for bits := range 8 {
							r := in(state, attempts(n))
							r.Unresolved, r.Unmarked = bits&1 != 0, bits&2 != 0 && state == reminder.Claimed
							if bits&4 != 0 {
								r.Takeovers = 16
							}
							if r.Unresolved && (state.Terminal() && state != reminder.Dead) {
								continue // cannot be
							}
							if r.Unresolved && state == reminder.Dead {
								r.Reason = reminder.ReconciliationRequired
							}
							cells++
							if checkAdmit(t, r, f, p, now); t.Failed() {
								t.Fatalf("in the cell: %s, %s, %s, %s, %d attempts, bits %03b", state, policyName, timeName, factName, n, bits)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

func checkAdmit(t *testing.T, r reminder.Record, f delivery.Facts, p delivery.Policy, now time.Time) {
	t.Helper()
	d := delivery.Admit(r, f, p, "w2", now)
	underLease := (r.State == reminder.Claimed || r.State == reminder.Sending) && now.Before(r.LeaseUntilTime)
	due := r.ReleaseTime
	if r.State == reminder.Retrying {
		due = r.NextAttemptTime
	}
	if (d.Action == delivery.Suppress) != r.State.Terminal() || (d.Action == delivery.Wait) != underLease {
		t.Errorf("I3: %s on %s", d.Action, r.State)
	}
	switch d.Action {
	case delivery.Submit:
		checkNext(t, r, d.Record, now)
		if now.Before(due) || !now.Before(r.DeadlineTime) {
			t.Errorf("I4: submits at %s, allowed in [%s, %s)", now, due, r.DeadlineTime)
		}
		if r.Attempts >= p.Retry.Attempts {
			t.Errorf("I8: submits beyond the budget")
		}
		if f != (delivery.Facts{Epoch: 1}) {
			t.Errorf("submits although %+v", f)
		}
		if maybeAccepted(r) && !p.Dedupes && p.OnUnknown != reminder.RetryUnknown {
			t.Errorf("I2: submits again what may have been accepted")
		}
		if maybeAccepted(r) && !d.Record.Unresolved {
			t.Errorf("I6: the claim forgets that the outcome of an earlier submission is open")
		}
		if d.Record.Attempts != r.Attempts || d.Record.State != reminder.Claimed || d.Record.Unmarked != p.Dedupes || d.Record.Owner != "w2" || !d.Record.LeaseUntilTime.Equal(now.Add(lease)) {
			t.Errorf("claim is %+v", d.Record)
		}
	case delivery.Settle:
		checkNext(t, r, d.Record, now)
		if s := d.Record.State; s != reminder.Dead && s != reminder.Cancelled || d.Record.Attempts != r.Attempts {
			t.Errorf("settles as %s with %d attempts", s, d.Record.Attempts)
		}
	case delivery.Suppress:
		checkNext(t, r, d.Record, now)
		if d.Record.State != r.State || d.Record.Reason != r.Reason || !d.Record.FinishTime.Equal(r.FinishTime) || d.Record.Suppressed != r.Suppressed+1 {
			t.Errorf("I3: suppressing changes more than its count: %+v", d.Record)
		}
	case delivery.Reschedule:
		if !d.At.Equal(due) || !now.Before(due) || !due.Before(r.DeadlineTime) {
			t.Errorf("reschedules to %s", d.At)
		}
	case delivery.Wait:
		if !d.At.Equal(r.LeaseUntilTime) {
			t.Errorf("waits until %s", d.At)
		}
	default:
		t.Errorf("unexpected action %s", d.Action)
	}
}
