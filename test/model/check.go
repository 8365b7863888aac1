package model

import "fmt"

func name(r rec) string {
	if r.state == 0 {
		return "nothing"
	}
	text := string(states[r.state])
	if r.reason != 0 {
		text += "(" + string(reasons[r.reason]) + ")"
	}
	return text
}

// transition is what is wrong with two revisions in a row (I3).
func (w *world) transition(before, after rec) string {
	if !before.terminal() || before.state == after.state && before.reason == after.reason {
		return ""
	}
	reopened := before.state == cancelled && after.state == scheduled
	upgraded := before.reason == reconcile && after.state == sent
	if reopened || upgraded {
		return ""
	}
	return fmt.Sprintf("I3: %s became %s", name(before), name(after))
}

// wrong is what is wrong with a state, whatever led to it.
func (w *world) wrong(s state) string {
	r := s.rec
	if s.effects > 1 && (w.Policy.Dedupes || w.Policy.OnUnknown == park.OnUnknown) {
		return "I2: accepted twice"
	}
	if r.state == sent && s.seen == 0 {
		return "I6: Sent, and no receiver has accepted it"
	}
	if r.terminal() && r.state != sent && r.reason != reconcile && s.seen == 1 && !s.answering() {
		return fmt.Sprintf("I6: %s, and the receiver has accepted it", name(r))
	}
	if r.terminal() && r.unresolved == 1 && r.reason != reconcile {
		return "I6: " + name(r) + " although it may have been accepted"
	}
	return ""
}

// answering tells whether a worker is about to say what the receiver said.
func (s state) answering() bool {
	return s.workers[0].pos == wAnswered || s.workers[1].pos == wAnswered
}

// left is what is wrong once all is quiet.
func (w *world) left(s state) string {
	r := s.rec
	planned := s.reg.mode == active
	switch {
	case planned && r.state == 0:
		return "I1: there is no record of the occurrence"
	case r.state != 0 && !r.terminal():
		return "I1: it is " + name(r) + " for ever"
	case planned && s.owed == 1 && r.state == cancelled:
		return "I1: it is " + name(r) + ", although the plan has it"
	case r.state == dead && s.letter == 0, w.Sweep && r.state != dead && s.letter == 1: // one too many is the sweep's to remove
		return fmt.Sprintf("I1: it is %s, and dead letters stand: %d", name(r), s.letter)
	}
	if want := w.totalsOf(r); s.totals != want && w.Mutant != countedInMemory {
		return fmt.Sprintf("I5: counted %+v, but the ledger says %+v", s.totals, want)
	}
	if w.Mutant == countedInMemory && r.state != 0 && s.counted == 0 {
		return "I5: counted 0 outcomes, but the ledger has one"
	}
	return ""
}

// totalsOf are the counters that one record makes.
func (w *world) totalsOf(r rec) totals {
	if r.state == 0 {
		return totals{}
	}
	return w.fold(totals{}, r, foot{}, false)
}
