package delivery

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// leastPause is the shortest wait before a question is put again that found no
// answer.
const leastPause = time.Second

// conclude ends a reminder, unless it would wait for a person and the channel can
// be asked before what it knows.
func conclude(r reminder.Record, to reminder.State, reason reminder.Reason, asked reminder.Answer, p Policy, now time.Time) Decision {
	next := end(r, to, reason, p.Retention, now)
	if next.Reason == reminder.ReconciliationRequired {
		if p.Reconciles && asked.Verdict == "" {
			return Decision{Action: Ask, Question: AskReconciled}
		}
		next.Diagnostic = remark(r.Diagnostic, "reconcileURL", asked)
	}
	return Decision{Action: Settle, Record: next}
}

// remark adds to a diagnostic what was answered.
func remark(diagnostic, asked string, a reminder.Answer) string {
	if a.Text == "" {
		return diagnostic
	}
	if diagnostic != "" {
		asked = "; " + asked
	}
	return clip(diagnostic+asked+": "+a.Text, maxDiagnostic)
}

// recheck puts a reminder off whose submission has an unknown outcome, although
// the channel says that it has not accepted it: what took too long may arrive
// there a moment later. After a lease nothing of the submission is under way any
// more, and Admit asks again and believes the answer. Where the deadline is
// sooner, a person has to find out.
func recheck(r reminder.Record, res reminder.Result, p Policy, now time.Time) Decision {
	return putOff(r, max(Backoff(p.Retry, r.Attempts, r.Key), res.RetryAfter, p.Lease), res.Reconciled, p, now)
}

// askTime is when nothing of an earlier submission is under way any more, so that
// what the channel says of it can be believed.
func askTime(r reminder.Record, p Policy) time.Time {
	at := dueTime(r)
	if after := r.UpdateTime.Add(p.Lease); r.State == reminder.Retrying && after.After(at) {
		return after
	}
	return at
}

// unpermitted is what becomes of a due reminder without the word of eligibilityURL:
// it is asked for, or it was no, or there was none. That costs no attempt: attempts
// count submissions.
func unpermitted(r reminder.Record, f Facts, p Policy, now time.Time) Decision {
	if f.Eligible.Verdict == "" {
		return Decision{Action: Ask, Question: AskEligible}
	}
	r.Diagnostic = remark("", "eligibilityURL", f.Eligible)
	if f.Eligible.Verdict == reminder.No {
		return conclude(r, reminder.Cancelled, reminder.NotEligible, f.Reconciled, p, now)
	}
	wait := max(Backoff(p.Retry, r.Retries+1, r.Key), f.Eligible.RetryAfter, leastPause)
	return putOff(r, wait, f.Reconciled, p, now)
}

// acceptedAfterAll is a reminder whose acceptance the channel confirms when it is
// asked. Where it deduplicates, no mark has counted the submission, and it is
// counted now.
func acceptedAfterAll(r reminder.Record, a reminder.Answer, p Policy, now time.Time) reminder.Record {
	next := accepted(r, reconciled(a), p.Retention, now)
	if r.State == reminder.Claimed {
		next.Attempts++
	}
	return next
}

// reconciled is a confirmation as a result.
func reconciled(a reminder.Answer) reminder.Result {
	return reminder.Result{Outcome: reminder.Accepted, Receipt: "reconciled: " + a.Text}
}
