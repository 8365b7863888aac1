package delivery_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const (
	retention = 7 * 24 * time.Hour
	lease     = time.Minute
	budget    = 3
)

var (
	key      = reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-03T08:00:00Z", Recipient: "acct_1", Channel: "mail"}
	release  = time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC)
	deadline = release.Add(4 * time.Hour)
	retry    = reminder.Retry{Attempts: budget, Delays: []time.Duration{time.Minute}}

	dedupes = delivery.Policy{Retry: retry, Dedupes: true, Lease: lease, Retention: retention}
	park    = delivery.Policy{Retry: retry, OnUnknown: reminder.ParkUnknown, Lease: lease, Retention: retention}
	repeat  = delivery.Policy{Retry: retry, OnUnknown: reminder.RetryUnknown, Lease: lease, Retention: retention}

	policies = map[string]delivery.Policy{"dedupes": dedupes, "Park": park, "Retry": repeat}
	states   = []reminder.State{
		reminder.Scheduled, reminder.Claimed, reminder.Sending, reminder.Retrying,
		reminder.Sent, reminder.Dead, reminder.Cancelled, reminder.Discarded,
	}
)

// in is a record in a state, with what belongs to the state.
// due is a second before the release, as jitter has it.
var due = release.Add(-time.Second)

func in(state reminder.State, changes ...func(*reminder.Record)) reminder.Record {
	r := delivery.Plan(delivery.Planned{Key: key, Epoch: 1, DueTime: due, LocalTime: "2026-11-03T09:00:00", ReleaseTime: release, DeadlineTime: deadline, LateTime: release.Add(5 * time.Minute)},
		retention, release.Add(-time.Hour))
	r.State = state
	switch state {
	case reminder.Claimed, reminder.Sending:
		r.Owner, r.LeaseUntilTime = "w1", release.Add(lease)
	case reminder.Retrying:
		r.NextAttemptTime = release.Add(30 * time.Minute)
	case reminder.Dead:
		r.Reason, r.FinishTime = reminder.PermanentFailure, release.Add(time.Minute)
	case reminder.Cancelled:
		r.Reason, r.FinishTime = reminder.Suspended, release.Add(time.Minute)
	case reminder.Sent, reminder.Discarded:
		r.FinishTime = release.Add(time.Minute)
	default:
	}
	if state.Terminal() {
		r.ExpireTime = deadline.Add(retention + time.Hour)
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func attempts(n int) func(*reminder.Record)  { return func(r *reminder.Record) { r.Attempts = n } }
func takeovers(n int) func(*reminder.Record) { return func(r *reminder.Record) { r.Takeovers = n } }
func unresolved(r *reminder.Record)          { r.Unresolved = true }
func unmarked(r *reminder.Record)            { r.Unmarked = true }

// maybeAccepted: some submission may have been accepted without our knowing, as
// far as the record can tell.
func maybeAccepted(r reminder.Record) bool {
	return r.Unresolved || r.State == reminder.Sending || r.State == reminder.Claimed && r.Unmarked
}

// checkNext holds one transition against what is true of all of them.
func checkNext(t testing.TB, before, after reminder.Record, now time.Time) {
	t.Helper()
	if err := after.Validate(); err != nil {
		t.Errorf("the next revision is not valid: %v", err)
	}
	previous := before.Footprint()
	if diff := cmp.Diff(&previous, after.Previous); diff != "" {
		t.Errorf("I5: Previous is not the footprint of the revision before (-want +got):\n%s", diff)
	}
	if after.ExpireTime.Before(before.ExpireTime) {
		t.Errorf("ExpireTime went back from %s to %s", before.ExpireTime, after.ExpireTime)
	}
	if after.Key != before.Key || !after.UpdateTime.Equal(now) {
		t.Errorf("key %s, updated %s; want %s, %s", after.Key, after.UpdateTime, before.Key, now)
	}
	dead, cancelled := after.State == reminder.Dead, after.State == reminder.Cancelled
	if (after.Reason != "") != (dead || cancelled) {
		t.Errorf("%s has reason %q", after.State, after.Reason)
	}
	if maybeAccepted(before) && (cancelled || dead && after.Reason != reminder.ReconciliationRequired) {
		t.Errorf("I6: %s(%s) although it may have been accepted", after.State, after.Reason)
	}
	if after.Unresolved && (after.State == reminder.Sent || cancelled || dead && after.Reason != reminder.ReconciliationRequired) {
		t.Errorf("I6: %s(%s) is unresolved", after.State, after.Reason)
	}
	held := after.State == reminder.Claimed || after.State == reminder.Sending
	if (after.Owner != "") != held || after.LeaseUntilTime.IsZero() == held {
		t.Errorf("%s has owner %q and lease until %s", after.State, after.Owner, after.LeaseUntilTime)
	}
	if after.NextAttemptTime.IsZero() == (after.State == reminder.Retrying) {
		t.Errorf("%s has next attempt %s", after.State, after.NextAttemptTime)
	}
	if after.FinishTime.IsZero() == after.State.Terminal() {
		t.Errorf("%s has finish time %s", after.State, after.FinishTime)
	}
	if after.State == reminder.Retrying && !after.NextAttemptTime.Before(after.DeadlineTime) {
		t.Errorf("I4: next attempt %s is not before the deadline %s", after.NextAttemptTime, after.DeadlineTime)
	}
	if after.State.Terminal() && after.ExpireTime.Before(now.Add(retention)) {
		t.Errorf("a terminal record expires %s, before the retention is over", after.ExpireTime)
	}
	checkCounts(t, before, after)
}

// checkCounts: counts rise by one at most, and each only in its own transition.
func checkCounts(t testing.TB, before, after reminder.Record) {
	t.Helper()
	if n := after.Attempts - before.Attempts; n < -1 || n > 1 || n == -1 && before.State != reminder.Sending {
		t.Errorf("attempts went from %d to %d on %s → %s", before.Attempts, after.Attempts, before.State, after.State)
	}
	for what, n := range map[string]int{
		"retries": after.Retries - before.Retries, "takeovers": after.Takeovers - before.Takeovers,
		"suppressed": after.Suppressed - before.Suppressed, "republished": after.Republished - before.Republished,
	} {
		if n < 0 || n > 1 {
			t.Errorf("%s changed by %d on %s → %s", what, n, before.State, after.State)
		}
	}
	if retried := after.State == reminder.Retrying && before.State != reminder.Retrying; retried != (after.Retries > before.Retries) {
		t.Errorf("retries went from %d to %d on %s → %s", before.Retries, after.Retries, before.State, after.State)
	}
}
