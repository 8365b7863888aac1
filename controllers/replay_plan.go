package controllers

import (
	"cmp"
	"maps"
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

	// By token: done is what this object has handled, open the oldest matching dead
	// letters, beyond the others.
	done   map[string]deadOne
	open   map[string]deadOne
	beyond map[string]bool
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
		spec: obj.Spec, uid: string(obj.UID), prefix: obj.Namespace + "/" + obj.Spec.ScheduleName + "/", limit: limitOf(obj),
		done: map[string]deadOne{}, open: map[string]deadOne{}, beyond: map[string]bool{}, named: map[string]reminder.State{},
	}
	if len(obj.Spec.Keys) > 0 {
		s.keys = map[string]bool{}
	}
	for _, key := range obj.Spec.Keys {
		s.keys[key] = true
	}
	return s
}

// add looks at a revision of one reminder: the latest as of when it was read, so that
// a later one may follow, which then counts alone. What cannot be read, because a
// newer version wrote it, is left alone.
func (s *survey) add(rev broker.Revision) {
	r, one := rev.Record, deadOne{rev.Token, rev.Record}
	if rev.Err != nil || r.State == reminder.Missed {
		return
	}
	far := s.beyond[rev.Token]
	delete(s.open, rev.Token)
	delete(s.beyond, rev.Token)
	key := r.Key.String()
	_, handled := r.HandledBy(s.uid)
	if !handled && s.keys != nil && !s.keys[key] {
		return
	}
	s.name(key, r, handled)
	switch {
	case handled:
		s.done[rev.Token] = one
	case r.State != reminder.Dead || !s.wants(r.Reason):
	case far:
		s.beyond[rev.Token] = true // if it has died again, then later than before
	default:
		s.open[rev.Token] = one
	}
	if len(s.open) > 2*s.limit {
		s.oldest()
	}
}

func (s *survey) name(key string, r reminder.Record, handled bool) {
	switch {
	case s.keys == nil:
	case handled || r.State == reminder.Dead:
		s.named[key] = ""
	default:
		s.named[key] = r.State
	}
}

func (s *survey) wants(reason reminder.Reason) bool {
	return len(s.spec.Reasons) == 0 || slices.Contains(s.spec.Reasons, v1alpha1.DeadReason(reason))
}

// oldest are the open dead letters by the time of death; what is beyond the limit is
// dropped.
func (s *survey) oldest() []deadOne {
	all := slices.SortedFunc(maps.Values(s.open), func(a, b deadOne) int {
		return cmp.Or(a.record.FinishTime.Compare(b.record.FinishTime), cmp.Compare(a.token, b.token))
	})
	keep := min(len(all), s.limit)
	for _, one := range all[keep:] {
		delete(s.open, one.token)
		s.beyond[one.token] = true
	}
	return all[:keep]
}

// unfinished are those that this object has handled last, and of which it is not known
// whether the effects followed.
func (s *survey) unfinished() (all []deadOne) {
	for _, one := range s.done {
		last := one.record.Replays[len(one.record.Replays)-1]
		if last.UID == s.uid && (one.record.State == reminder.Scheduled || one.record.State == reminder.Discarded) {
			all = append(all, one)
		}
	}
	return all
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
	p := replayPlan{refused: map[reminder.Reason]int64{}}
	for _, one := range s.done {
		if entry, _ := one.record.HandledBy(s.uid); entry.Action == reminder.ActionDiscard {
			p.discarded++
		} else {
			p.replayed++
		}
	}
	open, room := s.oldest(), max(0, s.limit-len(s.done))
	take := open[:min(room, len(open))]
	for _, one := range take {
		// Retention matters to the record only, which is made anew when it is written.
		if _, refusal := delivery.Replay(one.record, o, f, 0, now); refusal != "" {
			p.refused[refusal]++
		} else {
			p.todo = append(p.todo, one)
		}
	}
	p.beyond = len(s.beyond) + len(open) - len(take)
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
