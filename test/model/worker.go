package model

// yield is told of each step that can follow: its name, the state after it, and
// what it breaks by itself.
type yield func(name string, next state, wrong string)

// workerSteps are the next steps of a worker that no fault has a part in.
func (w *world) workerSteps(s state, i int, y yield) {
	switch s.workers[i].pos {
	case wIdle:
		w.fetch(s, i, y)
	case wFetched:
		w.judge(s, i, y)
	case wDecided:
		w.writeJudgement(s, i, y)
	case wClaimed:
		if w.Policy.Dedupes || w.Mutant == noSendingMark {
			w.call(s, i, y)
		} else {
			w.mark(s, i, y)
		}
	case wMarked:
		w.call(s, i, y)
	case wCalling:
		w.receive(s, i, y)
	case wAnswered:
		w.settle(s, i, y)
	case wRecorded:
		w.follow(s, i, y)
	case wUpgraded:
		s.letter = 0
		s.workers[i].pos = wBuried
		y("removes the dead letter", s, "")
	case wMoved:
		s.sched = s.workers[i].mem.next + 1
		s.workers[i].pos = wBuried
		y("schedules the message anew", s, "")
	case wBuried:
		y("acknowledges (W7, W8)", s.acked(i), "")
	}
}

func (s state) acked(i int) state {
	s.workers[i] = worker{}
	return s
}

// back gives the job in hand back to the queue.
func (s state) back(i int) state {
	if s.workers[i].holds == 1 {
		s.due = more(s.due, maxDue)
	}
	s.workers[i] = worker{}
	return s
}

func more(n, most uint8) uint8 { return min(n+1, most) }

// maxDue bounds the due jobs that wait at once; more of them make no difference
// that two do not.
const maxDue = 2

func (w *world) fetch(s state, i int, y yield) {
	if s.due == 0 {
		return
	}
	s.due--
	s.workers[i] = worker{pos: wFetched, holds: 1}
	if w.Mutant == ackFirst {
		s.workers[i].holds = 0
	}
	y("fetches the due job (W0)", s, "")
}

// judge reads the record and the facts, and lets Admit decide.
func (w *world) judge(s state, i int, y yield) {
	me := &s.workers[i]
	if s.rec.state == 0 {
		y("finds no record and rejects the job", s.acked(i), "")
		return
	}
	if w.Mutant == claimIsDone && s.rec.held() {
		y("takes a claim for done and acknowledges", s.acked(i), "")
		return
	}
	a := w.ask(call{op: opAdmit, r: s.rec, facts: s.reg, now: s.clock})
	switch a.act {
	case paused:
		y("finds it claimed and gives the job back", s.back(i), "")
		return
	case reschedule:
		me.pos, me.mem = wMoved, rec{next: a.at}
	default:
		me.pos, me.act, me.mem, me.fresh = wDecided, a.act, a.r, 1
	}
	if unwanted := s.reg.mode == suspended || s.reg.mode == deleted || s.rec.epoch < s.reg.epoch; unwanted && a.act == submit {
		a.wrong = "I4: to be sent, although the schedule does not want it now"
	}
	y("reads record and facts: "+string(actions[a.act]), s, a.wrong)
}

// mine tells whether a compare-and-set of the worker succeeds.
func (w *world) mine(s state, i int) bool { return s.workers[i].fresh == 1 || w.Mutant == noFence }

func (w *world) writeJudgement(s state, i int, y yield) {
	me := &s.workers[i]
	if me.act == suppress && me.mem.state == dead && s.letter == 0 {
		s.letter = 1
		y("publishes the dead letter that is missing", s, "")
		return
	}
	if !w.mine(s, i) {
		y("loses the compare-and-set and gives the job back", s.back(i), "")
		return
	}
	mem, act := me.mem, me.act
	wrong := w.save(&s, mem)
	me.mem, me.act, me.fresh, me.pos = mem, act, 1, wRecorded
	switch act {
	case submit:
		me.pos = wClaimed
	case suppress:
		me.pos = wBuried
	}
	y("writes "+name(mem), w.lean(s, i), wrong)
}

func (w *world) mark(s state, i int, y yield) {
	me := &s.workers[i]
	if w.lapsed(s, i) {
		w.call(s, i, y)
		return
	}
	a := w.ask(call{op: opMark, r: me.mem, now: s.clock})
	if !w.mine(s, i) {
		y("loses its claim before the mark and gives the job back", s.back(i), "")
		return
	}
	wrong := w.save(&s, a.r) + a.wrong
	me.mem, me.fresh, me.pos = a.r, 1, wMarked
	y("marks it as Sending (W2)", w.lean(s, i), wrong)
}

// lapsed tells whether lease or deadline have passed since the claim.
func (w *world) lapsed(s state, i int) bool {
	mem := s.workers[i].mem
	return w.Mutant != deadlineUnchecked && (s.clock >= mem.deadline() || s.clock >= mem.lease)
}

// call begins a submission, unless lease or deadline have passed.
func (w *world) call(s state, i int, y yield) {
	me := &s.workers[i]
	if w.lapsed(s, i) {
		a := w.ask(call{op: opRelease, r: me.mem, now: s.clock})
		if !w.mine(s, i) {
			y("finds its lease lapsed and gives the job back", s.back(i), "")
			return
		}
		wrong := w.save(&s, a.r) + a.wrong
		me.pos, me.act, me.mem = wRecorded, again, a.r
		me.mem.next, me.fresh = a.at, 1
		y("gives the claim back", w.lean(s, i), wrong)
		return
	}
	wrong := ""
	if s.clock < me.mem.release || s.clock >= me.mem.deadline() {
		wrong = "I4: submitted outside [release, deadline)"
	}
	me.pos = wCalling
	y("submits (W3)", w.lean(s, i), wrong)
}

// receive is the receiver: it accepts or not, and answers truly or not at all.
func (w *world) receive(s state, i int, y yield) {
	for _, r := range []struct {
		name    string
		accepts bool
		result  uint8
	}{
		{"hears that it is accepted (W4)", true, rAccepted},
		{"hears nothing, though it is accepted", true, rUnknown},
		{"hears nothing, and it is not accepted", false, rUnknown},
		{"hears that it is refused (W4)", false, rPermanent},
		{"hears to come later (W4)", false, rTransient},
	} {
		next := s
		if r.accepts {
			w.accept(&next)
		}
		next.workers[i].pos, next.workers[i].result = wAnswered, r.result
		y(r.name, next, "")
	}
}

func (w *world) accept(s *state) {
	if !w.Policy.Dedupes || s.seen == 0 || w.Mutant == randomIDs {
		s.effects = more(s.effects, 2)
	}
	s.seen = 1
}

// settle records what the channel said; a loser of its claim only an acceptance.
func (w *world) settle(s state, i int, y yield) {
	me := &s.workers[i]
	if w.Mutant == terminalOverwritten && me.fresh == 0 {
		me.mem, me.fresh = s.rec, 1
	}
	if w.mine(s, i) {
		a := w.ask(call{op: opDecide, r: me.mem, now: s.clock, result: me.result})
		wrong := w.save(&s, a.r) + a.wrong
		me.mem, me.act, me.fresh, me.pos = a.r, a.act, 1, wRecorded
		y("records "+name(a.r)+" (W5)", w.lean(s, i), wrong)
		return
	}
	wasDead := s.rec.state == dead
	a := w.ask(call{op: opUpgrade, r: s.rec, now: s.clock, result: me.result})
	if !a.ok {
		if s.rec.state == sent && me.result == rAccepted {
			me.pos = wBuried
			y("finds its acceptance recorded", w.lean(s, i), "")
			return
		}
		y("drops the outcome of a lost claim", s.back(i), "")
		return
	}
	wrong := w.save(&s, a.r) + a.wrong
	me.pos = wBuried
	if wasDead {
		me.pos = wUpgraded
	}
	y("upgrades the record to Sent", w.lean(s, i), wrong)
}

// follow does what follows from a record: the dead letter, or the next message.
func (w *world) follow(s state, i int, y yield) {
	me := &s.workers[i]
	if w.Mutant == countedInMemory {
		s.counted = more(s.counted, 9)
	}
	act, mem := me.act, me.mem
	me.pos = wBuried
	switch {
	case act == again && w.Mutant == retryUnscheduled:
		y("forgets to schedule the retry", w.lean(s, i), "")
	case act == again && mem.next > s.clock:
		s.sched = mem.next + 1
		y("schedules the retry", w.lean(s, i), "")
	case act == again:
		s.due = more(s.due, maxDue)
		y("publishes the job at once", w.lean(s, i), "")
	case mem.state == dead && w.Mutant != letterForgotten:
		s.letter = 1
		y("publishes the dead letter (W6)", w.lean(s, i), "")
	default:
		y("acknowledges (W7, W8)", s.acked(i), "")
	}
}

// lean forgets what the worker does not need any more, so that states that differ
// in nothing else are one.
func (w *world) lean(s state, i int) state {
	me := &s.workers[i]
	switch me.pos {
	case wRecorded:
		me.mem, me.fresh, me.result = rec{state: me.mem.state, next: me.mem.next}, 0, 0
		if me.mem.state != dead && me.mem.state != retrying && me.act != again {
			me.mem = rec{}
		}
	case wBuried, wUpgraded:
		*me = worker{pos: me.pos, holds: me.holds}
	default:
		me.act = 0
	}
	return s
}

// save is the compare-and-set of the ledger, once it has succeeded: whoever held
// the revision before does not hold the last one any more. It tells what the new
// revision breaks.
func (w *world) save(s *state, next rec) string {
	w.catchUp(s)
	before := s.rec
	s.before, s.rec, s.tally = before.foot(), next, tBehind
	if !w.Books {
		w.catchUp(s)
	}
	for i := range s.workers {
		w.outrun(&s.workers[i])
	}
	return w.transition(before, next)
}

// outrun: somebody else has written. What the worker holds is of no use to its next
// compare-and-set then; after the call only the result matters.
func (w *world) outrun(me *worker) {
	if me.fresh == 0 || w.Mutant == noFence {
		return
	}
	me.fresh = 0
	switch {
	case me.pos == wCalling, me.pos == wAnswered:
		me.mem = rec{}
	case me.pos == wDecided && me.act != suppress:
		me.mem, me.act = rec{}, submit
	}
}

// catchUp lets the tally catch up: it is at most one revision behind, because
// nobody waits for it.
func (w *world) catchUp(s *state) {
	if s.tally == tBehind {
		s.totals = w.fold(s.totals, s.rec, s.before, false)
	}
	s.tally, s.before = tDone, foot{}
}
