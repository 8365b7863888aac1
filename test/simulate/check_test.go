package simulate

import (
	"context"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// verdict is what a run comes to.
type verdict struct {
	lost, duplicates int
	exact            bool
}

// judge holds the end of a run against the invariants.
func (w *world) judge(ctx context.Context) verdict {
	v := verdict{exact: true}
	final := map[string]reminder.Record{}
	all, _ := w.broker.Ledger.Since(1)
	for _, r := range all {
		w.follows(final, r)
		final[r.Token] = r.Record
	}
	for _, s := range w.slots {
		for _, person := range w.people {
			one := w.planned(s, person.ID)
			w.judgeOne(&v, s, one.Key, final[one.Key.Token()])
		}
	}
	w.judgeBooks(ctx, &v, final)
	w.judgeLetters(final)
	return v
}

// follows is I3: a terminal record stays, except that a cancelled one may be planned
// again, and a late acceptance may upgrade a parked one.
func (w *world) follows(final map[string]reminder.Record, r broker.Revision) {
	before, known := final[r.Token]
	after := r.Record
	if !known {
		return
	}
	if was := before.Footprint(); after.Previous == nil || *after.Previous != was {
		w.broken("I5: %s: revision %d does not follow the one before", after.Key, r.Number)
	}
	reopened := before.State == reminder.Cancelled && after.State == reminder.Scheduled
	upgraded := before.Reason == reminder.ReconciliationRequired && after.State == reminder.Sent
	if before.State.Terminal() && after.State != before.State && !reopened && !upgraded {
		w.broken("I3: %s: %s(%s) became %s", after.Key, before.State, before.Reason, after.State)
	}
}

func (w *world) judgeOne(v *verdict, s slot, key reminder.Key, r reminder.Record) {
	accepted := w.accepted[key]
	switch edited := len(w.edits) > 0; {
	case r.State == "" && !edited, r.State != "" && !r.State.Terminal(), r.State == reminder.Cancelled && !edited:
		v.lost++
		w.broken("I1: %s ends as %q(%s)", key, r.State, r.Reason)
	}
	if len(accepted) > 1 && (w.dedupes || w.unknown == reminder.ParkUnknown) {
		v.duplicates++
		w.broken("I2: %s was accepted %d times", key, len(accepted))
	}
	for _, at := range accepted {
		if at.Before(s.due.Add(-2*skew)) || at.After(s.deadline.Add(2*skew)) {
			w.broken("I4: %s was accepted at %s, allowed from %s to %s", key, at, s.due, s.deadline)
		}
	}
	parked := r.State == reminder.Dead && r.Reason == reminder.ReconciliationRequired
	if len(accepted) > 0 && r.State != reminder.Sent && !parked {
		w.broken("I6: %s ends as %s(%s), but was accepted", key, r.State, r.Reason)
	}
	if r.State == reminder.Sent && len(accepted) == 0 {
		w.broken("I6: %s ends as Sent, but nobody has accepted it", key)
	}
}

// judgeBooks is I5: the counters are the ledger's.
func (w *world) judgeBooks(ctx context.Context, v *verdict, final map[string]reminder.Record) {
	want := reminder.Totals{}
	for _, r := range final {
		switch r.State {
		case reminder.Sent:
			want.Sent++
			if r.Late() {
				want.SentLate++
			}
		case reminder.Dead:
			want.Dead++
		case reminder.Cancelled:
			want.Cancelled++
		}
		want.Attempts += int64(r.Attempts)
		want.Retried += int64(r.Retries)
		want.Suppressed += int64(r.Suppressed)
		want.Republished += int64(r.Republished)
	}
	t, _, err := w.broker.Tally.Totals(ctx, namespace, schedule)
	got := reminder.Totals{
		Sent: t.Sent, SentLate: t.SentLate, Dead: t.Dead, Cancelled: t.Cancelled, Attempts: t.Attempts, Retried: t.Retried,
		Suppressed: t.Suppressed, Republished: t.Republished,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || t.Pending() != 0 && v.lost == 0 {
		v.exact = false
		w.broken("I5: counters, with %d pending, %v (-ledger +counted):\n%s", t.Pending(), err, diff)
	}
}

// judgeLetters: what is dead has a dead letter, and nothing else has.
func (w *world) judgeLetters(final map[string]reminder.Record) {
	letters := w.broker.DeadLetters.All()
	for token, r := range final {
		if extra := letters[token] && r.State != reminder.Dead; extra && w.alone {
			continue // one too many is the sweep's to remove
		}
		if (r.State == reminder.Dead) != letters[token] {
			w.broken("I1: %s is %s, and a dead letter stands: %t", r.Key, r.State, letters[token])
		}
	}
}
