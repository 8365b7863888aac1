package integration

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// Rows 41 and 42, M11: of two controllers the leader is killed a second before
// reminders are due. The next one stands still while the first, started again, takes
// over; and then that one, alone, for two minutes.
func TestRows41And42LeaderKilledAndStandingStill(t *testing.T) {
	t.Parallel()
	log := &acceptances{}
	s := system.StartT(t, system.Options{Controllers: 2, ControllerArgs: []string{"--leader-elect", "--look-ahead=1m"}, ReceiverLog: log})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	t.Run("row 41, M11: killed one second before due", func(t *testing.T) { killedBeforeDue(t, s, log) })
	t.Run("row 42: standing still while another leads", func(t *testing.T) { splitBrain(t, s) })
	t.Run("row 42: standing still for minutes", func(t *testing.T) { standingStill(t, s, log) })
	t.Run("what both have planned is sent once", func(t *testing.T) {
		account{name: "split", n: 2, sent: tensOf(s.Schedule(t, "split"))}.check(t, s, log)
	})
	if got := s.Receiver.Stats(); got.Duplicates != 0 {
		t.Errorf("the receiver has %d duplicates", got.Duplicates)
	}
}

// killedBeforeDue: what is planned is sent on time; what is made after that waits for
// the next leader, and its policy holds.
func killedBeforeDue(t *testing.T, s *system.System, log *acceptances) {
	due := time.Now().Add(10 * time.Second).UTC().Truncate(time.Second)
	s.Create(t, system.OneOff("planned", "mail", due, 3, "ada"))
	s.WaitRecords(t, "planned", "planned", 3, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	waitUntil(t, due.Add(-time.Second))
	killLeader(t, s)
	next := time.Now().Add(2 * time.Second).UTC().Truncate(time.Second)
	late, dropped := system.OneOff("late", "mail", next, 3, "ada"), system.OneOff("dropped", "mail", next, 3, "ada")
	dropped.Spec.CatchUp = catchUp(v1alpha1.CatchUpNone)
	s.Create(t, late, dropped)
	for _, a := range []account{
		{name: "planned", n: 3, sent: []time.Time{due}},
		{name: "late", n: 3, sent: []time.Time{next}},
		{name: "dropped", n: 3, missed: []time.Time{next}},
	} {
		s.WaitReason(t, a.name, v1alpha1.ReasonFinished)
		a.check(t, s, log)
		for _, key := range a.keys() {
			t.Logf("%s: %s late", key, log.times(t, key)[0].Sub(a.sent[0]).Round(time.Millisecond))
		}
	}
}

// tenSeconds is a schedule that falls due every ten seconds for a while.
func tenSeconds(name string, mode v1alpha1.CatchUpMode, length time.Duration) *v1alpha1.ReminderSchedule {
	obj := system.OneOff(name, "mail", time.Now(), 2, "ada")
	obj.Spec.Schedule = v1alpha1.ScheduleSpec{Every: &metav1.Duration{Duration: 10 * time.Second}, EndTime: &metav1.Time{Time: time.Now().Add(length)}}
	obj.Spec.CatchUp = catchUp(mode)
	return obj
}

// tensOf are all its occurrences.
func tensOf(obj *v1alpha1.ReminderSchedule) []time.Time {
	created := obj.CreationTimestamp.UTC()
	return grid(created, 10*time.Second, created, obj.Spec.Schedule.EndTime.Add(-time.Second))
}

// splitBrain: the leader stands still until the other one leads and has planned, and
// goes on: it finds that it has lost its lease, and ends.
func splitBrain(t *testing.T, s *system.System) {
	leading := running(t, s)
	for _, c := range s.Controllers {
		if c != leading {
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Create(t, tenSeconds("split", v1alpha1.CatchUpNone, time.Minute))
	s.WaitReason(t, "split", v1alpha1.ReasonPlanned)
	holder := leader(t, s)
	if err := leading.Pause(); err != nil {
		t.Fatal(err)
	}
	update(t, s, "split", func(obj *v1alpha1.ReminderSchedule) { obj.Spec.Message.Body = "Another text" })
	system.Eventually(t, "another one leads and has planned", func() (bool, string) {
		obj := s.Schedule(t, "split")
		return leader(t, s) != holder && obj.Status.ObservedGeneration == obj.Generation, leader(t, s)
	})
	if err := leading.Resume(); err != nil {
		t.Fatal(err)
	}
	system.Eventually(t, "the old leader ends", func() (bool, string) { return !leading.Running(), leading.Tail(3) })
}

// standing are the policies of the three schedules beside a controller that stands still.
var standing = map[string]v1alpha1.CatchUpMode{"standing-none": v1alpha1.CatchUpNone, "standing-latest": v1alpha1.CatchUpLatest, "standing-all": v1alpha1.CatchUpAll}

// standingStill stops the controller for so long that occurrences which it has not
// planned lie more than a minute back.
func standingStill(t *testing.T, s *system.System, log *acceptances) {
	for name, mode := range standing {
		s.Create(t, tenSeconds(name, mode, 160*time.Second))
	}
	for name := range standing {
		s.WaitReason(t, name, v1alpha1.ReasonPlanned)
	}
	c := running(t, s)
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	paused, through := time.Now(), map[string]time.Time{}
	for name := range standing {
		through[name] = s.Entry(t, name).Cursor.ThroughTime
		t.Logf("%s: planned through %s", name, through[name])
	}
	for name := range standing {
		waitUntil(t, through[name].Add(75*time.Second))
	}
	resumed := time.Now()
	t.Logf("it stood still for %s", resumed.Sub(paused).Round(time.Second))
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
	for name := range standing {
		waitFinished(t, s, c, name)
	}
	for name := range standing {
		t.Run(name, func(t *testing.T) { checkTens(t, s, log, name, through[name], resumed) })
	}
}

// running is the controller that is left.
func running(t *testing.T, s *system.System) *cluster.Process {
	t.Helper()
	for _, c := range s.Controllers {
		if c.Running() {
			return c
		}
	}
	t.Fatal("no controller runs")
	return nil
}

// waitFinished waits until a schedule has ended, and starts the controller when it
// has ended, as a Deployment does: one that lost its lease must.
func waitFinished(t *testing.T, s *system.System, c *cluster.Process, name string) {
	t.Helper()
	system.EventuallyWithin(t, 3*time.Minute, name+" ends", func() (bool, string) {
		if !c.Running() {
			t.Log("the controller had ended; it is started again")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
		}
		obj := s.Schedule(t, name)
		return obj.Status.FinishTime != nil, fmt.Sprintf("%+v", obj.Status.Counts)
	})
}

// checkTens: each ten seconds since the creation are sent or missed. Missed is what
// lies behind the plan of the controller that stood still.
func checkTens(t *testing.T, s *system.System, log *acceptances, name string, through, resumed time.Time) {
	obj := s.Schedule(t, name)
	all := tensOf(obj)
	a := account{name: name, n: 2, sent: all}
	if run := missedBy(t, s, name); run != nil {
		planned := len(grid(all[0], 10*time.Second, all[0].Add(-time.Second), through))
		given := int(run.Missed.Reminders) / 2
		a.missed = all[planned : planned+given]
		a.sent = append(all[:planned:planned], all[planned+given:]...)
		newest := run.Missed.LastDueTime
		if standing[name] == v1alpha1.CatchUpLatest {
			newest = newest.Add(10 * time.Second)
		}
		if newest.Add(10*time.Second).Before(earliest(resumed, all[len(all)-1])) || newest.After(run.FinishTime) {
			t.Errorf("caught up through %s; it went on at %s and wrote that at %s", newest, resumed, run.FinishTime)
		}
	} else if standing[name] != v1alpha1.CatchUpAll {
		t.Error("nothing is recorded as missed")
	}
	a.check(t, s, log)
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
