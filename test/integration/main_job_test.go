// Package integration tests the product on real parts: API server, NATS,
// controller and worker processes, and a receiver. Rows of the failure matrix
// stand in the names of the tests.
package integration

import (
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// settled tells whether all n reminders of a schedule are sent, each once.
func sent(n int64) func(v1alpha1.ReminderCounts) bool {
	return func(c v1alpha1.ReminderCounts) bool {
		return c.Sent == n && c.Due == n && c.Pending == 0 && c.Dead == 0
	}
}

func TestAScheduleBecomesDeliveredRemindersAndHonestStatus(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	at := time.Now().Add(6 * time.Second)
	s.Create(t, system.OneOff("once", "mail", at, 20, "ada"))
	s.WaitCounts(t, "once", "20 sent", sent(20))
	s.WaitRecords(t, "once", "all sent, none early", 20, func(r reminder.Record) bool {
		return r.State == reminder.Sent && !r.FinishTime.Before(r.ReleaseTime) && r.Attempts == 1
	})
	books := s.Receiver.Stats()
	if books.Accepted != 20 || books.Arrivals != 20 || books.Duplicates != 0 || books.BadSignatures != 0 {
		t.Errorf("receiver: %+v, want 20 arrivals, all accepted", books)
	}
	s.WaitReason(t, "once", v1alpha1.ReasonFinished)
}
