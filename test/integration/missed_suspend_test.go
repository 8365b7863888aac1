package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// suspension is a schedule of each minute that is suspended, and what was sent before.
type suspension struct{ before []string }

// suspend makes it, lets it be planned, and suspends it.
func suspend(t *testing.T, s *system.System) suspension {
	t.Helper()
	obj := minutely("paused", 3)
	obj.Spec.CatchUp = catchUp(v1alpha1.CatchUpAll)
	s.Create(t, obj)
	s.WaitReason(t, "paused", v1alpha1.ReasonPlanned)
	update(t, s, "paused", func(obj *v1alpha1.ReminderSchedule) { obj.Spec.Suspend = true })
	s.WaitCounts(t, "paused", "nothing is pending", func(c v1alpha1.ReminderCounts) bool { return c.Pending == 0 && c.Cancelled >= 3*14 })
	return suspension{keysIn(s.Records(t, "paused"), reminder.Sent)}
}

// keysIn are the keys of the records in a state, in order.
func keysIn(records []reminder.Record, state reminder.State) []string {
	var all []string
	for _, r := range records {
		if r.State == state {
			all = append(all, r.Key.String())
		}
	}
	slices.Sort(all)
	return all
}

// resume lets it go on until a minute was sent, and suspends it, so that numbers
// settle. The registry says that it was suspended 14 days ago.
func (p suspension) resume(t *testing.T, o outage) {
	if age := time.Since(o.s.Entry(t, "paused").Cursor.DoneTime); age < 14*24*time.Hour {
		t.Fatalf("it was suspended %s ago, want 14 days", age)
	}
	asked := time.Now().Truncate(time.Second)
	update(t, o.s, "paused", func(obj *v1alpha1.ReminderSchedule) { obj.Spec.Suspend = false })
	done := time.Now()
	system.Eventually(t, "a minute was sent", func() (bool, string) {
		return len(keysIn(o.s.Records(t, "paused"), reminder.Sent)) >= len(p.before)+3, "none yet"
	})
	update(t, o.s, "paused", func(obj *v1alpha1.ReminderSchedule) { obj.Spec.Suspend = true })
	o.s.WaitCounts(t, "paused", "sent, and nothing missed", func(c v1alpha1.ReminderCounts) bool {
		n := int64(len(o.log.keys(t, "paused")))
		return c.Pending == 0 && c.Missed == 0 && c.Dead == 0 && c.Sent == n && c.Due == n
	})
	p.checkSlots(t, o, asked, done)
}

// checkSlots: what was sent since it was resumed, between asked and done, are whole
// minutes one after the other, from the first one after that.
func (p suspension) checkSlots(t *testing.T, o outage, asked, done time.Time) {
	t.Helper()
	got := keysIn(o.s.Records(t, "paused"), reminder.Sent)
	fresh := slices.DeleteFunc(slices.Clone(got), func(key string) bool { return slices.Contains(p.before, key) })
	after := func(at time.Time) []string {
		return account{name: "paused", n: 3, sent: minutes(at, at.Add(time.Duration(len(fresh)/3)*time.Minute))}.keys()
	}
	if !slices.Equal(fresh, after(asked)) && !slices.Equal(fresh, after(done)) {
		t.Errorf("resumed between %s and %s; sent since: %s", asked, done, fresh)
	}
	if keys := o.log.keys(t, "paused"); !slices.Equal(keys, got) {
		t.Errorf("the receiver accepted %s, the ledger has %s sent", keys, got)
	}
	if got := runs(o.s.Schedule(t, "paused")); got != "none" {
		t.Errorf("missed runs: %s", got)
	}
	c := o.s.Schedule(t, "paused").Status.Counts
	t.Logf("resumed after 14 days: due %d = sent %d (%d before) + missed %d, cancelled %d", c.Due, c.Sent, len(p.before), c.Missed, c.Cancelled)
}
