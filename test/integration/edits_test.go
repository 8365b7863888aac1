package integration

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// leads tells whether a controller's log says that it has started its workers,
// which only the leader does.
func leads(logFile string) bool {
	f, err := os.Open(logFile)
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Starting workers") {
			return true
		}
	}
	return false
}

// Row 48: a schedule is deleted before its reminders are due, while one is in
// flight, and when one is parked.
func TestRow48ScheduleDeleted(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey), s.HTTPChannel("park", v1alpha1.IdempotencyNone))
	s.WaitWorkers(t, "mail", 1)
	s.WaitWorkers(t, "park", 1)
	t.Run("before due: cancelled, nothing sent", func(t *testing.T) {
		s.Create(t, system.OneOff("early", "mail", time.Now().Add(30*time.Second), 5, "ada"))
		s.WaitRecords(t, "early", "planned", 5, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
		remove(t, s, "early")
		s.WaitRecords(t, "early", "cancelled", 5, cancelled(reminder.ScheduleDeleted))
	})
	t.Run("in flight: the outcome stands", func(t *testing.T) {
		before := s.Receiver.Stats().Accepted
		s.Create(t, system.OneOff("flying", "mail", time.Now().Add(2*time.Second), 1, "slow-once"))
		system.Eventually(t, "accepted and unanswered", func() (bool, string) { return s.Receiver.Stats().Accepted > before, "" })
		remove(t, s, "flying")
		s.WaitRecords(t, "flying", "ends", 1, func(r reminder.Record) bool {
			return r.State == reminder.Dead && r.Reason == reminder.ReconciliationRequired || r.State == reminder.Sent
		})
		if got := s.Receiver.Stats().Accepted - before; got != 1 {
			t.Errorf("accepted %d, want 1", got)
		}
	})
	t.Run("parked: it stays parked", func(t *testing.T) {
		s.Create(t, system.OneOff("parked", "park", time.Now().Add(2*time.Second), 1, "slow-once"))
		s.WaitRecords(t, "parked", "parked", 1, func(r reminder.Record) bool { return r.State == reminder.Dead })
		remove(t, s, "parked")
		s.WaitRecords(t, "parked", "still parked", 1, func(r reminder.Record) bool {
			return r.State == reminder.Dead && r.Reason == reminder.ReconciliationRequired
		})
	})
	t.Run("made again: a reminder that was sent is not sent twice", func(t *testing.T) {
		at := time.Now().Add(2 * time.Second)
		s.Create(t, system.OneOff("again", "mail", at, 3, "ada"))
		s.WaitCounts(t, "again", "sent", sent(3))
		before := s.Receiver.Stats().Arrivals
		remove(t, s, "again")
		s.Create(t, system.OneOff("again", "mail", at, 3, "ada"))
		s.WaitReason(t, "again", v1alpha1.ReasonFinished)
		s.WaitCounts(t, "again", "still three", sent(3))
		if after := s.Receiver.Stats().Arrivals; after != before {
			t.Errorf("%d more arrivals after making it again", after-before)
		}
	})
	if n := deadMessages(t, s); n != 0 {
		t.Errorf("%d messages are left in the jobs stream", n)
	}
}

func cancelled(reason reminder.Reason) func(reminder.Record) bool {
	return func(r reminder.Record) bool { return r.State == reminder.Cancelled && r.Reason == reason }
}

// remove deletes a schedule and waits until it is gone.
func remove(t *testing.T, s *system.System, name string) {
	t.Helper()
	obj := s.Schedule(t, name)
	if err := s.Client.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	system.Eventually(t, name+" is gone", func() (bool, string) {
		err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), &v1alpha1.ReminderSchedule{})
		return errors.IsNotFound(err), "still there"
	})
}

// deadMessages counts what is left in the jobs stream.
func deadMessages(t *testing.T, s *system.System) uint64 {
	t.Helper()
	stream, err := jetStream(t, s).Stream(t.Context(), "REMINDERS-0")
	if err != nil {
		t.Fatal(err)
	}
	return stream.CachedInfo().State.Msgs
}

// update changes a schedule as a user would, over conflicts.
func update(t *testing.T, s *system.System, name string, change func(*v1alpha1.ReminderSchedule)) {
	t.Helper()
	system.Eventually(t, "edit "+name, func() (bool, string) {
		obj := s.Schedule(t, name)
		change(obj)
		err := s.Client.Update(t.Context(), obj)
		if err != nil {
			return false, err.Error()
		}
		return true, ""
	})
}

func TestEditsTakeEffectBeforeTheClaim(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	soon := func() time.Time { return time.Now().Add(12 * time.Second) }
	planned := func(t *testing.T, name string, n int) {
		t.Helper()
		s.WaitRecords(t, name, "planned", n, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	}
	t.Run("suspend cancels, resume opens again", func(t *testing.T) {
		s.Create(t, system.OneOff("pause", "mail", soon(), 3, "ada"))
		planned(t, "pause", 3)
		update(t, s, "pause", func(o *v1alpha1.ReminderSchedule) { o.Spec.Suspend = true })
		s.WaitRecords(t, "pause", "cancelled", 3, cancelled(reminder.Suspended))
		update(t, s, "pause", func(o *v1alpha1.ReminderSchedule) { o.Spec.Suspend = false })
		s.WaitCounts(t, "pause", "sent once", sent(3))
	})
	t.Run("another time supersedes", func(t *testing.T) {
		s.Create(t, system.OneOff("move", "mail", time.Now().Add(5*time.Minute), 3, "ada"))
		planned(t, "move", 3)
		update(t, s, "move", func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.At = soon().UTC().Format(time.RFC3339) })
		s.WaitCounts(t, "move", "sent at the new time, cancelled at the old", func(c v1alpha1.ReminderCounts) bool {
			return c.Sent == 3 && c.Cancelled == 3 && c.Pending == 0 && c.Due == 3
		})
	})
	t.Run("another text moves nothing and is what is sent", func(t *testing.T) {
		s.Create(t, system.OneOff("text", "mail", soon(), 3, "ada"))
		planned(t, "text", 3)
		update(t, s, "text", func(o *v1alpha1.ReminderSchedule) { o.Spec.Message.Body = "Other {{ reminder.key }}" })
		s.WaitCounts(t, "text", "sent once", func(c v1alpha1.ReminderCounts) bool { return sent(3)(c) && c.Cancelled == 0 })
	})
	t.Run("a removed recipient is cancelled, an added one planned", func(t *testing.T) {
		s.Create(t, system.OneOff("people", "mail", soon(), 3, "ada"))
		planned(t, "people", 3)
		update(t, s, "people", func(o *v1alpha1.ReminderSchedule) {
			o.Spec.Recipients[0].ID = "acct_new"
		})
		s.WaitCounts(t, "people", "three sent, one cancelled", func(c v1alpha1.ReminderCounts) bool {
			return c.Sent == 3 && c.Cancelled == 1 && c.Pending == 0
		})
	})
	if got := s.Receiver.Stats(); got.Accepted != 12 || got.Duplicates != 0 || got.Arrivals != 12 {
		t.Errorf("receiver: %d arrivals, %d accepted; want 12 and 12", got.Arrivals, got.Accepted)
	}
}

func TestUnsupportedFieldsStall(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{NoWorkers: true})
	obj := system.OneOff("slo", "mail", time.Now().Add(time.Minute), 1, "ada")
	obj.Spec.SLO = &v1alpha1.SLOSpec{Objective: "99.9"}
	calendar := &v1alpha1.BusinessCalendar{}
	calendar.Namespace, calendar.Name = system.Tenant, "de"
	calendar.Spec.Country = "DE"
	s.Create(t, obj, calendar)
	s.WaitReason(t, "slo", v1alpha1.ReasonNotSupportedYet)
	system.Eventually(t, "the calendar is ready", func() (bool, string) {
		if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(calendar), calendar); err != nil {
			return false, err.Error()
		}
		for _, c := range calendar.Status.Conditions {
			if c.Type == v1alpha1.ReadyCondition {
				return c.Reason == v1alpha1.ReasonAvailable, c.Reason
			}
		}
		return false, "no Ready"
	})
	for _, c := range s.Schedule(t, "slo").Status.Conditions {
		if c.Type == v1alpha1.StalledCondition && !strings.Contains(c.Message, "spec.slo") {
			t.Errorf("the message does not name the field: %s", c.Message)
		}
	}
}
