package delivery_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// walk is one reminder with a ledger, workers, a receiver and everything that can
// go wrong between them. Each action is one step of one of them.
type walk struct {
	*rapid.T
	now     time.Time
	policy  delivery.Policy
	facts   delivery.Facts
	log     []reminder.Record // the ledger: all revisions, the last one counts
	workers [3]*hand

	late           time.Time // when a submission arrives at the receiver after all; zero for none
	replays        bool      // people replay and discard what is dead
	orders         int       // how many of them have done something
	overruled      int       // how many have sent again what may have been accepted
	seen           bool      // the receiver has accepted a submission with its key
	accepts, sends int       // acceptances that reach the addressee, and submissions
}

// hand is a worker with a job: what it read, what it means to do next.
type hand struct {
	policy   delivery.Policy
	record   reminder.Record
	revision int
	step     string // write, mark, send, settle
	decision delivery.Decision
	result   reminder.Result
}

func (w *walk) last() reminder.Record { return w.log[len(w.log)-1] }

// write is the compare-and-set of the ledger.
func (w *walk) write(next reminder.Record, revision int) bool {
	if revision != len(w.log) {
		return false
	}
	checkChain(w.T, w.last(), next)
	w.log = append(w.log, next)
	return true
}

func checkChain(t *rapid.T, before, after reminder.Record) {
	previous := before.Footprint()
	if diff := cmp.Diff(&previous, after.Previous); diff != "" {
		t.Fatalf("I5: Previous is not the footprint of the revision before (-want +got):\n%s", diff)
	}
	if after.ExpireTime.Before(before.ExpireTime) {
		t.Fatalf("expires %s, before the revision before it (%s)", after.ExpireTime, before.ExpireTime)
	}
	if err := after.Validate(); err != nil {
		t.Fatal(err)
	}
	reopened := before.State == reminder.Cancelled && after.State == reminder.Scheduled
	upgraded := after.State == reminder.Sent && before.State == reminder.Dead && before.Reason == reminder.ReconciliationRequired
	if before.State.Terminal() && after.State != before.State && !reopened && !upgraded && !answered(before, after) {
		t.Fatalf("I3: %s(%s) became %s", before.State, before.Reason, after.State)
	}
}

// answered: a person has replayed or discarded a dead letter, or the word of the
// channel came after that.
func answered(before, after reminder.Record) bool {
	if before.State == reminder.Discarded {
		return after.State == reminder.Sent
	}
	return before.State == reminder.Dead && len(after.Replays) == len(before.Replays)+1 &&
		(after.State == reminder.Scheduled || after.State == reminder.Discarded)
}

// order is what a person orders for the reminder, whatever state it is in.
func (w *walk) order(t *rapid.T) {
	if !w.replays {
		t.Skip("nobody replays")
	}
	o := delivery.ReplayOrder{
		UID: fmt.Sprint(w.orders), Name: "r", Why: "why", Action: reminder.ActionReplay, Named: rapid.Bool().Draw(t, "named"),
		Extend: time.Duration(rapid.IntRange(0, 1).Draw(t, "extend")) * 3 * time.Hour,
	}
	if rapid.IntRange(0, 9).Draw(t, "discard") == 0 {
		o.Action, o.Extend = reminder.ActionDiscard, 0
	}
	before := w.last()
	next, refusal := delivery.Replay(before, o, w.facts, retention, w.now)
	if refusal != "" {
		return
	}
	parked := before.Reason == reminder.ReconciliationRequired && next.State == reminder.Scheduled
	if before.State != reminder.Dead || parked && !o.Named {
		t.Fatalf("I3: %s(%s) was replayed, named %t", before.State, before.Reason, o.Named)
	}
	w.write(next, len(w.log))
	w.orders++
	if parked {
		w.overruled++
	}
}

// pick chooses one of the workers that are busy, or one of the idle ones.
func (w *walk) pick(t *rapid.T, busy bool) int {
	var all []int
	for i, h := range w.workers {
		if (h != nil) == busy {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		t.Skip("nobody")
	}
	return rapid.SampledFrom(all).Draw(t, "worker")
}

// deliver hands the job to an idle worker, which reads and decides.
func (w *walk) deliver(t *rapid.T) {
	i := w.pick(t, false)
	h := &hand{policy: w.policy, record: w.last(), revision: len(w.log), step: "write"}
	h.decision = w.admit(t, h, string(rune('A'+i)), false)
	if h.decision.Action != delivery.Wait && h.decision.Action != delivery.Reschedule {
		w.workers[i] = h
	}
}

// admit is Admit with what it asks for.
func (w *walk) admit(t *rapid.T, h *hand, owner string, quiet bool) delivery.Decision {
	f := w.facts
	for range 3 {
		d := delivery.Admit(h.record, f, h.policy, owner, w.now)
		switch d.Question {
		case delivery.AskEligible:
			f.Eligible = w.eligible(t, quiet)
		case delivery.AskReconciled:
			f.Reconciled = w.reconciled(t, quiet)
		default:
			return d
		}
	}
	t.Fatal("asks without end")
	return delivery.Decision{}
}

func (w *walk) eligible(t *rapid.T, quiet bool) reminder.Answer {
	if quiet {
		return reminder.Answer{Verdict: reminder.Yes}
	}
	return reminder.Answer{Verdict: rapid.SampledFrom([]reminder.Verdict{reminder.Yes, reminder.Yes, reminder.Yes, reminder.No, reminder.Unclear}).Draw(t, "eligible")}
}

// reconciled is the receiver when it is asked: it tells the truth of this moment,
// or nothing.
func (w *walk) reconciled(t *rapid.T, quiet bool) reminder.Answer {
	switch {
	case !quiet && rapid.IntRange(0, 3).Draw(t, "reconciled") == 0:
		return reminder.Answer{Verdict: reminder.Unclear}
	case w.seen:
		return reminder.Answer{Verdict: reminder.Yes}
	}
	return reminder.Answer{Verdict: reminder.No}
}

// decide is Decide with what it asks for.
func (w *walk) decide(t *rapid.T, h *hand) delivery.Decision {
	d := delivery.Decide(h.record, h.result, h.policy, w.now)
	if d.Question == delivery.AskReconciled {
		h.result.Reconciled = w.reconciled(t, false)
		d = delivery.Decide(h.record, h.result, h.policy, w.now)
	}
	if d.Action == delivery.Ask {
		t.Fatal("asks again")
	}
	return d
}

// step lets one worker do its next thing.
func (w *walk) step(t *rapid.T) {
	i := w.pick(t, true)
	if !w.advance(t, w.workers[i]) {
		w.workers[i] = nil
	}
}

// advance does what the worker's loop does between two points where it can die.
// It tells whether there is more to do.
func (w *walk) advance(t *rapid.T, h *hand) bool {
	switch h.step {
	case "write":
		if !w.write(h.decision.Record, h.revision) || h.decision.Action != delivery.Submit {
			return false
		}
		h.record, h.revision, h.step = h.decision.Record, len(w.log), "mark"
		if h.policy.Dedupes {
			h.step = "send"
		}
	case "mark":
		next := delivery.MarkSending(h.record, h.policy, w.now)
		if !w.write(next, h.revision) {
			return false
		}
		h.record, h.revision, h.step = next, len(w.log), "send"
	case "send":
		if !w.now.Before(h.record.DeadlineTime) || w.now.Add(inCall).After(h.record.LeaseUntilTime) {
			w.write(delivery.Release(h.record, w.now).Record, h.revision)
			return false
		}
		h.result, h.step = w.receive(t, h), "settle"
	case "settle":
		d := w.decide(t, h)
		if !w.write(d.Record, h.revision) {
			if next, better := delivery.Upgrade(w.last(), h.result, h.policy, w.now); better {
				w.write(next, len(w.log))
			}
		}
		return false
	}
	return true
}

// receive is the receiver: it accepts or not, and answers truly or not at all.
func (w *walk) receive(t *rapid.T, h *hand) reminder.Result {
	if w.now.Before(h.record.ReleaseTime) || !w.now.Before(h.record.DeadlineTime) {
		t.Fatalf("I4: submitted at %s, allowed in [%s, %s)", w.now, h.record.ReleaseTime, h.record.DeadlineTime)
	}
	w.sends++
	answer := rapid.SampledFrom([]string{"accept", "accept, no answer", "accept after all", "no answer", "refuse", "later"}).Draw(t, "receiver")
	switch answer {
	case "accept", "accept, no answer":
		w.take(h.policy)
	case "accept after all":
		if w.late.IsZero() {
			w.late = w.now.Add(inCall)
		}
	}
	switch answer {
	case "accept":
		return accepted
	case "refuse":
		return permanent // such as a proxy in front of a receiver that has accepted before
	case "later":
		return transient
	}
	return unknown
}

// inCall is the longest time that a submission is under way.
const inCall = 20 * time.Second

// take is an acceptance.
func (w *walk) take(p delivery.Policy) {
	if !(p.Dedupes && w.seen) {
		w.accepts++
	}
	w.seen = true
}

// pass lets time pass, and what is under way arrive.
func (w *walk) pass(d time.Duration) {
	w.now = w.now.Add(d)
	if !w.late.IsZero() && !w.now.Before(w.late) {
		w.late = time.Time{}
		w.take(w.policy)
	}
}

// crash kills a worker wherever it is.
func (w *walk) crash(t *rapid.T) {
	w.workers[w.pick(t, true)] = nil
}

func (w *walk) wait(t *rapid.T) {
	w.pass(time.Duration(rapid.SampledFrom([]int{1, 6, 25, 61, 61, 61, 600, 7200}).Draw(t, "seconds")) * time.Second)
}

func (w *walk) cancel() {
	if next, ok := delivery.Cancel(w.last(), reminder.Suspended, retention, w.now); ok {
		w.write(next, len(w.log))
	}
}

// control is what controllers and their users do meanwhile.
func (w *walk) control(t *rapid.T) {
	switch rapid.SampledFrom([]string{"sweep", "replan", "policy", "policy", "move", "suspend", "resume", "cancel"}).Draw(t, "control") {
	case "sweep":
		w.sweep()
	case "replan":
		w.replan(t)
	case "cancel":
		w.cancel()
	case "move":
		if w.facts.Epoch++; rapid.Bool().Draw(t, "planned again") {
			w.replan(t)
		}
	case "suspend":
		w.facts.Suspended = true
	case "resume":
		w.facts.Suspended = false
	case "policy": // the channel no longer deduplicates, or no longer may repeat
		w.policy.Dedupes, w.policy.OnUnknown = false, reminder.ParkUnknown
	}
}

func (w *walk) replan(t *rapid.T) {
	p := planned(w.facts.Epoch)
	if rapid.Bool().Draw(t, "later") {
		p = later(w.facts.Epoch)
	}
	if next, ok := delivery.Replan(w.last(), p, retention, w.now); ok {
		w.write(next, len(w.log))
	}
}

// sweep is the audit sweep: it counts a repair, or ends what no worker has ended.
func (w *walk) sweep() {
	r := w.last()
	at, open := delivery.Wake(r)
	if !open || at.After(w.now) {
		return
	}
	if w.now.Before(r.DeadlineTime) {
		w.write(delivery.Republished(r, w.now), len(w.log))
		return
	}
	if d := delivery.Admit(r, delivery.Facts{Epoch: r.Epoch}, delivery.Policy{Retention: retention}, "", w.now); d.Action == delivery.Settle {
		w.write(d.Record, len(w.log))
	}
}

// check holds what is true after every step.
func (w *walk) check(t *rapid.T) {
	r := w.last()
	idle := true
	for _, h := range w.workers {
		idle = idle && (h == nil || h.step != "settle")
	}
	if r.State.Terminal() && w.seen && idle && r.State != reminder.Sent && r.State != reminder.Discarded && r.Reason != reminder.ReconciliationRequired {
		t.Fatalf("I6: %s(%s), but the receiver has accepted it", r.State, r.Reason)
	}
	if r.State == reminder.Sent && !w.seen {
		t.Fatal("Sent, but no receiver has accepted it")
	}
	if r.Unresolved && r.State.Terminal() && r.State != reminder.Discarded && r.Reason != reminder.ReconciliationRequired {
		t.Fatalf("I6: %s(%s) is unresolved", r.State, r.Reason)
	}
	if r.Retries >= (budget+1)*(w.orders+1) && !w.policy.AsksEligibility {
		t.Fatalf("I8: %d retries with a budget of %d submissions and %d orders", r.Retries, budget, w.orders)
	}
	if len(r.Replays) > delivery.MaxReplays+1 {
		t.Fatalf("I8: %d orders were carried out", len(r.Replays))
	}
	w.checkCounters(t)
}

// checkCounters: the sum over all revisions of what is new minus what was before
// is the last revision (I5).
func (w *walk) checkCounters(t *rapid.T) {
	var attempts, retries, suppressed int
	for _, r := range w.log {
		attempts, retries, suppressed = attempts+r.Attempts, retries+r.Retries, suppressed+r.Suppressed
		if r.Previous != nil {
			attempts, retries, suppressed = attempts-r.Previous.Attempts, retries-r.Previous.Retries, suppressed-r.Previous.Suppressed
		}
	}
	if r := w.last(); attempts != r.Attempts || retries != r.Retries || suppressed != r.Suppressed {
		t.Fatalf("I5: folded %d attempts, %d retries, %d suppressed; the record has %d, %d, %d", attempts, retries, suppressed, r.Attempts, r.Retries, r.Suppressed)
	}
}

// finish lets the faults end: every reminder then comes to its outcome (I1).
func (w *walk) finish(t *rapid.T) {
	for i, h := range w.workers {
		for h != nil && w.advance(t, h) {
			w.check(t)
		}
		w.workers[i] = nil
	}
	w.facts.Suspended = false
	for range 40 {
		if w.last().State.Terminal() {
			w.check(t)
			return
		}
		w.pass(30 * time.Minute)
		h := &hand{policy: w.policy, record: w.last(), revision: len(w.log), step: "write"}
		h.decision = w.admit(t, h, "Z", true)
		for h.decision.Action != delivery.Wait && h.decision.Action != delivery.Reschedule && w.advance(t, h) {
			w.check(t)
		}
	}
	t.Fatalf("I1: still %s after twenty quiet hours", w.last().State)
}

func TestWalk(t *testing.T) {
	t.Parallel()
	all := maps.Clone(policies)
	for name, p := range policies {
		p.Reconciles, p.Retry.Delays = true, []time.Duration{5 * time.Second} // sooner than a submission is over
		all[name+", asked before parking"] = p
		p.AsksEligibility = true
		all[name+", asked before each attempt too"] = p
	}
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				w := &walk{T: t, policy: p}
				w.run(t)
				if p.OnUnknown != reminder.RetryUnknown && w.accepts > 1 {
					t.Fatalf("I2: accepted %d times", w.accepts)
				}
			})
		})
	}
}

// Row 54: what people replay is sent once for each time that it was proven unsent,
// and may repeat only where they were told so and named it.
func TestWalkWithReplays(t *testing.T) {
	t.Parallel()
	for name, p := range policies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				w := &walk{T: t, policy: p, replays: true}
				w.run(t)
				if p.OnUnknown != reminder.RetryUnknown && w.accepts > 1+w.overruled {
					t.Fatalf("I2: accepted %d times, %d replays of what may have been accepted", w.accepts, w.overruled)
				}
			})
		})
	}
}

func (w *walk) run(t *rapid.T) {
	w.now, w.facts = release.Add(-time.Second), delivery.Facts{Epoch: 1}
	w.log = []reminder.Record{delivery.Plan(planned(1), retention, w.now)}
	t.Repeat(map[string]func(*rapid.T){
		"deliver": w.deliver, "deliver again": w.deliver, "step": w.step, "another step": w.step, "one more step": w.step,
		"wait": w.wait, "crash": w.crash, "control": w.control, "order": w.order, "": w.check,
	})
	w.finish(t)
}
