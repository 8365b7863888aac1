package integration

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// E1: what has become untrue after a reminder was planned and enqueued is found out
// before it is sent.
func TestE1EligibilityTurnsFalseAfterEnqueue(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	obj := system.OneOff("renewal", "mail", time.Now().Add(15*time.Second), 3, "ada")
	obj.Spec.Delivery.Eligibility = "recipient.attributes[?'cancelled'].orValue('false') != 'true' && recipient.attributes.name != ''"
	s.Create(t, obj)
	s.WaitRecords(t, "renewal", "planned", 3, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	update(t, s, "renewal", func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Recipients[0].Attributes["cancelled"] = "true"
		delete(o.Spec.Recipients[1].Attributes, "name")
	})
	s.WaitCounts(t, "renewal", "one sent, one cancelled, one dead", func(c v1alpha1.ReminderCounts) bool {
		return c.Sent == 1 && c.Cancelled == 1 && c.Dead == 1 && c.Pending == 0 && c.Due == 2
	})
	want := []reminder.Reason{reminder.NotEligible, reminder.InvalidEligibility, ""}
	for i, r := range s.Records(t, "renewal") {
		if r.Reason != want[i] || r.Attempts != b2int(want[i] == "") {
			t.Errorf("%s is %s(%s) after %d attempts, want %q", r.Key, r.State, r.Reason, r.Attempts, want[i])
		}
	}
	if got := s.Receiver.Stats(); got.Arrivals != 1 {
		t.Errorf("%d requests arrived, want 1", got.Arrivals)
	}
	if n := deadLetters(t, s, reminder.OwnerData); n != 1 {
		t.Errorf("%d dead letters of the data's owner, want 1", n)
	}
	t.Run("a rule that does not compile stalls the schedule", func(t *testing.T) {
		bad := system.OneOff("bad", "mail", time.Now().Add(time.Hour), 1, "ada")
		bad.Spec.Delivery.Eligibility = "recipient.status == 'active'"
		s.Create(t, bad)
		s.WaitReason(t, "bad", v1alpha1.ReasonInvalidSpec)
	})
	t.Run("a deadline is a time of day", func(t *testing.T) {
		tokyo, err := time.LoadLocation("Asia/Tokyo") // which has no summer time
		if err != nil {
			t.Fatal(err)
		}
		due := time.Now().Add(5 * time.Minute).Truncate(time.Second)
		local := due.In(tokyo)
		ends := time.Date(local.Year(), local.Month(), local.Day(), 17, 0, 0, 0, tokyo)
		if !ends.After(due) {
			ends = ends.AddDate(0, 0, 1)
		}
		byClock := system.OneOff("clock", "mail", due, 2, "ada")
		byClock.Spec.Schedule.TimeZone = "Asia/Tokyo"
		byClock.Spec.Delivery.Deadline, byClock.Spec.Delivery.DeadlineTimeOfDay = nil, "17:00"
		s.Create(t, byClock)
		s.WaitRecords(t, "clock", "planned until 17:00", 2, func(r reminder.Record) bool {
			return r.State == reminder.Scheduled && r.DeadlineTime.Equal(ends)
		})
	})
}

func b2int(b bool) int { return int(b2i(b)) }

// billing answers whether a reminder is still wanted, by the recipient: 404 for the
// second, 503 at first for the third.
type billing struct {
	mu    sync.Mutex
	asked map[string]int
}

func (b *billing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := r.URL.Query().Get(channel.ParamRecipient)
	b.asked[id]++
	switch {
	case r.Header.Get("Authorization") != "" || r.Header.Get("Webhook-Signature") != "":
		w.WriteHeader(http.StatusTeapot) // another host than the channel's must not get its Secret
	case id == "acct_0001":
		w.WriteHeader(http.StatusNotFound)
	case id == "acct_0002" && b.asked[id] == 1:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func TestEligibilityURLIsAskedBeforeASend(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	b := &billing{asked: map[string]int{}}
	server := httptest.NewServer(b)
	defer server.Close()
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	obj := system.OneOff("renewal", "mail", time.Now().Add(3*time.Second), 3, "ada")
	obj.Spec.Delivery.EligibilityURL = server.URL + "/eligible"
	obj.Spec.Delivery.Retry.Attempts = new(int32(1)) // what is asked for costs no attempt
	s.Create(t, obj)
	s.WaitCounts(t, "renewal", "two sent, one cancelled", func(c v1alpha1.ReminderCounts) bool {
		return c.Sent == 2 && c.Cancelled == 1 && c.Pending == 0 && c.Dead == 0 && c.Retried == 1
	})
	for _, r := range s.Records(t, "renewal") {
		if cancelled := r.Key.Recipient == "acct_0001"; cancelled != (r.Reason == reminder.NotEligible) {
			t.Errorf("%s is %s(%s)", r.Key, r.State, r.Reason)
		}
	}
	if got := s.Receiver.Stats(); got.Arrivals != 2 {
		t.Errorf("%d requests arrived, want 2", got.Arrivals)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked["acct_0000"] != 1 || b.asked["acct_0001"] != 1 || b.asked["acct_0002"] != 2 {
		t.Errorf("asked %v", b.asked)
	}
}
