package model

import (
	"fmt"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// op is a function of package delivery.
type op uint8

const (
	opAdmit op = iota
	opExpire
	opMark
	opDecide
	opRelease
	opUpgrade
	opPlan
	opReplan
	opCancel
	opRepublish
)

// call is one call of it: the record, the registry's facts, and the rest.
type call struct {
	op            op
	r             rec
	facts         entry
	now, result   uint8
	epoch, moveTo uint8 // of a plan
}

// answer is what it said: an action, the next record, a time, whether there is
// anything to write; and what is wrong with it.
type answer struct {
	act   uint8
	r     rec
	at    uint8
	ok    bool
	wrong string
}

// ask calls the product, once for each different question.
func (w *world) ask(c call) answer {
	if a, ok := w.asked[c]; ok {
		return a
	}
	a := w.answer(c)
	w.asked[c] = a
	return a
}

func (w *world) answer(c call) answer {
	r, now, p := c.r.real(), at(c.now), w.Policy
	if w.Mutant == deadlineUnchecked {
		r.DeadlineTime = at(99)
	}
	if w.Mutant == releaseUnchecked && c.op == opAdmit {
		r.ReleaseTime, r.NextAttemptTime = at(0), at(0)
	}
	var d delivery.Decision
	ok := true
	switch c.op {
	case opAdmit:
		d = w.admit(r, c, p)
	case opExpire:
		d = delivery.Admit(r, delivery.Facts{Epoch: r.Epoch}, delivery.Policy{Retention: p.Retention}, "", now)
	case opMark:
		d.Record = delivery.MarkSending(r, p, now)
	case opDecide:
		d = delivery.Decide(r, w.result(c.result), p, now)
	case opRelease:
		d = delivery.Release(r, now)
	case opUpgrade:
		d.Record, ok = delivery.Upgrade(r, w.result(c.result), p, now)
	case opPlan:
		d.Record = delivery.Plan(planned(c), p.Retention, now)
	case opReplan:
		d.Record, ok = delivery.Replan(r, planned(c), p.Retention, now)
		if w.Mutant == sentReopened && r.State == reminder.Sent {
			d.Record, ok = delivery.Plan(planned(c), p.Retention, now), true
		}
	case opCancel:
		d.Record, ok = delivery.Cancel(r, reasonOf(c.facts), p.Retention, now)
	case opRepublish:
		d.Record = delivery.Republished(r, now)
	}
	return w.taken(c, d, ok)
}

func (w *world) admit(r reminder.Record, c call, p delivery.Policy) delivery.Decision {
	facts := delivery.Facts{Deleted: c.facts.mode == deleted, Suspended: c.facts.mode == suspended, Epoch: int64(c.facts.epoch)}
	if w.Mutant == factsUnchecked {
		facts = delivery.Facts{}
	}
	return delivery.Admit(r, facts, p, "worker", at(c.now))
}

// result is what the channel said; some mutants hear something else.
func (w *world) result(code uint8) reminder.Result {
	outcome := outcomes[code]
	switch {
	case w.Mutant == unknownIsFailure && outcome == reminder.Unknown:
		outcome = reminder.Permanent
	case w.Mutant == unknownIsSuccess && outcome == reminder.Unknown:
		outcome = reminder.Accepted
	}
	return reminder.Result{Outcome: outcome}
}

func planned(c call) delivery.Planned {
	return delivery.Planned{
		Key: key, Epoch: int64(c.epoch), DueTime: at(c.moveTo), ReleaseTime: at(c.moveTo), DeadlineTime: at(c.moveTo + span), LateTime: at(c.moveTo + 1),
	}
}

func reasonOf(e entry) reminder.Reason {
	switch e.mode {
	case suspended:
		return reminder.Suspended
	case deleted:
		return reminder.ScheduleDeleted
	}
	return reminder.Superseded
}

// taken makes the answer of a decision, and holds it against what is true of every
// revision.
func (w *world) taken(c call, d delivery.Decision, ok bool) answer {
	a := answer{act: code(actions, d.Action), at: ticks(d.At), ok: ok}
	if !ok || d.Action == delivery.Wait || d.Action == delivery.Reschedule {
		return a
	}
	if w.Mutant == deadlineUnchecked || w.Mutant == releaseUnchecked {
		d.Record.ReleaseTime, d.Record.DeadlineTime = at(c.r.release), at(c.r.deadline())
		if c.op == opPlan || c.op == opReplan {
			d.Record.ReleaseTime, d.Record.DeadlineTime = at(c.moveTo), at(c.moveTo+span)
		}
	}
	if w.Mutant == shortTTL {
		d.Record.ExpireTime = at(c.now + 1)
	}
	a.r = compact(d.Record)
	if w.Mutant == none {
		a.wrong = w.chain(c, d.Record)
	}
	return a
}

// chain holds a revision against the one before it.
func (w *world) chain(c call, after reminder.Record) string {
	if err := after.Validate(); err != nil {
		return "invalid record: " + err.Error()
	}
	if c.op == opPlan {
		return ""
	}
	before := c.r.real()
	if was := before.Footprint(); after.Previous == nil || *after.Previous != was {
		return fmt.Sprintf("I5: the revision says that it follows %+v, but it follows %+v", after.Previous, was)
	}
	if after.ExpireTime.Before(before.ExpireTime) {
		return "I3: a revision expires before the one before it"
	}
	if counts := c.op == opMark || c.op == opDecide; counts && after.Attempts > budget {
		return "I8: more submissions than the budget allows"
	}
	return ""
}
