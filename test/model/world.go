package model

import "github.com/reminder-operator/reminder-operator/internal/delivery"

// Config is one walk: a policy, how much goes wrong, and what is built wrong.
type Config struct {
	Name   string
	Policy delivery.Policy
	// Workers and Planners are how many there are, at most two of each.
	Workers, Planners int
	// Faults and Edits are the largest number of each on one path.
	Faults, Edits int
	// Sweep: the audit sweep runs. Loss: messages are lost, which only it can heal;
	// without both, everything must come to its end without it.
	Sweep, Loss bool
	// Books: the tally takes its steps too; else it is never behind.
	Books bool
	// Mutant is the mistake that is made on purpose.
	Mutant Mutant
	// Limit is the largest number of states; 0 for all of them.
	Limit int
}

// Mutant is a mistake in the shell around the decisions, or in how they are asked.
type Mutant uint8

// The mutants. Each is caught by an invariant.
const (
	none Mutant = iota
	ackFirst
	claimIsDone
	noFence
	noSendingMark
	shortTTL
	cursorFirst
	randomIDs
	countedInMemory
	deadlineUnchecked
	releaseUnchecked
	terminalOverwritten
	messageFirst
	retryUnscheduled
	unknownIsFailure
	unknownIsSuccess
	sentReopened
	checkpointFirst
	foldedTwice
	letterForgotten
	factsUnchecked
)

// world is one walk under way.
type world struct {
	Config
	asked  map[call]answer
	folded map[folding]totals
}

// start is the state before anyone has seen the schedule.
func start() state {
	return state{want: entry{active, 1}, reg: entry{dropped, 0}}
}

// steps are all states that can follow.
func (w *world) steps(s state, y yield) {
	for i := range w.Workers {
		if i == 1 && s.workers[1] == s.workers[0] {
			continue // the same again
		}
		w.workerSteps(s, i, y)
	}
	for i := range w.Planners {
		if i == 1 && s.planners[1] == s.planners[0] {
			continue
		}
		w.plannerSteps(s, i, y)
	}
	if w.Sweep {
		w.sweepSteps(s, y)
	}
	w.tallySteps(s, y)
	w.timeSteps(s, y)
	w.userSteps(s, y)
	w.faultSteps(s, y)
}

// calm is the next step once nothing goes wrong any more: everybody does what is in
// hand before the clock moves on. False at the end.
func (w *world) calm(s state) (next state, what, wrong string, ok bool) {
	take := func(name string, to state, broken string) {
		if !ok {
			next, what, wrong, ok = to.sorted(), name, broken, true
		}
	}
	for i := range s.workers {
		if s.workers[i].pos != wIdle {
			w.workerSteps(s, i, take)
		}
	}
	for i := range s.planners {
		if s.planners[i].pos != pIdle {
			w.plannerSteps(s, i, take)
		}
	}
	w.plannerSteps(s, w.Planners-1, take) // the last one is idle if any is
	if w.Sweep {
		w.sweepSteps(s, take)
	}
	w.tallySteps(s, take)
	if !ok && !(s.rec.held() && s.clock < s.rec.lease) {
		w.workerSteps(s, w.Workers-1, take) // a job for a claim that stands comes back when it ends
	}
	if !ok {
		w.timeSteps(s, take)
	}
	return next, what, wrong, ok
}
