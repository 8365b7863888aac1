package integration

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

func jetStream(t *testing.T, s *system.System) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(s.NATSURL(), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// deadLetters counts the dead letters of an owner.
func deadLetters(t *testing.T, s *system.System, owner reminder.Owner) int {
	t.Helper()
	stream, err := jetStream(t, s).Stream(t.Context(), "REMINDERS_DEAD")
	if err != nil {
		t.Logf("open REMINDERS_DEAD: %v", err)
		return -1
	}
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter("reminders.dead."+string(owner)+".>"))
	if err != nil {
		t.Logf("inspect REMINDERS_DEAD: %v", err)
		return -1
	}
	return len(info.State.Subjects)
}

// Row 22: the broker is killed and started again 20 times while reminders are
// planned and delivered; what it acknowledged is there.
func TestRow22BrokerKilledTwentyTimes(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	const schedules, recipients = 20, 25
	for i := range schedules {
		at := time.Now().Add(time.Duration(2+i) * time.Second)
		s.Create(t, system.OneOff("burst-"+strconv.Itoa(i), "mail", at, recipients, "ada"))
		if err := s.NATS.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := s.NATS.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range schedules {
		s.WaitCounts(t, "burst-"+strconv.Itoa(i), "all sent", sent(recipients))
	}
	if got := s.Receiver.Stats(); got.Accepted != schedules*recipients || got.Duplicates != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d; want %d and 0", got.Accepted, got.Duplicates, schedules*recipients)
	}
}

// Row 26: the broker is away when the operator starts and objects are made.
func TestRow26BrokerDownAtStart(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Controllers: -1})
	if err := s.NATS.Kill(); err != nil {
		t.Fatal(err)
	}
	controller, err := s.StartController("controller-late")
	if err != nil {
		t.Fatal(err)
	}
	s.Controllers = append(s.Controllers, controller)
	at := time.Now().Add(5 * time.Second)
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey), system.OneOff("once", "mail", at, 5, "ada"))
	s.WaitReason(t, "once", v1alpha1.ReasonBrokerUnavailable)
	<-time.After(time.Until(at)) // the reminder falls due while the broker is away
	if err := s.NATS.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.WaitCounts(t, "once", "caught up", sent(5))
	s.WaitReason(t, "once", v1alpha1.ReasonFinished)
}

// Row 31: the jobs stream is deleted while reminders are pending and others sent.
func TestRow31StreamDeleted(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	s.Create(t, system.OneOff("past", "mail", time.Now().Add(2*time.Second), 10, "ada"))
	s.WaitCounts(t, "past", "sent before", sent(10))
	s.Create(t, system.OneOff("soon", "mail", time.Now().Add(15*time.Second), 10, "ada"))
	s.WaitReason(t, "soon", v1alpha1.ReasonPlanned)
	js := jetStream(t, s)
	if err := js.DeleteStream(t.Context(), "REMINDERS-0"); err != nil {
		t.Fatal(err)
	}
	s.WaitCounts(t, "soon", "sent after", sent(10))
	s.WaitCounts(t, "past", "unchanged", sent(10))
	if got := s.Receiver.Stats(); got.Accepted != 20 || got.Duplicates != 0 || got.Arrivals != 20 {
		t.Errorf("receiver: %d arrivals, %d accepted; want 20 and 20", got.Arrivals, got.Accepted)
	}
	s.WaitRecords(t, "soon", "none early", 10, func(r reminder.Record) bool { return !r.FinishTime.Before(r.ReleaseTime) })
}

// A message that is lost is published again by the audit sweep, and counted.
func TestAuditSweepHealsALostMessage(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	s.Create(t, system.OneOff("once", "mail", time.Now().Add(6*time.Second), 3, "ada"))
	s.WaitRecords(t, "once", "planned", 3, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	stream, err := jetStream(t, s).Stream(t.Context(), "REMINDERS-0")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.WaitCounts(t, "once", "healed and counted", func(c v1alpha1.ReminderCounts) bool {
		return sent(3)(c) && c.Republished == 3
	})
	if got := s.Receiver.Stats(); got.Accepted != 3 || got.Duplicates != 0 {
		t.Errorf("receiver: %+v, want 3 accepted once", got)
	}
}
