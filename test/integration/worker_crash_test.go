package integration

import (
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// crash is one way for a worker to die while it has a reminder in hand.
type crash struct {
	point       string
	idempotency v1alpha1.Idempotency
	want        reminder.State
	reason      reminder.Reason
	// accepted is what the receiver must have accepted, suppressed what the ledger
	// must have counted.
	accepted   int
	suppressed int
	takeovers  int
}

// Each worker is a real process that sends itself SIGKILL at the point, and is
// started again as a kubelet would.
func TestWorkerCrashes(t *testing.T) {
	t.Parallel()
	rows := map[string]crash{
		"row 1: killed after fetching, redelivered, sent once":                      {point: failpoint.W0Fetched, idempotency: v1alpha1.IdempotencyByKey, want: reminder.Sent, accepted: 1},
		"row 2: killed after claiming, taken over, sent once":                       {point: failpoint.W1Claimed, idempotency: v1alpha1.IdempotencyByKey, want: reminder.Sent, accepted: 1, takeovers: 1},
		"row 2: killed after claiming, no dedupe, taken over, sent once":            {point: failpoint.W1Claimed, idempotency: v1alpha1.IdempotencyNone, want: reminder.Sent, accepted: 1, takeovers: 1},
		"row 3: killed in the call of a deduping channel, sent again by key":        {point: failpoint.W3InCall, idempotency: v1alpha1.IdempotencyByKey, want: reminder.Sent, accepted: 1, takeovers: 1},
		"row 3: killed after the Sending mark, Park, parked and not sent":           {point: failpoint.W2Sending, idempotency: v1alpha1.IdempotencyNone, want: reminder.Dead, reason: reminder.ReconciliationRequired},
		"row 5: killed after the answer of a deduping channel, accepted once":       {point: failpoint.W4Answered, idempotency: v1alpha1.IdempotencyByKey, want: reminder.Sent, accepted: 1, takeovers: 1},
		"row 5: killed after the answer without dedupe, parked, accepted once":      {point: failpoint.W4Answered, idempotency: v1alpha1.IdempotencyNone, want: reminder.Dead, reason: reminder.ReconciliationRequired, accepted: 1},
		"row 6: killed after recording the outcome, the redelivery changes nothing": {point: failpoint.W5Recorded, idempotency: v1alpha1.IdempotencyByKey, want: reminder.Sent, accepted: 1, suppressed: 1},
		"row 8: killed before the acknowledgement, the redelivery changes nothing":  {point: failpoint.W7AckSent, idempotency: v1alpha1.IdempotencyByKey, want: reminder.Sent, accepted: 1, suppressed: 1},
		"row 8: killed after the acknowledgement, nothing is redelivered":           {point: failpoint.W8Acked, idempotency: v1alpha1.IdempotencyByKey, want: reminder.Sent, accepted: 1},
	}
	s := system.StartT(t, system.Options{Failpoints: true})
	i := 0
	for name, row := range rows {
		i++
		t.Run(name, func(t *testing.T) { row.run(t, s, "crash-"+string(rune('a'+i))) })
	}
}

func (c crash) run(t *testing.T, s *system.System, name string) {
	s.Node.SetEnv("REMINDER_FAILPOINT=" + c.point)
	s.Create(t, s.HTTPChannel(name, c.idempotency))
	deployment := s.WorkersOf(t, name)
	s.Node.SetRestart(deployment, false)
	s.WaitWorkers(t, name, 1)
	before := s.Receiver.Stats()
	s.Create(t, system.OneOff(name, name, time.Now().Add(2*time.Second), 1, "ada"))
	waitExit(t, s, deployment)
	s.Node.SetEnv()
	s.Node.SetRestart(deployment, true)
	s.WaitRecords(t, name, string(c.want), 1, func(r reminder.Record) bool {
		return r.State == c.want && r.Reason == c.reason && r.Suppressed == c.suppressed && r.Takeovers == c.takeovers
	})
	s.WaitCounts(t, name, "status as the ledger", func(n v1alpha1.ReminderCounts) bool {
		dead, sent := b2i(c.want == reminder.Dead), b2i(c.want == reminder.Sent)
		return n.Due == 1 && n.Sent == sent && n.Dead == dead && n.Suppressed == int64(c.suppressed) && n.Pending == 0
	})
	after := s.Receiver.Stats()
	if got := after.Accepted - before.Accepted; got != c.accepted {
		t.Errorf("the receiver accepted %d, want %d", got, c.accepted)
	}
	if after.Duplicates != 0 {
		t.Errorf("the receiver has %d duplicates", after.Duplicates)
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// waitExit waits until the only worker of a deployment has died.
func waitExit(t *testing.T, s *system.System, deployment string) {
	t.Helper()
	system.Eventually(t, "the worker dies", func() (bool, string) {
		for _, c := range s.Node.Children(deployment) {
			if c.Process != nil && !c.Process.Running() {
				return true, ""
			}
		}
		return false, "it is running"
	})
}

// Row 4: the receiver has accepted and not answered when the worker is killed.
func TestRow4KilledInsideTheCall(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	for name, c := range map[string]struct {
		idempotency v1alpha1.Idempotency
		want        reminder.State
	}{"dedupes": {v1alpha1.IdempotencyByKey, reminder.Sent}, "parks": {v1alpha1.IdempotencyNone, reminder.Dead}} {
		t.Run(name, func(t *testing.T) {
			s.Create(t, s.HTTPChannel(name, c.idempotency))
			deployment := s.WorkersOf(t, name)
			s.WaitWorkers(t, name, 1)
			before := s.Receiver.Stats()
			s.Create(t, system.OneOff(name, name, time.Now().Add(2*time.Second), 1, "slow-once"))
			system.Eventually(t, "the receiver accepts", func() (bool, string) {
				return s.Receiver.Stats().Accepted > before.Accepted, "not yet"
			})
			if err := s.Node.Kill(deployment); err != nil {
				t.Fatal(err)
			}
			s.WaitRecords(t, name, string(c.want), 1, func(r reminder.Record) bool { return r.State == c.want })
			if after := s.Receiver.Stats(); after.Accepted-before.Accepted != 1 || after.Duplicates != 0 {
				t.Errorf("accepted %d, duplicates %d; want 1 and 0", after.Accepted-before.Accepted, after.Duplicates)
			}
		})
	}
}

// A worker that is killed in the middle of a burst loses and doubles nothing.
func TestWorkersKilledInABurst(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	deployment := s.WorkersOf(t, "mail")
	s.WaitWorkers(t, "mail", 1)
	const n = 500
	s.Create(t, system.OneOff("burst", "mail", time.Now().Add(3*time.Second), n, "ada"))
	for kill := 1; kill <= 3; kill++ {
		want := kill * n / 5
		system.Eventually(t, "the burst goes on", func() (bool, string) {
			return s.Receiver.Stats().Accepted >= want, "not yet"
		})
		if err := s.Node.Kill(deployment); err != nil {
			t.Fatal(err)
		}
	}
	s.WaitCounts(t, "burst", "all sent", sent(n))
	if got := s.Receiver.Stats(); got.Accepted != n || got.Duplicates != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d; want %d and 0", got.Accepted, got.Duplicates, n)
	}
}
