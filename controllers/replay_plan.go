package controllers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// orderOf is what a ReminderReplay orders for each dead letter that it selects.
func orderOf(obj *v1alpha1.ReminderReplay) delivery.ReplayOrder {
	o := delivery.ReplayOrder{
		UID: string(obj.UID), Name: obj.Name, Why: obj.Spec.Reason, Action: reminder.ReplayAction(obj.Spec.Action),
		Named: len(obj.Spec.Keys) > 0 || slices.Contains(obj.Spec.Reasons, v1alpha1.DeadReason(reminder.ReconciliationRequired)),
	}
	if obj.Spec.ExtendDeadline != nil {
		o.Extend = obj.Spec.ExtendDeadline.Duration
	}
	return o
}

// limitOf is how many reminders a ReminderReplay looks at, paceOf how many it handles
// a second; the defaults are those of the schema.
func limitOf(obj *v1alpha1.ReminderReplay) int { return int(valueOr(obj.Spec.Limit, 100)) }
func paceOf(obj *v1alpha1.ReminderReplay) int  { return int(valueOr(obj.Spec.PerSecond, 10)) }

func valueOr(p *int32, otherwise int32) int32 {
	if p == nil {
		return otherwise
	}
	return *p
}

// survey is what the ledger knows of a schedule, as far as it matters to one
// ReminderReplay. What that has done is told by the records alone.
type survey struct {
	spec   v1alpha1.ReminderReplaySpec
	uid    string
	prefix string          // of the schedule's keys
	keys   map[string]bool // nil for all
	limit  int

	// replayed and discarded count what this object has handled; unfinished are those
	// of them of which it is not known whether the effects followed.
	replayed, discarded int64
	unfinished          []deadOne
	// open are the oldest matching dead letters, and beyond counts the others.
	open   []deadOne
	beyond int
	// named are the reminders that a key of the spec names, with their state where they
	// are not dead; empty without keys.
	named map[string]reminder.State
}

// deadOne is a reminder as the survey found it.
type deadOne struct {
	token  string
	record reminder.Record
}

func newSurvey(obj *v1alpha1.ReminderReplay) *survey {
	s := &survey{
		spec: obj.Spec, uid: string(obj.UID), prefix: obj.Namespace + "/" + obj.Spec.ScheduleName + "/",
		limit: limitOf(obj), named: map[string]reminder.State{},
	}
	if len(obj.Spec.Keys) > 0 {
		s.keys = map[string]bool{}
	}
	for _, key := range obj.Spec.Keys {
		s.keys[key] = true
	}
	return s
}

// add looks at the latest revision of one reminder. What cannot be read, because a
// newer version wrote it, is left alone.
func (s *survey) add(rev broker.Revision) {
	r, one := rev.Record, deadOne{rev.Token, rev.Record}
	if rev.Err != nil || r.State == reminder.Missed {
		return
	}
	key := r.Key.String()
	entry, handled := r.HandledBy(s.uid)
	if !handled && s.keys != nil && !s.keys[key] {
		return
	}
	switch {
	case s.keys == nil:
	case handled || r.State == reminder.Dead:
		s.named[key] = ""
	default:
		s.named[key] = r.State
	}
	if handled {
		s.handled(entry, one)
		return
	}
	if r.State != reminder.Dead {
		return
	}
	if len(s.spec.Reasons) > 0 && !slices.Contains(s.spec.Reasons, v1alpha1.DeadReason(r.Reason)) {
		return
	}
	if s.open = append(s.open, one); len(s.open) > 2*s.limit {
		s.keepOldest()
	}
}

func (s *survey) handled(entry reminder.Replay, one deadOne) {
	if entry.Action == reminder.ActionDiscard {
		s.discarded++
	} else {
		s.replayed++
	}
	if last := one.record.Replays[len(one.record.Replays)-1]; last.UID == s.uid && (one.record.State == reminder.Scheduled || one.record.State == reminder.Discarded) {
		s.unfinished = append(s.unfinished, one)
	}
}

// keepOldest sorts by the time of death and drops what is beyond the limit.
func (s *survey) keepOldest() {
	slices.SortFunc(s.open, func(a, b deadOne) int {
		return cmp.Or(a.record.FinishTime.Compare(b.record.FinishTime), cmp.Compare(a.token, b.token))
	})
	keep := min(len(s.open), s.limit)
	s.beyond += len(s.open) - keep
	s.open = slices.Delete(s.open, keep, len(s.open))
}

// replayPlan is what is left to do, and what is refused as of now.
type replayPlan struct {
	matched, replayed, discarded int64
	todo                         []deadOne
	refused                      map[reminder.Reason]int64
	// beyond is how many open dead letters match beyond the limit.
	beyond int
}

// plan decides on everything that the survey has found. What was handled counts first
// against the limit, then open dead letters, the oldest first, then keys that name
// none.
func (s *survey) plan(o delivery.ReplayOrder, f delivery.Facts, now time.Time) replayPlan {
	s.keepOldest()
	p := replayPlan{replayed: s.replayed, discarded: s.discarded, refused: map[reminder.Reason]int64{}}
	room := max(0, s.limit-int(s.replayed+s.discarded))
	take := s.open[:min(room, len(s.open))]
	for _, one := range take {
		// Retention matters to the record only, which is made anew when it is written.
		if _, refusal := delivery.Replay(one.record, o, f, 0, now); refusal != "" {
			p.refused[refusal]++
		} else {
			p.todo = append(p.todo, one)
		}
	}
	p.beyond = s.beyond + len(s.open) - len(take)
	refusals := s.refusedKeys()
	for _, refusal := range refusals[:min(room-len(take), len(refusals))] {
		p.refused[refusal]++
	}
	p.matched = p.replayed + p.discarded + int64(len(p.todo))
	for _, n := range p.refused {
		p.matched += n
	}
	return p
}

// refusedKeys are the refusals of keys of the spec that name no dead letter.
func (s *survey) refusedKeys() (all []reminder.Reason) {
	for _, key := range s.spec.Keys {
		state, known := s.named[key]
		switch {
		case !strings.HasPrefix(key, s.prefix):
			all = append(all, reminder.OtherSchedule)
		case !known:
			all = append(all, reminder.UnknownKey)
		case state == reminder.Sent:
			all = append(all, reminder.AlreadySent)
		case state != "":
			all = append(all, reminder.NotDead)
		}
	}
	return all
}
