package integration

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// Row 12: a worker gets SIGTERM with 100 reminders in flight, on a channel that would
// park each of them were it not to wait for its answer, and with more that wait.
func TestRow12SIGTERMWithAHundredInFlight(t *testing.T) {
	t.Parallel()
	const inFlight, all = 100, 160
	v := newTrial(t, system.Options{})
	channel := v.HTTPChannel("mail", v1alpha1.IdempotencyNone)
	channel.Spec.HTTP.URL, channel.Spec.HTTP.Timeout = v.url+"/hook?dedupe=false", &metav1.Duration{Duration: time.Minute}
	channel.Spec.Workers = &v1alpha1.WorkersSpec{Concurrency: new(int32(inFlight))}
	v.Create(t, channel)
	v.WaitWorkers(t, "mail", 1)
	gate := make(chan struct{})
	v.witness.hold("burst", gate, false)
	v.Create(t, system.OneOff("burst", "mail", time.Now().Add(2*time.Second), all, "ada"))
	system.Eventually(t, "100 are in flight", func() (bool, string) {
		n := len(v.witness.of("burst"))
		return n == inFlight, fmt.Sprint(n)
	})
	workers := v.WorkersOf(t, "mail")
	v.Node.SetRestart(workers, false)
	worker := v.Node.Children(workers)[0].Process
	if err := worker.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// It takes nothing new, also when there is room again.
	close(gate)
	awaitEnd(t, worker)
	if n := len(v.witness.of("burst")); n != inFlight {
		t.Errorf("%d were submitted, want those in flight, %d", n, inFlight)
	}
	ended := outcomeOf(v.Records(t, "burst"))
	if want := (outcome{sent: inFlight, pending: all - inFlight}); ended != want {
		t.Errorf("the worker has left %+v, want %+v", ended, want)
	}
	for _, r := range v.Records(t, "burst") {
		if r.State != reminder.Sent && r.State != reminder.Scheduled {
			t.Errorf("%s was left %s", r.Key, r.State)
		}
	}
	v.Node.SetRestart(workers, true)
	v.ends(t, "burst", outcome{sent: all})
	if n := len(v.witness.of("burst")); n != all {
		t.Errorf("%d were submitted, want %d", n, all)
	}
	v.settled(t)
}

// awaitEnd waits until a worker has ended in order.
func awaitEnd(t *testing.T, p *cluster.Process) {
	t.Helper()
	select {
	case <-p.Exited():
	case <-time.After(system.Patience):
		t.Fatal("the worker does not end")
	}
	if err := p.Wait(t.Context()); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

// Row 13: one reminder kills each worker that claims it. It ends as poison, and the
// others that fall due meanwhile are sent.
func TestRow13AReminderThatKillsItsWorkers(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Failpoints: true})
	s.Node.SetEnv("REMINDER_FAILPOINT="+failpoint.W1Claimed, "REMINDER_FAILPOINT_IN=poison")
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyNone))
	s.WaitWorkers(t, "mail", 1)
	due := time.Now().Add(3 * time.Second)
	s.Create(t, retried("poison", due, 1), retried("first", due, 20))
	s.WaitCounts(t, "first", "sent beside it", sent(20))
	s.WaitRecords(t, "poison", "workers die", 1, func(r reminder.Record) bool { return r.Takeovers > 2 })
	s.Create(t, retried("second", time.Now().Add(2*time.Second), 20))
	s.WaitCounts(t, "second", "sent between the deaths", sent(20))
	system.EventuallyWithin(t, 4*time.Minute, "it ends as poison", func() (bool, string) {
		records := s.Records(t, "poison")
		return len(records) == 1 && records[0].State == reminder.Dead && records[0].Reason == reminder.Poison, fmt.Sprintf("%+v", records)
	})
	s.WaitCounts(t, "poison", "one dead letter", func(c v1alpha1.ReminderCounts) bool { return c.Due == 1 && c.Dead == 1 && c.Pending == 0 })
	s.WaitRecords(t, "poison", "after 17 claims", 1, func(r reminder.Record) bool { return r.Takeovers == 16 && r.Attempts == 0 })
	if n := deadLetters(t, s, reminder.OwnerData); n != 1 {
		t.Errorf("%d dead letters for the owner of the data, want 1", n)
	}
	if got := s.Receiver.Stats(); got.Accepted != 40 || got.Duplicates != 0 {
		t.Errorf("receiver: %d accepted, %d duplicates, want 40 and 0", got.Accepted, got.Duplicates)
	}
}

// retried is a schedule whose reminders are sent again when their worker dies in the
// call because of another one.
func retried(name string, due time.Time, n int) *v1alpha1.ReminderSchedule {
	obj := system.OneOff(name, "mail", due, n, "ada")
	obj.Spec.Delivery.OnUnknown = v1alpha1.OnUnknownRetry
	return obj
}
