package delivery

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Planned is what planning knows of a reminder.
type Planned struct {
	Key   reminder.Key
	Epoch int64
	// DueTime and LocalTime are those of the occurrence; the other times see
	// reminder.Record.
	DueTime                             time.Time
	LocalTime                           string
	ReleaseTime, DeadlineTime, LateTime time.Time
}

// Plan is the first revision of a reminder.
func Plan(p Planned, retention time.Duration, now time.Time) reminder.Record {
	return reminder.Record{
		SchemaVersion: reminder.RecordVersion, Key: p.Key, State: reminder.Scheduled, Epoch: p.Epoch,
		DueTime: p.DueTime, LocalTime: p.LocalTime, ReleaseTime: p.ReleaseTime, DeadlineTime: p.DeadlineTime, LateTime: p.LateTime,
		UpdateTime: now, ExpireTime: p.DeadlineTime.Add(retention),
	}
}

// Missed is the one revision of a run of occurrences that were never planned and are
// not taken up: it stands for each of them, and is bad for the objective.
func Missed(key reminder.Key, epoch int64, gap reminder.Gap, retention time.Duration, now time.Time) reminder.Record {
	ends := now
	if !ends.After(gap.LastDueTime) {
		ends = gap.LastDueTime.Add(time.Second)
	}
	return reminder.Record{
		SchemaVersion: reminder.RecordVersion, Key: key, State: reminder.Missed, Epoch: epoch,
		DueTime: gap.FirstDueTime, ReleaseTime: gap.FirstDueTime, LateTime: gap.FirstDueTime, DeadlineTime: ends,
		UpdateTime: now, FinishTime: now, ExpireTime: ends.Add(retention), Missed: &gap,
	}
}

// Replan is what planning a slot again makes of its record: a Cancelled one is
// opened again, a Scheduled one takes the new times and epoch, and so does one
// that waits for a retry under an older epoch, which would else be cancelled as
// superseded although the new plan has it too. It answers false where nothing is
// to be written: the record says so already, has ended, or is in flight; what is
// in flight may come back to Retrying under its old epoch. A Sent reminder is
// never opened again, and a deadline that a replay has given is never taken back.
func Replan(r reminder.Record, p Planned, retention time.Duration, now time.Time) (reminder.Record, bool) {
	if !r.State.Terminal() && r.LastReplay().DeadlineTime.After(p.DeadlineTime) {
		p.DeadlineTime = r.DeadlineTime
	}
	same := r.Epoch == p.Epoch && r.Due().Equal(p.DueTime) && r.ReleaseTime.Equal(p.ReleaseTime) && r.DeadlineTime.Equal(p.DeadlineTime) && r.LateTime.Equal(p.LateTime)
	switch {
	case r.State == reminder.Cancelled && r.Epoch <= p.Epoch:
	case r.State == reminder.Scheduled && r.Epoch <= p.Epoch && !same:
	case r.State == reminder.Retrying && r.Epoch < p.Epoch:
	default:
		return r, false
	}
	next := advance(r, reminder.Scheduled, now)
	next.Epoch, next.DueTime, next.LocalTime = p.Epoch, p.DueTime, p.LocalTime
	next.ReleaseTime, next.DeadlineTime, next.LateTime = p.ReleaseTime, p.DeadlineTime, p.LateTime
	return keep(next, retention, now), true
}

// Cancel ends a reminder before its claim. It answers false where that is no
// longer possible: a claimed reminder's outcome stands, and a terminal one stays.
// One that may have been accepted becomes Dead(ReconciliationRequired) instead,
// which wants a dead letter.
func Cancel(r reminder.Record, reason reminder.Reason, retention time.Duration, now time.Time) (reminder.Record, bool) {
	if r.State != reminder.Scheduled && r.State != reminder.Retrying {
		return r, false
	}
	return end(r, reminder.Cancelled, reason, retention, now), true
}

// Suppressed counts a redelivery of a terminal reminder.
func Suppressed(r reminder.Record, retention time.Duration, now time.Time) reminder.Record {
	next := advance(r, r.State, now)
	next.Reason, next.FinishTime = r.Reason, r.FinishTime
	next.Suppressed++
	return keep(next, retention, now)
}

// Republished counts a repair: a due job that the audit sweep published anew.
func Republished(r reminder.Record, now time.Time) reminder.Record {
	next := r
	previous := r.Footprint()
	next.Previous, next.UpdateTime = &previous, now
	next.Republished++
	return next
}

// Wake is the time from which a message must stand for the record: its release,
// its next attempt, or the end of its lease. Terminal records answer false.
func Wake(r reminder.Record) (time.Time, bool) {
	switch r.State {
	case reminder.Scheduled:
		return r.ReleaseTime, true
	case reminder.Retrying:
		return r.NextAttemptTime, true
	case reminder.Claimed, reminder.Sending:
		return r.LeaseUntilTime, true
	}
	return time.Time{}, false
}

// advance starts the next revision of r in a state: it remembers what r counted
// for and drops what belongs to the state that is left.
func advance(r reminder.Record, to reminder.State, now time.Time) reminder.Record {
	previous := r.Footprint()
	r.Previous = &previous
	r.State, r.UpdateTime = to, now
	r.Reason, r.Owner, r.Unmarked = "", "", false
	r.NextAttemptTime, r.LeaseUntilTime, r.FinishTime = time.Time{}, time.Time{}, time.Time{}
	return r
}

// end is the terminal revision, except that a reminder that may have been
// accepted ends as Dead(ReconciliationRequired), whatever the caller wanted. Only
// a person's word discards it all the same.
func end(r reminder.Record, to reminder.State, reason reminder.Reason, retention time.Duration, now time.Time) reminder.Record {
	if (r.Unresolved || r.MayRepeat) && to != reminder.Sent && to != reminder.Discarded {
		to, reason = reminder.Dead, reminder.ReconciliationRequired
	}
	next := advance(r, to, now)
	next.Reason, next.FinishTime = reason, now
	return keep(next, retention, now)
}

// keep sets the time until which the store must keep the revision: never before
// that of an earlier one.
func keep(r reminder.Record, retention time.Duration, now time.Time) reminder.Record {
	until := r.DeadlineTime.Add(retention)
	if ends := now.Add(retention); r.State.Terminal() && ends.After(until) {
		until = ends
	}
	if r.State.Terminal() {
		until = until.Add(clockAllowance)
	}
	if until.After(r.ExpireTime) {
		r.ExpireTime = until
	}
	return r
}
