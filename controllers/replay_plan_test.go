package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// deadRevision is a reminder that died n seconds after 10:00.
func deadRevision(n int) broker.Revision {
	r := delivery.Plan(delivery.Planned{
		Key:   reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-30T10:00:00Z", Recipient: fmt.Sprint(n), Channel: "mail"},
		Epoch: 1, ReleaseTime: clock("10:00:00"), DeadlineTime: clock("14:00:00"), LateTime: clock("10:05:00"),
	}, time.Hour, clock("09:00:00"))
	at := clock("10:00:00").Add(time.Duration(n) * time.Second)
	r = delivery.Refuse(r, reminder.EndpointGone, "", delivery.Policy{Retention: time.Hour}, at).Record
	return broker.Revision{Token: r.Key.Token(), Number: uint64(n + 1), Record: r}
}

// A survey reads a ledger that others change meanwhile: it may meet a reminder twice,
// and then the later revision counts.
func TestASurveyCountsEachReminderOnce(t *testing.T) {
	t.Parallel()
	obj := &v1alpha1.ReminderReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "r", UID: "uid"},
		Spec:       v1alpha1.ReminderReplaySpec{ScheduleName: "renewal", Action: v1alpha1.ActionReplay, Limit: new(int32(5))},
	}
	facts, now := delivery.Facts{Epoch: 1}, clock("11:00:00")
	changed := func(n int, to func(reminder.Record) reminder.Record) broker.Revision {
		rev := deadRevision(n)
		rev.Number, rev.Record = rev.Number+1000, to(rev.Record)
		return rev
	}
	handle := func(r reminder.Record) reminder.Record {
		next, _ := delivery.Replay(r, orderOf(obj), facts, time.Hour, now)
		return next
	}
	send := func(r reminder.Record) reminder.Record {
		next, _ := delivery.Upgrade(r, reminder.Result{Outcome: reminder.Accepted}, delivery.Policy{Retention: time.Hour}, now)
		return next
	}
	s := newSurvey(obj)
	for n := range 40 { // the newest first, so that all but five are dropped again
		s.add(deadRevision(39 - n))
	}
	s.add(changed(0, handle))  // handled meanwhile
	s.add(deadRevision(1))     // seen twice
	s.add(changed(2, send))    // sent meanwhile
	s.add(changed(39, send))   // beyond the limit, and sent meanwhile
	s.add(deadRevision(38))    // beyond the limit, and seen twice
	s.add(changed(37, handle)) // beyond the limit, and handled by another controller
	p := s.plan(orderOf(obj), facts, now)
	var todo []string
	for _, one := range p.todo {
		todo = append(todo, one.record.Key.Recipient)
	}
	// Room for three: two are done.
	if diff := cmp.Diff([]string{"1", "3", "4"}, todo); diff != "" {
		t.Errorf("todo (-want +got):\n%s", diff)
	}
	if p.matched != 5 || p.replayed != 2 || p.discarded != 0 || len(p.refused) != 0 || p.beyond != 33 {
		t.Errorf("matched %d, replayed %d, discarded %d, refused %v, beyond %d", p.matched, p.replayed, p.discarded, p.refused, p.beyond)
	}
}
