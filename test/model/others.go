package model

import "github.com/reminder-operator/reminder-operator/internal/delivery"

// sweepSteps are the next steps of the audit sweep.
func (w *world) sweepSteps(s state, y yield) {
	switch s.sweep {
	case sIdle:
		w.look(s, y)
	case sCounted:
		s.sweep = sIdle
		if !s.inQueue() {
			s.due = more(s.due, maxDue)
		}
		y("publishes the job again", s, "")
	case sExpired:
		s.sweep, s.letter = sBuried, 1
		y("publishes the dead letter of what it has ended", s, "")
	case sBuried:
		s.sweep, s.due, s.sched = sIdle, 0, 0
		for i := range s.workers {
			s.workers[i].holds = 0
		}
		y("takes the job out of the queue", s, "")
	case sWithoutLetter:
		s.sweep, s.letter = sIdle, 1
		y("publishes the missing dead letter", s, "")
	case sWithLetter:
		s.sweep, s.letter = sIdle, 0
		y("removes the dead letter that is one too many", s, "")
	}
}

func (w *world) look(s state, y yield) {
	r := s.rec
	switch {
	case r.state == 0:
	case r.terminal():
		if (r.state == dead) == (s.letter == 1) {
			return
		}
		if s.sweep = sWithLetter; r.state == dead {
			s.sweep = sWithoutLetter
		}
		y("compares record and dead letter", s, "")
	case s.clock > r.deadline():
		a := w.ask(call{op: opExpire, r: r, now: s.clock})
		if a.act != settle || r.wake() >= s.clock {
			return
		}
		wrong := w.save(&s, a.r) + a.wrong
		s.sweep = sExpired
		y("ends what is past its deadline: "+name(a.r), s, wrong)
	case r.wake() < s.clock && !s.inQueue() && s.sched == 0 && r.republished < maxRepairs:
		a := w.ask(call{op: opRepublish, r: r, now: s.clock})
		wrong := w.save(&s, a.r) + a.wrong
		s.sweep = sCounted
		y("counts a repair", s, wrong)
	}
}

// maxRepairs bounds how often the sweep counts one and dies before the message.
const maxRepairs = 3

// wake is when a message must stand for the record.
func (r rec) wake() uint8 {
	at, open := delivery.Wake(r.real())
	if !open {
		return 255
	}
	return ticks(at)
}

// tallySteps fold the last revision, then store the checkpoint. A tally that has died
// in between begins at the checkpoint, and folds what its totals include already.
func (w *world) tallySteps(s state, y yield) {
	switch s.tally {
	case tBehind:
		if w.Mutant == checkpointFirst {
			s.tally = tCounted
			y("stores the checkpoint before the totals", s, "")
			return
		}
		s.totals, s.tally = w.fold(s.totals, s.rec, s.before, false), tCounted
		y("stores the totals", s, "")
	case tCounted:
		if w.Mutant == checkpointFirst {
			s.totals = w.fold(s.totals, s.rec, s.before, false)
		}
		s.tally = tDone
		y("stores the checkpoint", s, "")
	}
}

// refold is what a tally does that was begun anew before its checkpoint.
func (w *world) refold(s state) state {
	if w.Mutant != checkpointFirst {
		s.totals = w.fold(s.totals, s.rec, s.before, w.Mutant != foldedTwice)
	}
	s.tally = tDone
	return s
}

// timeSteps are the broker's and the clock's.
func (w *world) timeSteps(s state, y yield) {
	if s.sched != 0 && s.sched-1 <= s.clock {
		s.sched, s.due = 0, more(s.due, maxDue)
		y("the broker releases the due job", s, "")
		return
	}
	if s.rec.expire != 0 && s.rec.expire <= s.clock && s.rec.terminal() {
		w.catchUp(&s)
		s.rec = rec{}
		for i := range s.workers {
			w.outrun(&s.workers[i])
		}
		y("the broker forgets the record", s, "")
		return
	}
	if s.clock < horizon {
		s.clock++
		y("the clock moves on", s, "")
	}
}

// userSteps are edits of the schedule.
func (w *world) userSteps(s state, y yield) {
	if int(s.edits) >= w.Edits || s.want.mode == deleted {
		return
	}
	change := func(what string, e entry) {
		next := s
		next.edits++
		next.want, next.observed = e, 0
		y("the user "+what, next, "")
	}
	switch s.want.mode {
	case active:
		change("suspends the schedule", entry{suspended, s.want.epoch})
		if s.want.epoch == 1 {
			change("moves the occurrence", entry{active, 2})
			change("edits the occurrence away", entry{dropped, 2})
		}
	case suspended:
		change("resumes the schedule", entry{active, s.want.epoch})
	}
	change("deletes the schedule", entry{deleted, s.want.epoch})
}

// faultSteps are what goes wrong: a crash of any actor anywhere, messages that are
// repeated or lost, acknowledgements that do not arrive, a process that begins anew.
func (w *world) faultSteps(s state, y yield) {
	if int(s.faults) >= w.Faults {
		return
	}
	s.faults++
	for i := range s.workers {
		w.workerFaults(s, i, y)
	}
	for i := range s.planners {
		if s.planners[i].pos != pIdle {
			y("fault: a planner dies", s.idle(i), "")
		} else if s.cursor == cursorClosed && s.observed == 1 && s.reg == s.want && release(s.want.epoch) >= s.clock {
			next := s
			next.planners[i] = planner{pos: pSettled, mode: s.want.mode, epoch: s.want.epoch, fresh: 1}
			y("fault: a planner that knows nothing plans it again", next, "")
		}
	}
	if s.sweep != sIdle {
		next := s
		next.sweep = sIdle
		y("fault: the sweep dies", next, "")
	}
	if s.tally == tCounted {
		y("fault: the tally dies before its checkpoint", w.refold(s), "")
	}
	w.messageFaults(s, y)
}

func (w *world) workerFaults(s state, i int, y yield) {
	me := s.workers[i]
	if me.pos == wIdle {
		return
	}
	y("fault: a worker dies", s.back(i), "")
	if me.pos == wCalling {
		next := s
		w.accept(&next)
		y("fault: a worker dies in the call, which is accepted", next.back(i), "")
	}
	if me.pos == wBuried && me.holds == 1 {
		next := s.acked(i)
		next.due = more(next.due, maxDue)
		y("fault: the acknowledgement is lost", next, "")
	}
}

func (w *world) messageFaults(s state, y yield) {
	if s.inQueue() && s.due < maxDue {
		next := s
		next.due++
		y("fault: the job is delivered once more", next, "")
	}
	if w.Loss && (s.inQueue() || s.sched != 0) {
		next := s
		next.due, next.sched = 0, 0
		for i := range next.workers {
			next.workers[i].holds = 0
		}
		y("fault: all messages are lost", next, "")
	}
}
