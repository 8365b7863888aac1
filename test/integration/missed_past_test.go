package integration

import (
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// pastOneOffs are due before they are made. Policy, window and deadline decide, each
// by the time at which it was due.
func pastOneOffs(t *testing.T, o outage) {
	now := time.Now().UTC().Truncate(time.Second)
	cases := map[string]struct {
		at       time.Time
		catchUp  *v1alpha1.CatchUpPolicy
		deadline time.Duration
		sent     bool
	}{
		"years ago":                            {at: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), deadline: 4 * time.Hour},
		"inside the default window":            {at: now.Add(-10 * time.Minute), deadline: 4 * time.Hour, sent: true},
		"inside the window, policy None":       {at: now.Add(-10 * time.Minute), deadline: 4 * time.Hour, catchUp: catchUp(v1alpha1.CatchUpNone)},
		"behind the default window":            {at: now.Add(-2 * time.Hour), deadline: 4 * time.Hour},
		"inside a long window":                 {at: now.Add(-2 * time.Hour), deadline: 4 * time.Hour, catchUp: catchUp(v1alpha1.CatchUpAll), sent: true},
		"inside a long window, deadline past":  {at: now.Add(-2 * time.Hour), deadline: time.Hour, catchUp: catchUp(v1alpha1.CatchUpAll)},
		"a moment ago, the policy still holds": {at: now.Add(-2 * time.Second), deadline: 4 * time.Hour, catchUp: catchUp(v1alpha1.CatchUpNone)},
	}
	accounts, i := map[string]account{}, 0
	for what, c := range cases {
		i++
		obj := system.OneOff("past-"+strconv.Itoa(i), "mail", c.at, 3, "ada")
		obj.Spec.CatchUp, obj.Spec.Delivery.Deadline.Duration = c.catchUp, c.deadline
		o.s.Create(t, obj)
		a := account{name: obj.Name, n: 3, missed: []time.Time{c.at}}
		if c.sent {
			a.sent, a.missed = a.missed, nil
		}
		accounts[what] = a
	}
	for what, a := range accounts {
		t.Run(what, func(t *testing.T) {
			o.s.WaitReason(t, a.name, v1alpha1.ReasonFinished)
			a.check(t, o.s, o.log)
			if len(a.missed) > 0 {
				waitEvent(t, o.s, a.name, "OccurrencesMissed")
			}
		})
	}
}

// deletedWhenEnded: ttlAfterFinished deletes what has ended, and leaves the outcomes;
// not while a dead letter is open.
func deletedWhenEnded(t *testing.T, o outage) {
	ending := func(name string, at time.Time, ttl time.Duration) *v1alpha1.ReminderSchedule {
		obj := system.OneOff(name, "mail", at, 3, "ada")
		obj.Spec.TTLAfterFinished = &metav1.Duration{Duration: ttl}
		return obj
	}
	soon := time.Now().Add(3 * time.Second)
	dead := ending("ended-dead", soon, 0)
	dead.Spec.Recipients[0].Address = "reject@example.com"
	o.s.Create(t, dead, ending("ended-0s", soon, 0), ending("ended-3s", soon, 3*time.Second), ending("ended-missed", time.Unix(1e9, 0), 0))
	o.s.WaitCounts(t, "ended-dead", "two sent, one dead", func(c v1alpha1.ReminderCounts) bool { return c.Sent == 2 && c.Dead == 1 && c.Pending == 0 })
	waitGone(t, o.s, "ended-missed")
	waitGone(t, o.s, "ended-0s")
	waitGone(t, o.s, "ended-3s")
	gone := time.Now()
	for _, name := range []string{"ended-0s", "ended-3s"} {
		if all, n := len(o.s.Records(t, name)), len(keysIn(o.s.Records(t, name), reminder.Sent)); n != 3 || all != 3 || len(o.log.keys(t, name)) != 3 {
			t.Errorf("%s: %d of %d records are sent, %d accepted; want 3 of each", name, n, all, len(o.log.keys(t, name)))
		}
	}
	for _, r := range o.s.Records(t, "ended-3s") {
		if gone.Before(r.FinishTime.Truncate(time.Second).Add(3 * time.Second)) {
			t.Errorf("deleted before %s, %s was sent at %s", gone, r.Key, r.FinishTime)
		}
	}
	if run := missedBy(t, o.s, "ended-missed"); run == nil || run.Missed.Reminders != 3 {
		t.Errorf("ended-missed: recorded is %+v, want a run of 3", run)
	}
	o.s.WaitReason(t, "ended-dead", v1alpha1.ReasonFinished)
	for _, r := range o.s.Records(t, "ended-dead") {
		if !r.State.Terminal() || r.State == reminder.Cancelled {
			t.Errorf("%s is %s", r.Key, r.State)
		}
	}
}
