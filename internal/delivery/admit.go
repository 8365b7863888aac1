package delivery

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Admit decides what to do with a delivered due job, from the ledger's record
// and the facts of the moment; the job itself is only a hint. Now is the later
// of the worker's clock and the broker's timestamp of the job.
func Admit(r reminder.Record, f Facts, p Policy, owner string, now time.Time) Decision {
	if r.State.Terminal() {
		return Decision{Action: Suppress, Record: Suppressed(r, p.Retention, now)}
	}
	if held(r) && now.Before(r.LeaseUntilTime) {
		return Decision{Action: Wait, At: r.LeaseUntilTime}
	}
	found := r
	r = inherit(r)
	switch f.Reconciled.Verdict {
	case reminder.Yes:
		return Decision{Action: Settle, Record: acceptedAfterAll(r, f.Reconciled, p, now)}
	case reminder.No:
		r.Unresolved = false
	case reminder.Unclear:
	}
	d := admit(r, f, p, owner, now)
	at := dueTime(r)
	if d.Question == AskReconciled {
		at = askTime(r, p)
	}
	if now.Before(at) && (d.Action == Submit || d.Action == Ask) {
		return Decision{Action: Reschedule, At: at, Record: found}
	}
	return d
}

// explained is the diagnostic of a record that ends for a reason before a submission.
func explained(r reminder.Record, f Facts, reason reminder.Reason) string {
	switch {
	case reason == reminder.InvalidEligibility:
		return clip("spec.delivery.eligibility: "+f.Undecidable, maxDiagnostic)
	case reason == reminder.DeadlineReached && f.Paused != nil:
		return clip(pausedText(f.Paused.Diagnostic), maxDiagnostic)
	}
	return r.Diagnostic
}

// admit decides as if the reminder were due.
func admit(r reminder.Record, f Facts, p Policy, owner string, now time.Time) Decision {
	if reason, state := obstacle(r, f, p, now); reason != "" {
		r.Diagnostic = explained(r, f, reason)
		return conclude(r, state, reason, f.Reconciled, p, now)
	}
	if p.AsksEligibility && f.Eligible.Verdict != reminder.Yes && !now.Before(dueTime(r)) {
		return unpermitted(r, f, p, now)
	}
	return Decision{Action: Submit, Record: claim(r, p, owner, now)}
}

// MarkSending is the revision that precedes a submission on a channel that
// cannot deduplicate: from here on the outcome is unknown until it is recorded.
func MarkSending(r reminder.Record, p Policy, now time.Time) reminder.Record {
	next := advance(r, reminder.Sending, now)
	next.Owner, next.LeaseUntilTime = r.Owner, now.Add(p.Lease)
	next.Attempts++
	return next
}

func held(r reminder.Record) bool { return r.State == reminder.Claimed || r.State == reminder.Sending }

// inherit marks what a lapsed lease leaves open: its worker may have submitted
// the reminder, unless it would have written a Sending mark first. What the
// channel says of itself today does not matter: it may have been edited since.
func inherit(r reminder.Record) reminder.Record {
	if r.State == reminder.Sending || r.State == reminder.Claimed && r.Unmarked {
		r.Unresolved = true
	}
	return r
}

// obstacle is why the reminder ends here instead of being claimed.
func obstacle(r reminder.Record, f Facts, p Policy, now time.Time) (reminder.Reason, reminder.State) {
	if r.Unresolved && !p.resend() {
		return reminder.ReconciliationRequired, reminder.Dead
	}
	if reason := f.refusal(r); reason != "" {
		return reason, reminder.Cancelled
	}
	due := !now.Before(dueTime(r)) // eligibility is judged at the attempt, not before
	switch {
	case f.NotEligible && due:
		return reminder.NotEligible, reminder.Cancelled
	case !now.Before(r.DeadlineTime):
		return reminder.DeadlineReached, reminder.Dead
	case tried(r) >= p.Retry.Attempts:
		return reminder.RetryBudgetExhausted, reminder.Dead
	case held(r) && r.Takeovers-r.LastReplay().Takeovers >= maxTakeovers:
		return reminder.Poison, reminder.Dead
	case f.Undecidable != "" && due:
		return reminder.InvalidEligibility, reminder.Dead
	}
	return "", ""
}

// dueTime is the earliest time of the next submission.
func dueTime(r reminder.Record) time.Time {
	if r.State == reminder.Retrying && r.NextAttemptTime.After(r.ReleaseTime) {
		return r.NextAttemptTime
	}
	return r.ReleaseTime
}

func claim(r reminder.Record, p Policy, owner string, now time.Time) reminder.Record {
	next := advance(r, reminder.Claimed, now)
	next.Owner, next.LeaseUntilTime, next.Unmarked = owner, now.Add(p.Lease), p.Dedupes
	if held(r) {
		next.Takeovers++
	}
	return keep(next, p.Retention, now)
}
