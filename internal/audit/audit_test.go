package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/audit"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var (
	due       = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	now       = due.Add(time.Hour)
	retention = 24 * time.Hour
	policy    = delivery.Policy{Retry: reminder.Retry{Attempts: 3, InitialDelay: time.Second, Factor: 2, MaxDelay: time.Minute}, Dedupes: true, Lease: time.Minute, Retention: retention}
)

// world is a consistent set of sources, which a test spoils.
type world struct {
	log   []logged
	facts audit.Facts
	slots []audit.Slot
	lines []string
}

type logged struct {
	token   string
	record  reminder.Record
	written time.Time
}

func keyOf(recipient string) reminder.Key {
	return reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: reminder.SlotOf(due), Recipient: recipient, Channel: "mail"}
}

func planned(recipient string) delivery.Planned {
	return delivery.Planned{Key: keyOf(recipient), Epoch: 1, DueTime: due, ReleaseTime: due, DeadlineTime: due.Add(30 * time.Minute), LateTime: due.Add(5 * time.Minute)}
}

func (w *world) write(at time.Time, r reminder.Record) reminder.Record {
	w.log = append(w.log, logged{r.Key.Token(), r, at})
	return r
}

// deliver takes a reminder through the real transitions, each answered by one of the results.
func (w *world) deliver(recipient string, results ...reminder.Result) {
	r := w.write(due.Add(-time.Minute), delivery.Plan(planned(recipient), retention, due.Add(-time.Minute)))
	at := due
	for _, result := range results {
		at = at.Add(2 * time.Second)
		r = w.write(at, delivery.Admit(r, delivery.Facts{Epoch: 1}, policy, "w", at).Record)
		r = w.write(at, delivery.Decide(r, result, policy, at).Record)
		if r.State == reminder.Retrying {
			at = r.NextAttemptTime
		}
	}
	w.slots = append(w.slots, audit.Slot{Key: r.Key, Due: due})
	switch r.State {
	case reminder.Sent:
		w.lines = append(w.lines, r.Key.String())
	case reminder.Dead:
		w.facts.Letters[r.Key.Token()] = true
	}
}

var (
	accepted  = reminder.Result{Outcome: reminder.Accepted}
	transient = reminder.Result{Outcome: reminder.Transient}
	permanent = reminder.Result{Outcome: reminder.Permanent, Reason: reminder.PermanentFailure}
)

func newWorld() *world {
	w := &world{facts: audit.Facts{Now: now, Grace: time.Minute, Whole: true, Retention: retention, Jobs: map[string]bool{}, Letters: map[string]bool{}, Planned: now,
		Proven: &audit.Range{From: due.Add(-time.Hour), Through: now}}}
	w.deliver("ada", accepted)
	w.deliver("bob", transient, accepted)
	w.deliver("cy", permanent)
	gap := reminder.Gap{FirstDueTime: due.Add(-30 * time.Minute), LastDueTime: due.Add(-20 * time.Minute), Reminders: 2}
	w.write(due.Add(-10*time.Minute), delivery.Missed(reminder.GapKey("shop", "renewal", "mail", gap.FirstDueTime), 1, gap, retention, due.Add(-10*time.Minute)))
	for _, at := range []time.Time{gap.FirstDueTime, gap.LastDueTime} {
		key := keyOf("ada")
		key.Slot = reminder.SlotOf(at)
		w.slots = append(w.slots, audit.Slot{Key: key, Due: at})
	}
	later := planned("dee")
	later.Key.Slot, later.DueTime, later.ReleaseTime, later.DeadlineTime = reminder.SlotOf(now.Add(time.Hour)), now.Add(time.Hour), now.Add(time.Hour), now.Add(2*time.Hour)
	w.write(due, delivery.Plan(later, retention, due))
	w.facts.Jobs[later.Key.Token()] = true
	w.facts.Tally = reminder.Totals{
		Sent: 2, Dead: 1, DeadTotal: 1, Retried: 1, Attempts: 4, Missed: 2, ByReason: map[reminder.Reason]int64{reminder.PermanentFailure: 1},
		Outstanding: map[string]int64{fmt.Sprint(now.Add(time.Hour).Unix()): 1},
	}
	w.facts.Status = &audit.StatusCounts{Read: now, Lag: 30 * time.Second, Written: true, Due: 5, Missed: 2, Sent: 2, Retried: 1, Dead: 1, Pending: 1, Open: 1, Total: 1}
	return w
}

func (w *world) compare() audit.Report {
	b := audit.NewBooks("shop", "renewal", now.Add(-10*time.Minute))
	for i, l := range w.log {
		b.Add(uint64(i+1), l.token, l.record, l.written)
	}
	if w.facts.Tally.Applied == 0 {
		w.facts.Tally.Applied = b.Last()
	}
	w.facts.Slots = slices.Values(w.slots)
	if w.lines != nil {
		w.facts.Accepted = audit.NewLog(now)
		for _, line := range w.lines {
			w.facts.Accepted.Add(line)
		}
	}
	return audit.Compare(b, w.facts)
}

func TestASoundWorldHasNoDifference(t *testing.T) {
	t.Parallel()
	r := newWorld().compare()
	if !r.Equal() || r.Counters != audit.Exact || r.Due != 5 || r.Sent != 2 || r.Dead != 1 || r.Missed != 2 || r.Pending != 1 || r.Lost != 0 || *r.Duplicates != 0 {
		t.Errorf("%+v", r)
	}
}

// drop removes the revisions of a recipient from the ledger.
func (w *world) drop(recipient string) {
	w.log = slices.DeleteFunc(w.log, func(l logged) bool { return l.token == keyOf(recipient).Token() })
}

func (w *world) last(recipient string) *reminder.Record {
	for i := range slices.Backward(w.log) {
		if w.log[i].token == keyOf(recipient).Token() {
			return &w.log[i].record
		}
	}
	return nil
}

func TestEachSpoiledThingIsNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(*world)
		want  []string // kind key
		lost  int64
		twice int64
	}{
		"a record is gone": {spoil: func(w *world) { w.drop("ada"); w.lines = nil },
			want: []string{"NoRecord ada", "Tally attempts", "Tally sent"}, lost: 1},
		"a record is gone that a receiver has": {spoil: func(w *world) { w.drop("ada") },
			want: []string{"AcceptedUnsent ada", "NoRecord ada", "Tally attempts", "Tally sent"}, lost: 1},
		"more was missed than the run says": {spoil: func(w *world) {
			s := w.slots[len(w.slots)-1]
			s.Key.Recipient = "eve"
			w.slots = append(w.slots, s)
		}, want: []string{"NoRecord eve"}, lost: 1},
		"nothing is planned since": {spoil: func(w *world) {
			w.facts.Planned = now.Add(-10 * time.Minute)
			key := keyOf("eve")
			w.slots = append(w.slots, audit.Slot{Key: key, Due: now.Add(-5 * time.Minute)}, audit.Slot{Key: key, Due: now.Add(-30 * time.Second)})
		}, want: []string{"NotPlanned eve"}, lost: 1},
		"a revision is gone": {spoil: func(w *world) { w.log = slices.Delete(w.log, 1, 2) }, want: []string{"Trace ada"}},
		"a record lies under another name": {spoil: func(w *world) {
			w.log[0].token, w.log[1].token, w.log[2].token = "shop.renewal.x.y", "shop.renewal.x.y", "shop.renewal.x.y"
		}, want: []string{"NoRecord ada", "Trace ada", "Trace ada", "Trace ada"}, lost: 1},
		"no outcome after the deadline": {spoil: func(w *world) {
			w.log = w.log[:len(w.log)-1]
			w.write(due, delivery.Plan(planned("dee"), retention, due))
			w.facts.Jobs = map[string]bool{keyOf("dee").Token(): true}
			w.facts.Tally.Outstanding = map[string]int64{fmt.Sprint(due.Unix()): 1}
			w.facts.Status.Due = 6
		}, want: []string{"NoOutcome dee"}, lost: 1},
		"no message, and its time has come": {spoil: func(w *world) {
			w.log = w.log[:len(w.log)-1]
			p := planned("dee")
			p.DeadlineTime = now.Add(time.Hour)
			w.write(due, delivery.Plan(p, retention, due))
			w.facts.Jobs = nil
			w.facts.Tally.Outstanding = map[string]int64{fmt.Sprint(due.Unix()): 1}
			w.facts.Status.Due = 6
		}, want: []string{"NoMessage dee"}, lost: 1},
		"a message without a record":   {spoil: func(w *world) { w.facts.Jobs["shop.renewal.x.y"] = true }, want: []string{"StrayMessage shop.renewal.x.y"}},
		"the dead letter is gone":      {spoil: func(w *world) { w.facts.Letters = nil }, want: []string{"NoDeadLetter cy"}},
		"a dead letter of the living":  {spoil: func(w *world) { w.facts.Letters[keyOf("ada").Token()] = true }, want: []string{"StrayDeadLetter ada"}},
		"the receiver has it twice":    {spoil: func(w *world) { w.lines = append(w.lines, keyOf("ada").ID()) }, want: []string{"Duplicate ada"}, twice: 1},
		"the receiver has it not":      {spoil: func(w *world) { w.lines = w.lines[1:] }, want: []string{"NotAccepted ada"}, lost: 1},
		"the receiver has a dead one":  {spoil: func(w *world) { w.lines = append(w.lines, keyOf("cy").String()) }, want: []string{"AcceptedUnsent cy"}},
		"the tally counts one more":    {spoil: func(w *world) { w.facts.Tally.Sent++; w.facts.Status.Sent++; w.facts.Status.Due++ }, want: []string{"Tally sent"}},
		"the tally counts one less":    {spoil: func(w *world) { w.facts.Tally.Retried--; w.facts.Status.Retried-- }, want: []string{"Tally retried"}},
		"the tally has another reason": {spoil: func(w *world) { w.facts.Tally.ByReason = map[reminder.Reason]int64{reminder.Poison: 1} }, want: []string{"Tally byReason.PermanentFailure", "Tally byReason.Poison"}},
		"the tally has another release": {spoil: func(w *world) {
			w.facts.Tally.Outstanding = map[string]int64{fmt.Sprint(now.Add(2 * time.Hour).Unix()): 1}
		}, want: []string{"Tally pending"}},
		"the tally is behind":       {spoil: func(w *world) { w.facts.Tally.Applied = 3 }, want: []string{"Tally applied"}},
		"the tally is ahead":        {spoil: func(w *world) { w.facts.Tally.Applied = 300 }, want: []string{"Tally applied"}},
		"status has a wrong number": {spoil: func(w *world) { w.facts.Status.SentLate = 1 }, want: []string{"Status counts.sentLate"}},
		"status has too much due":   {spoil: func(w *world) { w.facts.Status.Due = 6 }, want: []string{"Status counts.due"}},
		"status has none": {spoil: func(w *world) { *w.facts.Status = audit.StatusCounts{Read: now} }, want: []string{
			"Status counts.dead", "Status counts.due", "Status counts.missed", "Status counts.pending", "Status counts.retried", "Status counts.sent", "Status deadLetters.open", "Status deadLetters.total",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			tt.spoil(w)
			r := w.compare()
			var got []string
			for _, f := range r.Findings {
				key := f.Key
				for _, recipient := range []string{"ada", "bob", "cy", "dee", "eve"} {
					if len(key) > 20 && key[len(key)-len(recipient)-1:] == "/"+recipient {
						key = recipient
					}
				}
				got = append(got, string(f.Kind)+" "+key)
			}
			twice := int64(0)
			if r.Duplicates != nil {
				twice = *r.Duplicates
			}
			if !slices.Equal(got, tt.want) || r.Lost != tt.lost || twice != tt.twice || r.Equal() {
				t.Errorf("got %q, lost %d, twice %d; want %q, %d, %d\n%+v", got, r.Lost, twice, tt.want, tt.lost, tt.twice, r.Findings)
			}
		})
	}
}

// What has just happened, or should have, is no difference.
func TestWhatMovesIsLeftAlone(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*world){
		"a message that has just come due": func(w *world) {
			w.log = w.log[:len(w.log)-1]
			p := planned("dee")
			p.ReleaseTime, p.DeadlineTime = now.Add(-30*time.Second), now.Add(time.Hour)
			w.write(due, delivery.Plan(p, retention, due))
			w.facts.Jobs = nil
			w.facts.Tally.Outstanding = map[string]int64{fmt.Sprint(now.Add(-30 * time.Second).Unix()): 1}
			w.facts.Status.Due = 6
		},
		"a death that has just happened": func(w *world) {
			for i := range w.log {
				w.log[i].written = now.Add(-time.Second)
			}
			w.facts.Letters = nil
		},
		"an acceptance behind the reading of the receiver's log": func(w *world) {
			w.lines = w.lines[1:]
			w.last("ada").FinishTime, w.last("ada").LateTime = now.Add(-30*time.Second), now
		},
		"status of some seconds ago": func(w *world) {
			for i := range w.log[:3] { // ada's
				w.log[i].written = now.Add(-20 * time.Second)
			}
			w.log = append(w.log[3:], w.log[:3]...)
			w.facts.Status.Sent, w.facts.Status.Due = 1, 4
		},
		"records that have expired": func(w *world) {
			w.facts.Whole = false
			w.facts.Tally.Sent, w.facts.Tally.Cancelled, w.facts.Tally.DeadTotal = 200, 7, 9
			w.facts.Status.Sent, w.facts.Status.Cancelled, w.facts.Status.Due, w.facts.Status.Total = 200, 7, 203, 9
		},
	}
	for name, move := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			move(w)
			if r := w.compare(); !r.Equal() || (r.Counters == audit.Exact) != w.facts.Whole {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestStatusOlderThanItsLagIsADifference(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.log = append(w.log[3:], w.log[:3]...)
	w.facts.Status.Sent, w.facts.Status.Due = 1, 4
	if r := w.compare(); r.Counters != audit.Differing {
		t.Errorf("%+v", r)
	}
}

func TestCountersBelowTheLedgerDifferAlsoWhereRecordsHaveExpired(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.facts.Whole = false
	w.facts.Tally.Sent = 1
	w.facts.Status.Sent, w.facts.Status.Due = 1, 4
	if r := w.compare(); r.Counters != audit.Differing || r.Findings[0].Key != "sent" {
		t.Errorf("%+v", r)
	}
}

func TestLinesOfAReceiversLog(t *testing.T) {
	t.Parallel()
	key := keyOf("ada")
	for line, want := range map[string]bool{
		key.String(): true, " " + key.ID() + "\r": true, `{"key":"` + key.String() + `"}`: true, `{"id":"` + key.ID() + `","key":"x"}`: true,
		"": false, "hello": false, "{": false, "{}": false, "a/b": false, "[1]": false,
	} {
		if got := audit.NewLog(now).Add(line); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}
