package integration

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// outage is a system whose controller was away for three days beside schedules of
// each minute, and what is known of it.
type outage struct {
	s   *system.System
	log *acceptances
	// last is up to when the schedules were planned, began when the controller came
	// back, end when the schedules end.
	last, began, end time.Time
}

// taken is how many occurrences the schedules take up for each recipient, by name.
var taken = map[string]int{"none": 0, "latest": 1, "all": 100}

// Rows 47 and 50, and M1, M4, M10: the controller is away for three days, and then
// is killed four times while it catches up.
func TestRow47DownForThreeDays(t *testing.T) {
	t.Parallel()
	o := outage{log: &acceptances{}}
	o.s = system.StartT(t, system.Options{Failpoints: true, ReceiverLog: o.log})
	o.s.Create(t, o.s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	o.s.WaitWorkers(t, "mail", 1)
	o.end = time.Now().Add(2 * time.Minute).Truncate(time.Minute).Add(time.Second)
	paused := suspend(t, o.s)
	o.goAway(t)
	o.comeBack(t)
	t.Run("row 50, M4: suspended for 14 days and resumed", func(t *testing.T) { paused.resume(t, o) })
	t.Run("M10: one-offs that are past when they are made", func(t *testing.T) { pastOneOffs(t, o) })
	t.Run("schedules that have ended are deleted", func(t *testing.T) { deletedWhenEnded(t, o) })
	for range 3 {
		o.restart(t)
	}
	for name := range taken {
		t.Run("row 47, M1: catchUp "+name, func(t *testing.T) { o.check(t, name) })
	}
	o.restart(t)
	for name := range taken {
		t.Run("after another start, "+name, func(t *testing.T) { o.check(t, name) })
	}
	if got := o.s.Receiver.Stats(); got.Duplicates != 0 {
		t.Errorf("the receiver has %d duplicates", got.Duplicates)
	}
}

// goAway makes the schedules and the state that a controller leaves that planned them
// three days ago and not since. They are suspended at first, so that nothing of them
// is planned before.
func (o *outage) goAway(t *testing.T) {
	t.Helper()
	for name, mode := range map[string]*v1alpha1.CatchUpPolicy{"none": catchUp(v1alpha1.CatchUpNone), "latest": nil, "all": catchUp(v1alpha1.CatchUpAll)} {
		obj := minutely(name, 3)
		obj.Spec.Schedule.EndTime = &metav1.Time{Time: o.end}
		obj.Spec.CatchUp, obj.Spec.Suspend = mode, true
		o.s.Create(t, obj)
	}
	for name := range taken {
		o.s.WaitReason(t, name, v1alpha1.ReasonSuspended)
	}
	if err := o.s.Controllers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	o.last = time.Now().Add(-72 * time.Hour)
	for name := range taken {
		update(t, o.s, name, func(obj *v1alpha1.ReminderSchedule) { obj.Spec.Suspend = false })
		o.s.PlannedThrough(t, name, o.last)
	}
	o.s.PlannedThrough(t, "paused", time.Now().Add(-14*24*time.Hour))
}

// minutely is a schedule of each minute that may be sent late.
func minutely(name string, n int) *v1alpha1.ReminderSchedule {
	obj := system.OneOff(name, "mail", time.Now(), n, "ada")
	obj.Spec.Schedule = v1alpha1.ScheduleSpec{Cron: "* * * * *"}
	obj.Spec.Delivery.Deadline.Duration = 24 * time.Hour
	return obj
}

// comeBack starts the controller, which is killed when it has written the registry
// of a schedule and not yet the record of what was missed, once for each; in the
// middle of the reminders, twice; and with everything planned but not closed.
func (o *outage) comeBack(t *testing.T) {
	t.Helper()
	o.began = time.Now()
	for o.undecided(t) > 0 {
		o.diesAt(t, failpoint.C1Registered)
	}
	for _, point := range []string{failpoint.C2Recorded + "@20", failpoint.C2Recorded + "@100", failpoint.C4Planned} {
		o.diesAt(t, point)
	}
	if err := o.s.Controllers[0].StartWithEnv(); err != nil {
		t.Fatal(err)
	}
}

func (o *outage) diesAt(t *testing.T, point string) {
	t.Helper()
	c := o.s.Controllers[0]
	if err := c.StartWithEnv("REMINDER_FAILPOINT=" + point); err != nil {
		t.Fatal(err)
	}
	system.Eventually(t, "the controller dies at "+point, func() (bool, string) { return !c.Running(), "it runs" })
}

// undecided is how many schedules are as they were left. The first one that is not
// must have been cut off in between.
func (o *outage) undecided(t *testing.T) int {
	t.Helper()
	left, cut := 0, 0
	for name := range taken {
		c := o.s.Entry(t, name).Cursor
		if c.ThroughTime.Equal(o.last) {
			left++
		} else if c.Open() && c.Missed != nil && missedBy(t, o.s, name) == nil {
			cut++
			t.Logf("%s: cut off with %d missed at %s", name, c.Missed.Reminders, reminder.SlotOf(c.CatchUpTime))
		}
	}
	if left < len(taken) && cut == 0 {
		t.Error("no schedule was cut off between registry and record")
	}
	return left
}

// restart kills the controller and starts it, and waits until it has looked at the
// schedules: their text is edited.
func (o *outage) restart(t *testing.T) {
	t.Helper()
	c := o.s.Controllers[0]
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	for name := range taken {
		update(t, o.s, name, func(obj *v1alpha1.ReminderSchedule) { obj.Spec.Message.Body += "!" })
	}
	if err := c.StartWithEnv(); err != nil {
		t.Fatal(err)
	}
	for name := range taken {
		system.Eventually(t, name+" is looked at again", func() (bool, string) {
			obj := o.s.Schedule(t, name)
			return obj.Status.ObservedGeneration == obj.Generation, fmt.Sprint(obj.Status.ObservedGeneration)
		})
	}
}

// check works out what must have become of each minute. When the controller looked
// at the schedule is not known; the last minute that it gave up says so.
func (o *outage) check(t *testing.T, name string) {
	t.Helper()
	run := missedBy(t, o.s, name)
	if run == nil {
		t.Fatal("no run of missed occurrences is recorded")
	}
	past := minutes(o.last, run.Missed.LastDueTime.Add(time.Duration(taken[name])*time.Minute))
	if newest := past[len(past)-1]; newest.Before(o.began.Truncate(time.Minute)) || newest.After(run.FinishTime) || newest.After(o.end) {
		t.Errorf("caught up through %s; the controller came back at %s and wrote that at %s", newest, o.began, run.FinishTime)
	}
	all := minutes(o.last, o.end)
	given := len(past) - taken[name]
	o.s.WaitReason(t, name, v1alpha1.ReasonFinished)
	account{name: name, n: 3, missed: all[:given], sent: all[given:]}.check(t, o.s, o.log)
	o.checkPace(t, name, all[given:len(past)])
}

// checkPace looks that what is caught up is released one a second per recipient.
func (o *outage) checkPace(t *testing.T, name string, caughtUp []time.Time) {
	t.Helper()
	release := map[string]time.Time{}
	for _, r := range o.s.Records(t, name) {
		release[r.Key.Slot+r.Key.Recipient] = r.ReleaseTime
	}
	for i := 1; i < len(caughtUp); i++ {
		for _, id := range []string{"acct_0000", "acct_0001", "acct_0002"} {
			before, at := release[reminder.SlotOf(caughtUp[i-1])+id], release[reminder.SlotOf(caughtUp[i])+id]
			if at.Sub(before) != time.Second {
				t.Fatalf("%s: %s is released at %s, the one before it at %s; want a second between", name, caughtUp[i], at, before)
			}
		}
	}
}
