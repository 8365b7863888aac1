package audit

import (
	"fmt"
	"iter"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Facts are what the other sources say of a schedule.
type Facts struct {
	// Now is the store's clock when the reading began.
	Now time.Time
	// Grace is how long what has just happened, or should have, is left alone.
	Grace time.Duration
	// Whole: no record of the schedule can have expired, so that the ledger has all that was ever counted.
	Whole bool
	// Retention is how long outcomes and dead letters are kept.
	Retention time.Duration
	// Tally is read behind a first cut of the books, and the books go on up to what it includes.
	Tally reminder.Totals
	// Status is read before the books; nil where there is no object.
	Status *StatusCounts
	// Jobs and Letters are the reminders, by token, for which a message or a dead letter stands; read before the books. For a
	// record that has not changed since, they must have stood then.
	Jobs, Letters map[string]bool
	// Slots are the reminders that the schedule itself says fell due in the range Proven, by a spec and a plan that were
	// read before the books; nil where that cannot be said, for the reason Unproven.
	Slots    iter.Seq[Slot]
	Proven   *Range
	Unproven string
	// Planned is up to when the plan says that everything is decided.
	Planned time.Time
	// Accepted is the receiver's log, read before the books; nil for none.
	Accepted *Log
}

// Slot is a reminder that fell due.
type Slot struct {
	Key reminder.Key
	Due time.Time
}

// verdict collects differences.
type verdict struct {
	report Report
	all    []Finding
}

func (v *verdict) find(kind Kind, key, format string, args ...any) {
	v.all = append(v.all, Finding{Kind: kind, Key: key, Detail: fmt.Sprintf(format, args...)})
	if kind.Lost() {
		v.report.Lost++
	}
}

// Compare compares the books of a schedule with everything else.
func Compare(b *Books, f Facts) Report {
	c := b.counts
	v := &verdict{report: Report{
		Namespace: b.Namespace, Schedule: b.Schedule, Due: c.Due(f.Now), Sent: c.Sent, Dead: c.Dead, Discarded: c.Discarded,
		Cancelled: c.Cancelled, Missed: c.Missed, Pending: c.Pending(), Proven: f.Proven, Unproven: f.Unproven,
	}}
	v.all = append(v.all, b.faults...)
	v.slots(b, f)
	v.messages(b, f)
	if f.Accepted != nil {
		v.receiver(b, f)
	}
	v.report.Counters = v.counters(b, f)
	sortFindings(v.all)
	v.report.Differences = int64(len(v.all))
	v.report.Findings = append([]Finding{}, v.all[:min(len(v.all), MaxFindings)]...)
	return v.report
}

// slots looks for a record of each reminder that fell due. One that lies in a recorded run of missed occurrences need
// not have its own; but no more of them than that run counts.
func (v *verdict) slots(b *Books, f Facts) {
	if f.Slots == nil {
		return
	}
	var gaps []reminder.Gap
	room := int64(0)
	for _, e := range b.entries {
		if e.gap != nil {
			gaps = append(gaps, *e.gap)
			room += e.gap.Reminders
		}
	}
	for s := range f.Slots {
		if b.entries[s.Key.Token()] != nil {
			continue
		}
		switch {
		case s.Due.After(f.Planned):
			if f.Now.Sub(s.Due) > f.Grace {
				v.find(NotPlanned, s.Key.String(), "fell due, and nothing is planned since %s", stamp(f.Planned))
			}
		case room > 0 && within(gaps, s.Due):
			room--
		default:
			v.find(NoRecord, s.Key.String(), "fell due, and the ledger has no record of it")
		}
	}
}

func within(gaps []reminder.Gap, due time.Time) bool {
	for _, g := range gaps {
		if !due.Before(g.FirstDueTime) && !due.After(g.LastDueTime) {
			return true
		}
	}
	return false
}

// messages looks whether each reminder without an outcome still has somebody who will give it one, and whether dead
// letters stand for the dead and for nobody else.
func (v *verdict) messages(b *Books, f Facts) {
	old := f.Now.Add(-f.Grace)
	for token, e := range b.entries {
		key, settled := e.key.String(), e.written.Before(old)
		dead := e.is.State == reminder.Dead
		switch {
		case e.is.State.Terminal():
		case e.deadline.Before(old) && settled:
			v.find(NoOutcome, key, "its deadline %s has passed, and it is %s", stamp(e.deadline), e.is.State)
		case e.wake.Before(old) && settled && !f.Jobs[token]:
			v.find(NoMessage, key, "%s since %s, and no message stands for it", e.is.State, stamp(e.wake))
		}
		switch {
		case dead && settled && !f.Letters[token] && f.Now.Before(e.finish.Add(f.Retention)):
			v.find(NoDeadLetter, key, "Dead(%s), and there is no dead letter", e.is.Reason)
		case !dead && settled && f.Letters[token]:
			v.find(StrayDeadLetter, key, "%s, and there is a dead letter", e.is.State)
		}
	}
	for token := range f.Jobs {
		if b.entries[token] == nil {
			v.find(StrayMessage, token, "there is a message, and the ledger has no record for it")
		}
	}
}

// counters compares the tally with the ledger, and status with the tally.
func (v *verdict) counters(b *Books, f Facts) string {
	before := len(v.all)
	v.tally(b, f)
	if f.Status != nil {
		v.status(b, f)
	}
	switch {
	case len(v.all) > before:
		return Differing
	case f.Whole:
		return Exact
	}
	return Consistent
}

func (v *verdict) tally(b *Books, f Facts) {
	switch {
	case f.Tally.Applied < b.last:
		v.find(Tally, "applied", "the tally has come to revision %d, the ledger to %d; is the operator away?", f.Tally.Applied, b.last)
		return
	case f.Tally.Applied > b.last && f.Whole:
		v.find(Tally, "applied", "the tally includes revision %d, which the ledger does not have any more", f.Tally.Applied)
	}
	have := CountsOf(f.Tally)
	theirs := have.lifetime()
	for i, own := range b.counts.lifetime() {
		if theirs[i].n < own.n || f.Whole && theirs[i].n != own.n {
			v.find(Tally, own.name, "the tally says %d, the ledger %d", theirs[i].n, own.n)
		}
	}
	v.reasons(b.counts.ByReason, have.ByReason, f.Whole)
	if moved := differs(b.counts.Outstanding, have.Outstanding); moved {
		v.find(Tally, "pending", "the tally says %d, the ledger %d, or of other release times", have.Pending(), b.counts.Pending())
	}
}

func (v *verdict) reasons(own, theirs map[reminder.Reason]int64, whole bool) {
	all := map[reminder.Reason]bool{}
	for r := range own {
		all[r] = true
	}
	for r := range theirs {
		all[r] = true
	}
	for r := range all {
		if theirs[r] < own[r] || whole && theirs[r] != own[r] {
			v.find(Tally, "byReason."+string(r), "the tally says %d, the ledger %d", theirs[r], own[r])
		}
	}
}

func differs(a, b map[int64]int64) bool {
	for at, n := range a {
		if b[at] != n {
			return true
		}
	}
	for at, n := range b {
		if a[at] != n {
			return true
		}
	}
	return false
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
