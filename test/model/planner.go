package model

// plannerSteps are the next steps of a controller, in the order of its apply.
func (w *world) plannerSteps(s state, i int, y yield) {
	me := &s.planners[i]
	switch me.pos {
	case pIdle:
		if s.wanting() {
			s.planners[i] = planner{pos: pRead, mode: s.want.mode, epoch: s.want.epoch, fresh: 1}
			y("reads spec and registry", s, "")
		}
	case pRead:
		w.register(s, i, y)
	case pRegistered:
		s.due, s.sched = 0, 0
		for j := range s.workers {
			s.workers[j].holds = 0
		}
		me.pos = pWithdrawn
		y("withdraws the messages", s, "")
	case pWithdrawn:
		if me.fresh == 0 {
			y("finds another spec registered and begins anew", s.idle(i), "")
			return
		}
		me.pos = pJudged
		y("reads the record, finds its spec registered still", s, "")
	case pJudged:
		w.cancel(s, i, y)
	case pSettled:
		w.record(s, i, y)
	case pRecorded:
		w.publish(s, i, y)
	case pReleased:
		w.finish(s, i, y)
	}
}

func (s state) idle(i int) state {
	s.planners[i] = planner{}
	return s
}

// wanting tells whether a pass has anything to do, as far as registry and status
// say.
func (s state) wanting() bool {
	return s.reg != s.want || s.observed == 0 || s.planning(s.want.mode) && s.cursor != cursorClosed
}

func (s state) planning(mode uint8) bool { return mode == active }

// release is when the occurrence is due under an epoch.
func release(epoch uint8) uint8 { return first + epoch - 1 }

// register writes the registry's entry with the cursor, before what it speaks of.
func (w *world) register(s state, i int, y yield) {
	me := &s.planners[i]
	if me.fresh == 0 {
		y("loses the compare-and-set of the registry", s.idle(i), "")
		return
	}
	plan, old, cursor := me.mode == active, s.reg, s.cursor
	s.reg = entry{me.mode, me.epoch}
	changed := old != s.reg
	if changed {
		s.cursor, s.observed = cursorNone, 0
	}
	if s.owed != waived {
		s.owed = flag(plan && release(me.epoch) > s.clock)
	}
	if plan && s.cursor != cursorClosed {
		s.cursor = cursorOpen
	}
	if me.finish = flag(s.cursor == cursorOpen); changed || s.cursor != cursor {
		for j := range s.planners {
			s.planners[j].fresh = 0
		}
		me.fresh = 1
	}
	if plan && w.Mutant == cursorFirst {
		s.cursor = cursorClosed
	}
	switch known := old.epoch != 0; {
	case known && changed && (old.epoch != s.reg.epoch || s.reg.mode != active):
		me.pos = pRegistered
	case s.observed == 0 && s.rec.state != 0:
		me.pos = pWithdrawn
	default:
		me.pos = pSettled
	}
	y("registers the spec, its cursor open (C1)", s, "")
}

// cancel ends what the registered entry no longer covers and nobody has claimed.
func (w *world) cancel(s state, i int, y yield) {
	me := &s.planners[i]
	me.pos = pSettled
	r, e := s.rec, entry{me.mode, me.epoch}
	outdated := r.state != 0 && !r.terminal() && r.epoch <= e.epoch && (e.mode != active || r.epoch < e.epoch)
	a := w.ask(call{op: opCancel, r: r, facts: e, now: s.clock})
	if !outdated || !a.ok {
		y("has nothing to cancel", s, "")
		return
	}
	wrong := w.save(&s, a.r) + a.wrong
	if a.r.state == dead {
		s.letter = 1
	}
	if e != s.reg {
		s.owed = waived // an older leader is late with its cancellation: docs/track-record.md, number 3
	}
	y("cancels: "+name(a.r), s, wrong)
}

// record writes the record of the occurrence, or plans it again.
func (w *world) record(s state, i int, y yield) {
	me := &s.planners[i]
	if me.mode != active || me.finish == 0 && release(me.epoch) <= s.clock {
		me.pos = pReleased // the cursor says that what is due is planned
		y("has nothing to plan", s, "")
		return
	}
	if w.Mutant == messageFirst && s.rec.state == 0 && me.release == 0 {
		me.release = release(me.epoch)
		s.sched = me.release + 1
		y("publishes the message before the record", s, "")
		return
	}
	c := call{op: opReplan, r: s.rec, now: s.clock, epoch: me.epoch, moveTo: release(me.epoch)}
	if s.rec.state == 0 {
		c.op = opPlan
	}
	a, wrong := w.ask(c), ""
	if a.ok {
		wrong = w.save(&s, a.r) + a.wrong
	}
	if s.rec.held() && s.rec.epoch < me.epoch {
		s.owed = waived // in flight under the older plan: docs/track-record.md, number 2
	}
	if s.rec.state != scheduled || w.Mutant == messageFirst {
		me.pos, me.release = pReleased, 0
		y("finds the record "+name(s.rec), s, wrong)
		return
	}
	me.pos, me.release = pRecorded, s.rec.release
	y("plans: "+name(s.rec)+" (C2)", s, wrong)
}

func (w *world) publish(s state, i int, y yield) {
	me := &s.planners[i]
	at := me.release
	me.pos, me.release = pReleased, 0
	switch {
	case at > s.clock:
		s.sched = at + 1
	case !s.inQueue():
		s.due = more(s.due, maxDue)
	}
	y("publishes the message (C3)", s, "")
}

// inQueue tells whether a due job waits or is in flight.
func (s state) inQueue() bool {
	return s.due > 0 || s.workers[0].holds == 1 || s.workers[1].holds == 1
}

// finish closes the cursor; the pass has succeeded then, and status observes it.
func (w *world) finish(s state, i int, y yield) {
	me := s.planners[i]
	s.planners[i] = planner{}
	if me.mode == active && s.cursor == cursorOpen {
		if me.fresh == 0 {
			y("loses the compare-and-set of the cursor", s, "")
			return
		}
		s.cursor = cursorClosed
		for j := range s.planners {
			s.planners[j].fresh = 0
		}
	}
	s.observed = flag(s.want == entry{me.mode, me.epoch})
	y("closes the cursor (C5)", s, "")
}
