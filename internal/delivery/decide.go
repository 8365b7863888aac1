package delivery

import (
	"time"
	"unicode/utf8"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Decide says what becomes of a claimed reminder after one submission. The
// record is the one that the caller wrote last: Claimed, or Sending where the
// channel cannot deduplicate.
func Decide(r reminder.Record, res reminder.Result, p Policy, now time.Time) Decision {
	if res.Fault == reminder.FaultChannel && res.Outcome == reminder.Transient {
		return excuse(r, res, now)
	}
	d := judge(submitted(r), res, p, now)
	if d.Action == Ask {
		return d
	}
	found := r.Footprint() // as it is stored, without this submission
	d.Record.Previous = &found
	return d
}

// submitted counts a submission; a Sending mark has counted it already.
func submitted(r reminder.Record) reminder.Record {
	if r.State == reminder.Claimed {
		r.Attempts++
	}
	return r
}

func judge(r reminder.Record, res reminder.Result, p Policy, now time.Time) Decision {
	r.Receipt, r.Diagnostic = "", clip(res.Diagnostic, maxDiagnostic)
	if res.Outcome == reminder.Accepted {
		return Decision{Action: Settle, Record: accepted(r, res, p.Retention, now)}
	}
	if res.Reconciled.Verdict == reminder.Yes {
		return Decision{Action: Settle, Record: accepted(r, reconciled(res.Reconciled), p.Retention, now)}
	}
	switch res.Outcome {
	case reminder.Permanent:
		// A refusal says nothing of an earlier submission whose outcome is open, also
		// where the channel deduplicates: a proxy or an expired token can refuse
		// before anyone looks at the key.
		return conclude(r, reminder.Dead, permanentReason(res), res.Reconciled, p, now)
	case reminder.Transient:
	default:
		r.Unresolved = true
		if !p.resend() && res.Reconciled.Verdict != reminder.No {
			return conclude(r, reminder.Dead, reminder.ReconciliationRequired, res.Reconciled, p, now)
		}
	}
	if r.Unresolved && res.Reconciled.Verdict == reminder.No {
		return recheck(r, res, p, now)
	}
	return again(r, res, p, now)
}

// Refuse ends a claimed reminder that cannot be submitted at all, such as one
// whose message does not render.
func Refuse(r reminder.Record, reason reminder.Reason, diagnostic string, p Policy, now time.Time) Decision {
	r.Diagnostic = clip(diagnostic, maxDiagnostic)
	return Decision{Action: Settle, Record: end(r, reminder.Dead, reason, p.Retention, now)}
}

// Release gives a claim back before anything was submitted, such as when the
// worker is told to stop: the reminder is due again at once.
func Release(r reminder.Record, now time.Time) Decision {
	next := advance(r, reminder.Scheduled, now)
	if r.State == reminder.Sending {
		next.Attempts-- // the mark counted a submission that was not made
	}
	return Decision{Action: Retry, Record: next, At: now}
}

// excuse gives a claim back after the channel itself was refused: no reminder pays
// for that with an attempt. It is due again after RetryAfter, or at its deadline,
// which then ends it and finds in the diagnostic why.
func excuse(r reminder.Record, res reminder.Result, now time.Time) Decision {
	at := now.Add(res.RetryAfter)
	if at.After(r.DeadlineTime) {
		at = r.DeadlineTime
	}
	d := Release(r, now)
	d.At, d.Record.Receipt, d.Record.Diagnostic = at, "", clip(pausedText(res.Diagnostic), maxDiagnostic)
	return d
}

func pausedText(diagnostic string) string {
	const text = "the channel was paused"
	if diagnostic == "" {
		return text
	}
	return text + ": " + diagnostic
}

// Upgrade is what a late acceptance makes of a record that another worker has
// changed meanwhile: the channel's word is the truth, so everything but a Sent
// one becomes Sent. Where the channel deduplicates, no mark has counted the late
// submission, and it is counted now.
func Upgrade(r reminder.Record, res reminder.Result, p Policy, now time.Time) (reminder.Record, bool) {
	if r.State == reminder.Sent || res.Outcome != reminder.Accepted {
		return r, false
	}
	next := accepted(r, res, p.Retention, now)
	if p.Dedupes {
		next.Attempts++
	}
	return next, true
}

func accepted(r reminder.Record, res reminder.Result, retention time.Duration, now time.Time) reminder.Record {
	r.Unresolved, r.MayRepeat = false, false
	r.Receipt, r.Diagnostic = clip(res.Receipt, maxReceipt), ""
	return end(r, reminder.Sent, "", retention, now)
}

// again schedules the next attempt inside budget and deadline, or ends.
func again(r reminder.Record, res reminder.Result, p Policy, now time.Time) Decision {
	if tried(r) >= p.Retry.Attempts {
		return conclude(r, reminder.Dead, reminder.RetryBudgetExhausted, res.Reconciled, p, now)
	}
	return putOff(r, max(Backoff(p.Retry, tried(r), r.Key), res.RetryAfter), res.Reconciled, p, now)
}

// putOff waits until a later attempt, or ends where the deadline is sooner.
func putOff(r reminder.Record, wait time.Duration, asked reminder.Answer, p Policy, now time.Time) Decision {
	at := now.Add(wait)
	if !at.Before(r.DeadlineTime) {
		return conclude(r, reminder.Dead, reminder.DeadlineReached, asked, p, now)
	}
	next := advance(r, reminder.Retrying, now)
	next.NextAttemptTime = at
	next.Retries++
	return Decision{Action: Retry, Record: keep(next, p.Retention, now), At: at}
}

func permanentReason(res reminder.Result) reminder.Reason {
	if res.Reason == "" {
		return reminder.PermanentFailure
	}
	return res.Reason
}

const (
	maxDiagnostic = 256
	maxReceipt    = 128
)

// clip cuts text to n bytes, between two characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
