package delivery

import (
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// MaxReplays is how often one reminder may be replayed: who has tried again so often
// in vain should look for the cause. It also bounds the history that the ledger must
// keep of one reminder.
const MaxReplays = 5

// maxWhy keeps the record small, in bytes: it is stored with each revision.
const maxWhy = 256

// ReplayOrder is what one ReminderReplay orders for the dead letters that it selects.
type ReplayOrder struct {
	// UID and Name identify the object; Why is its spec.reason.
	UID, Name, Why string
	Action         reminder.ReplayAction
	// Extend moves the deadline to that long after the replay, where that is later;
	// 0 lets the deadline stand.
	Extend time.Duration
	// Named: the order names the reminder's key, or ReconciliationRequired, so that it
	// also means what may have been accepted already.
	Named bool
}

// Replay decides what an order makes of a reminder: its next revision, or why it is
// refused. It does not ask whether the same order has handled it before; see
// [reminder.Record.HandledBy].
//
// The retry budget begins anew. What may have been accepted is sent again where the
// order names it: that is the person's decision, and remembered as MayRepeat. A Sent
// reminder is never touched.
func Replay(r reminder.Record, o ReplayOrder, f Facts, retention time.Duration, now time.Time) (reminder.Record, reminder.Reason) {
	if refusal := refuseReplay(r, o, f, now); refusal != "" {
		return r, refusal
	}
	entry := reminder.Replay{
		UID: o.UID, Name: o.Name, Action: o.Action, Why: clip(o.Why, maxWhy), Time: now,
		Reason: r.Reason, DeadTime: r.FinishTime, Attempts: r.Attempts, Takeovers: r.Takeovers, DeadlineTime: extended(r, o, now),
	}
	// advance keeps what end would decide: a person's word is not the policy's.
	next := advance(r, reminder.Discarded, now)
	if o.Action == reminder.ActionReplay {
		next.State = reminder.Scheduled
		next.DeadlineTime = entry.DeadlineTime
		next.MayRepeat, next.Unresolved = r.MayRepeat || r.Unresolved, false
		next.Receipt, next.Diagnostic = "", ""
	} else {
		next.FinishTime = now
	}
	next.Replays = append(slices.Clone(r.Replays), entry)
	return keep(next, retention, now), ""
}

// refuseReplay is why an order may not touch a reminder; empty when it may.
func refuseReplay(r reminder.Record, o ReplayOrder, f Facts, now time.Time) reminder.Reason {
	switch {
	case r.State == reminder.Sent:
		return reminder.AlreadySent
	case r.State != reminder.Dead:
		return reminder.NotDead
	case f.Deleted:
		return reminder.ScheduleDeleted
	case o.Action == reminder.ActionDiscard:
		return ""
	case r.Epoch < f.Epoch:
		return reminder.Superseded
	case f.Suspended:
		return reminder.Suspended
	case r.Reason == reminder.ReconciliationRequired && !o.Named:
		return reminder.ReconciliationRequired
	case replays(r) >= MaxReplays:
		return reminder.ReplayBudgetExhausted
	case !now.Before(extended(r, o, now)):
		return reminder.DeadlineReached
	}
	return ""
}

// extended is the deadline that an order leaves or gives.
func extended(r reminder.Record, o ReplayOrder, now time.Time) time.Time {
	if at := now.Add(o.Extend); o.Extend > 0 && at.After(r.DeadlineTime) {
		return at
	}
	return r.DeadlineTime
}

func replays(r reminder.Record) int {
	n := 0
	for _, entry := range r.Replays {
		if entry.Action == reminder.ActionReplay {
			n++
		}
	}
	return n
}

// tried counts the submissions since the last replay, which are what the retry budget
// bounds.
func tried(r reminder.Record) int { return r.Attempts - r.LastReplay().Attempts }
