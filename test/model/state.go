package model

// rec is a ledger record as the model keeps it. Times are ticks; the deadline
// follows from the release. A state of 0 is no record.
type rec struct {
	state, reason, epoch, release uint8
	// next, lease and expire: NextAttemptTime, LeaseUntilTime and ExpireTime; an
	// expiry of 0 lies beyond the horizon.
	next, lease, expire                                   uint8
	attempts, retries, takeovers, suppressed, republished uint8
	unmarked, unresolved, late                            uint8
}

// foot is what a revision counts for: a footprint.
type foot struct{ state, reason, late, release, attempts, retries, suppressed, republished uint8 }

func (r rec) foot() foot {
	return foot{r.state, r.reason, r.late, r.release, r.attempts, r.retries, r.suppressed, r.republished}
}

// totals are the counters of the tally; outstanding is by release.
type totals struct {
	sent, late, cancelled, dead, retried, suppressed, republished, attempts uint8
	outstanding                                                             [2]uint8
}

// worker is where a worker is in handling a due job, and what it holds in memory.
type worker struct {
	pos, act, result uint8
	holds            uint8 // the message in hand still is in the queue
	fresh            uint8 // nobody has written since the revision that it holds
	mem              rec   // the record that it holds, or is about to write
}

// planner is where a controller is in a pass over the schedule.
type planner struct {
	pos, mode, epoch uint8 // of the spec that the pass is for
	fresh            uint8 // the registry's entry is the one that it holds
	finish           uint8 // the cursor is open: also what is due already is to be planned
	release          uint8 // of the record to publish a message for
}

// entry is the schedule: as the user wants it, and as the registry has it.
type entry struct{ mode, epoch uint8 }

// state is everything that the protocol's next step depends on.
type state struct {
	clock    uint8
	rec      rec
	before   foot // the revision before rec, until the tally has folded rec
	tally    uint8
	totals   totals
	counted  uint8 // by mutants that count in memory
	due      uint8 // due jobs that wait for a worker
	sched    uint8 // the message schedule: its tick and one; 0 for none
	letter   uint8 // a dead letter stands
	workers  [2]worker
	planners [2]planner
	sweep    uint8
	want     entry
	reg      entry
	cursor   uint8
	observed uint8 // status has observed the wanted spec
	owed     uint8 // the occurrence is ahead and planned: it may not end as cancelled
	faults   uint8
	edits    uint8
	seen     uint8 // the receiver has accepted the key
	effects  uint8 // acceptances that reach the addressee
}

// Positions of a worker. The failure matrix's names stand beside them.
const (
	wIdle     uint8 = iota
	wFetched        // W0
	wDecided        // about to write what Admit said
	wClaimed        // W1
	wMarked         // W2
	wCalling        // W3
	wAnswered       // W4
	wRecorded       // W5
	wBuried         // W6, and after a message was scheduled
	wUpgraded       // after a late acceptance, before the dead letter goes
	wMoved          // the job came early: about to schedule it
)

// Positions of a planner.
const (
	pIdle       uint8 = iota
	pRead             // has read spec and registry
	pRegistered       // C1
	pWithdrawn
	pJudged   // has found the registry unchanged, about to cancel
	pSettled  // about to write the record
	pRecorded // C2
	pReleased // C3
)

// Positions of the sweep.
const (
	sIdle          uint8 = iota
	sCounted             // has counted a repair, about to publish
	sExpired             // has ended a record, about to publish its letter
	sBuried              // about to take its job out of the queue
	sWithoutLetter       // read a dead record, about to publish its letter
	sWithLetter          // read another, about to remove the letter
)

// What the tally has done with the last revision.
const (
	tDone    uint8 = iota
	tBehind        // nothing
	tCounted       // the totals are stored, the checkpoint is not
)

// waived: the path has come to one of the known gaps of docs/track-record.md.
const waived uint8 = 2

// Modes of a schedule; the cursor of its plan.
const (
	active uint8 = iota
	suspended
	deleted
	dropped // active, and without the occurrence
)

const (
	cursorNone uint8 = iota
	cursorOpen
	cursorClosed
)

// Answers of the receiver.
const (
	rNone uint8 = iota
	rAccepted
	rTransient
	rPermanent
	rUnknown
)

// sorted puts equal actors into one order: which of them is which makes no
// difference to anyone.
func (s state) sorted() state {
	if workerLess(s.workers[1], s.workers[0]) {
		s.workers[0], s.workers[1] = s.workers[1], s.workers[0]
	}
	if plannerLess(s.planners[1], s.planners[0]) {
		s.planners[0], s.planners[1] = s.planners[1], s.planners[0]
	}
	if s.tally == tDone {
		s.before = foot{}
	}
	return s
}

func workerLess(a, b worker) bool {
	switch {
	case a.pos != b.pos:
		return a.pos > b.pos
	case a.act != b.act:
		return a.act < b.act
	case a.result != b.result:
		return a.result < b.result
	case a.holds != b.holds:
		return a.holds < b.holds
	case a.fresh != b.fresh:
		return a.fresh < b.fresh
	}
	return a.mem.less(b.mem)
}

func (r rec) less(o rec) bool {
	x := [...]uint8{r.state, r.reason, r.epoch, r.release, r.next, r.lease, r.attempts, r.retries, r.takeovers, r.suppressed, r.republished, r.unmarked, r.unresolved, r.late}
	y := [...]uint8{o.state, o.reason, o.epoch, o.release, o.next, o.lease, o.attempts, o.retries, o.takeovers, o.suppressed, o.republished, o.unmarked, o.unresolved, o.late}
	return string(x[:]) < string(y[:])
}

func plannerLess(a, b planner) bool {
	x, y := [...]uint8{a.pos, a.mode, a.epoch, a.fresh, a.finish, a.release}, [...]uint8{b.pos, b.mode, b.epoch, b.fresh, b.finish, b.release}
	return string(x[:]) > string(y[:])
}
