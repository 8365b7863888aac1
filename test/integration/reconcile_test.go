package integration

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/receiver"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// seen answers whether a receiver has accepted a reminder, as its books have it.
func seen(books *receiver.Receiver) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if books.Stats().Keys[r.URL.Query().Get(channel.ParamKey)].Accepted == 0 {
			w.WriteHeader(http.StatusNotFound)
		}
	})
}

// Rows 3 to 5 where the channel can be asked: of a worker that is killed in the call
// the next one hears how that ended, and nothing is repeated that was accepted.
func TestRow4ReconcileURLIsAskedBeforeParking(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Failpoints: true})
	cases := map[string]struct {
		point    string // empty for a kill while the receiver has accepted and not answered
		address  string
		answer   http.Handler
		want     reminder.State
		attempts int
		accepted int
	}{
		"accepted":          {"", "slow-once", seen(s.Receiver), reminder.Sent, 1, 1},
		"not-found":         {failpoint.W3InCall, "ada", seen(s.Receiver), reminder.Sent, 2, 1},
		"no-answer":         {failpoint.W3InCall, "ada", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }), reminder.Dead, 1, 0},
		"accepted-answered": {failpoint.W4Answered, "ada", seen(s.Receiver), reminder.Sent, 1, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			if c.point != "" {
				s.Node.SetEnv("REMINDER_FAILPOINT=" + c.point)
			}
			mail := s.HTTPChannel(name, v1alpha1.IdempotencyNone)
			mail.Spec.ReconcileURL = server.URL + "/seen"
			s.Create(t, mail)
			deployment := s.WorkersOf(t, name)
			s.Node.SetRestart(deployment, false)
			s.WaitWorkers(t, name, 1)
			before := s.Receiver.Stats()
			s.Create(t, system.OneOff(name, name, time.Now().Add(2*time.Second), 1, c.address))
			if c.point == "" {
				system.Eventually(t, "the receiver accepts", func() (bool, string) {
					return s.Receiver.Stats().Accepted > before.Accepted, "not yet"
				})
				if err := s.Node.Kill(deployment); err != nil {
					t.Fatal(err)
				}
			}
			waitExit(t, s, deployment)
			s.Node.SetEnv()
			s.Node.SetRestart(deployment, true)
			s.WaitRecords(t, name, string(c.want), 1, func(r reminder.Record) bool {
				return r.State == c.want && r.Attempts == c.attempts && (c.want != reminder.Dead || r.Reason == reminder.ReconciliationRequired)
			})
			s.WaitCounts(t, name, "status as the ledger", func(n v1alpha1.ReminderCounts) bool {
				return n.Due == 1 && n.Sent == b2i(c.want == reminder.Sent) && n.Dead == b2i(c.want == reminder.Dead) && n.Pending == 0
			})
			after := s.Receiver.Stats()
			if got := after.Accepted - before.Accepted; got != c.accepted || after.Duplicates != 0 {
				t.Errorf("I2: the receiver accepted %d, duplicates %d; want %d and 0", got, after.Duplicates, c.accepted)
			}
		})
	}
}

// Row 10: a worker stands still behind the answer, another parks its reminder, and
// then it goes on and hands in that it was accepted.
func TestRow10ALateAcceptanceUpgradesAParkedReminder(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Failpoints: true})
	s.Node.SetEnv("REMINDER_FAILPOINT=" + failpoint.W4Answered + ":stop")
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyNone))
	deployment := s.WorkersOf(t, "mail")
	s.WaitWorkers(t, "mail", 1)
	s.Node.SetEnv()
	s.Create(t, system.OneOff("renewal", "mail", time.Now().Add(2*time.Second), 1, "ada"))
	system.Eventually(t, "the receiver accepts", func() (bool, string) {
		return s.Receiver.Stats().Accepted == 1, "not yet"
	})
	system.Eventually(t, "a second worker is wanted", func() (bool, string) {
		mail := &v1alpha1.ReminderChannel{}
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: system.Tenant, Name: "mail"}, mail); err != nil {
			return false, err.Error()
		}
		mail.Spec.Workers = &v1alpha1.WorkersSpec{Replicas: new(int32(2))}
		if err := s.Client.Update(t.Context(), mail); err != nil {
			return false, err.Error()
		}
		return true, ""
	})
	s.WaitRecords(t, "renewal", "parked", 1, func(r reminder.Record) bool {
		return r.State == reminder.Dead && r.Reason == reminder.ReconciliationRequired
	})
	s.WaitCounts(t, "renewal", "one dead letter", func(c v1alpha1.ReminderCounts) bool { return c.Dead == 1 && c.Sent == 0 })
	if err := s.Node.Resume(deployment); err != nil {
		t.Fatal(err)
	}
	s.WaitRecords(t, "renewal", "upgraded", 1, func(r reminder.Record) bool {
		return r.State == reminder.Sent && r.Attempts == 1 && !r.Unresolved && r.Receipt == "status 200"
	})
	s.WaitCounts(t, "renewal", "sent, and no dead letter", func(c v1alpha1.ReminderCounts) bool {
		return c.Dead == 0 && c.Sent == 1 && c.Due == 1 && c.Pending == 0
	})
	if n := deadLetters(t, s, reminder.OwnerReconcile); n != 0 {
		t.Errorf("%d dead letters still stand", n)
	}
	if got := s.Receiver.Stats(); got.Arrivals != 1 || got.Duplicates != 0 {
		t.Errorf("I2: %d requests, %d duplicates; want 1 and 0", got.Arrivals, got.Duplicates)
	}
}
