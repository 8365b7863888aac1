package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/tally"
)

// One tick is an hour, because the package's allowance for clocks is one.
const (
	tick      = time.Hour
	first     = 1 // the release of the occurrence; an edit moves it by one
	span      = 3 // from release to deadline
	lease     = 2
	retention = 5 // records outlive the horizon, unless a mutant says else
	horizon   = first + 1 + span + 2
	budget    = 2 // submissions
)

var (
	zero   = time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	key    = reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-03T01:00:00Z", Recipient: "acct_1", Channel: "mail"}
	retry  = reminder.Retry{Attempts: budget, Delays: []time.Duration{tick}}
	states = []reminder.State{"", reminder.Scheduled, reminder.Claimed, reminder.Sending, reminder.Retrying, reminder.Sent, reminder.Dead, reminder.Cancelled}

	reasons = []reminder.Reason{
		"", reminder.RetryBudgetExhausted, reminder.DeadlineReached, reminder.PermanentFailure, reminder.ReconciliationRequired,
		reminder.Poison, reminder.Suspended, reminder.Superseded, reminder.ScheduleDeleted,
	}
	actions  = []delivery.Action{"", delivery.Submit, delivery.Settle, delivery.Suppress, delivery.Retry, delivery.Reschedule, delivery.Wait}
	outcomes = []reminder.Outcome{"", reminder.Accepted, reminder.Transient, reminder.Permanent, reminder.Unknown}
)

// Codes of what the shell asks about.
var (
	scheduled, claimed, sending     = code(states, reminder.Scheduled), code(states, reminder.Claimed), code(states, reminder.Sending)
	retrying, sent, dead, cancelled = code(states, reminder.Retrying), code(states, reminder.Sent), code(states, reminder.Dead), code(states, reminder.Cancelled)
	reconcile                       = code(reasons, reminder.ReconciliationRequired)

	submit, settle, suppress  = code(actions, delivery.Submit), code(actions, delivery.Settle), code(actions, delivery.Suppress)
	again, reschedule, paused = code(actions, delivery.Retry), code(actions, delivery.Reschedule), code(actions, delivery.Wait)
)

func code[T comparable](of []T, v T) uint8 {
	i := slices.Index(of, v)
	if i < 0 {
		panic(fmt.Sprintf("the model has no code for %v", v))
	}
	return uint8(i)
}

func (r rec) terminal() bool  { return r.state != 0 && states[r.state].Terminal() }
func (r rec) held() bool      { return r.state == claimed || r.state == sending }
func (r rec) deadline() uint8 { return r.release + span }

func at(ticks uint8) time.Time { return zero.Add(time.Duration(ticks) * tick) }

func ticks(t time.Time) uint8 {
	if t.IsZero() {
		return 0
	}
	n := t.Sub(zero) / tick
	if t != at(uint8(n)) {
		panic(fmt.Sprintf("%s lies between two ticks", t))
	}
	return uint8(n)
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// real is the record that a compact one stands for.
func (r rec) real() reminder.Record {
	out := reminder.Record{
		SchemaVersion: reminder.RecordVersion, Key: key, State: states[r.state], Reason: reasons[r.reason], Epoch: int64(r.epoch),
		DueTime: at(r.release), ReleaseTime: at(r.release), DeadlineTime: at(r.deadline()), LateTime: at(r.release + 1),
		Unmarked: r.unmarked == 1, Unresolved: r.unresolved == 1, UpdateTime: zero, ExpireTime: at(horizon + 1),
		Attempts: int(r.attempts), Retries: int(r.retries), Takeovers: int(r.takeovers), Suppressed: int(r.suppressed), Republished: int(r.republished),
	}
	if r.expire != 0 {
		out.ExpireTime = at(r.expire)
	}
	if r.state == retrying {
		out.NextAttemptTime = at(r.next)
	}
	if r.held() {
		out.LeaseUntilTime, out.Owner = at(r.lease), "worker"
	}
	if out.State.Terminal() {
		out.FinishTime = at(r.release + 2*r.late)
	}
	return out
}

// compact is the other way round.
func compact(r reminder.Record) rec {
	out := rec{
		state: code(states, r.State), reason: code(reasons, r.Reason), epoch: uint8(r.Epoch), release: ticks(r.ReleaseTime),
		attempts: uint8(r.Attempts), retries: uint8(r.Retries), takeovers: uint8(r.Takeovers), suppressed: uint8(r.Suppressed),
		republished: uint8(r.Republished), unmarked: flag(r.Unmarked), unresolved: flag(r.Unresolved), late: flag(r.Late()),
		next: ticks(r.NextAttemptTime), lease: ticks(r.LeaseUntilTime), expire: ticks(r.ExpireTime),
	}
	if out.expire > horizon {
		out.expire = 0
	}
	return out
}

func (f foot) real() *reminder.Footprint {
	if f.state == 0 {
		return nil
	}
	return &reminder.Footprint{
		State: states[f.state], Reason: reasons[f.reason], Late: f.late == 1, ReleaseTime: at(f.release), Attempts: int(f.attempts),
		Retries: int(f.retries), Suppressed: int(f.suppressed), Republished: int(f.republished),
	}
}

// folding is one use of the tally's function. Known: the totals include the revision.
type folding struct {
	t      totals
	r      rec
	before foot
	known  bool
}

// fold adds a revision by the tally's own function, once for each different question.
func (w *world) fold(t totals, r rec, before foot, known bool) totals {
	f := folding{t, r, before, known}
	sum, ok := w.folded[f]
	if !ok {
		sum = f.sum()
		w.folded[f] = sum
	}
	return sum
}

func (f folding) sum() totals {
	t := f.t
	in := reminder.Totals{
		Applied: 1, Sent: int64(t.sent), SentLate: int64(t.late), Cancelled: int64(t.cancelled), Dead: int64(t.dead),
		Retried: int64(t.retried), Suppressed: int64(t.suppressed), Republished: int64(t.republished), Attempts: int64(t.attempts),
	}
	for i, n := range t.outstanding {
		if n != 0 {
			if in.Outstanding == nil {
				in.Outstanding = map[string]int64{}
			}
			in.Outstanding[second(i)] = int64(n)
		}
	}
	record := f.r.real()
	record.Previous = f.before.real()
	number := uint64(2)
	if f.known {
		in.Applied = number
	}
	tally.Fold(&in, number, record)
	out := totals{
		sent: uint8(in.Sent), late: uint8(in.SentLate), cancelled: uint8(in.Cancelled), dead: uint8(in.Dead), retried: uint8(in.Retried),
		suppressed: uint8(in.Suppressed), republished: uint8(in.Republished), attempts: uint8(in.Attempts),
	}
	for i := range out.outstanding {
		out.outstanding[i] = uint8(in.Outstanding[second(i)])
	}
	return out
}

func second(i int) string { return fmt.Sprint(at(uint8(first + i)).Unix()) }
