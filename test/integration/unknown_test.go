package integration

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// Row 15: the sender gives up although the receiver has accepted.
func TestRow15TimeoutAccepted(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	testUnknown(t, s, s.ReceiverURL, "slow-once", 1)
}

// Row 16: the sender gives up and the receiver has not accepted.
func TestRow16TimeoutNotAccepted(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	deaf := httptest.NewServer(&deafOnce{next: s.Receiver, met: map[string]bool{}})
	defer deaf.Close()
	testUnknown(t, s, deaf.URL+"/hook", "ada", 0)
}

// deafOnce leaves the first request of each key unanswered and unread.
type deafOnce struct {
	next http.Handler
	mu   sync.Mutex
	met  map[string]bool
}

func (d *deafOnce) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	d.mu.Lock()
	met := d.met[key]
	d.met[key] = true
	d.mu.Unlock()
	if met {
		d.next.ServeHTTP(w, r)
		return
	}
	// The server notices that the client has gone only once the body is read.
	buffer := make([]byte, 1<<16)
	for {
		if _, err := r.Body.Read(buffer); err != nil {
			break
		}
	}
	<-r.Context().Done()
}

// testUnknown sends one reminder whose first submission ends in a timeout: by
// key it is sent again and accepted once; without dedupe and with Park it waits
// for a person; with Retry it is sent again.
func testUnknown(t *testing.T, s *system.System, url, address string, acceptedWhenParked int) {
	cases := map[string]struct {
		idempotency v1alpha1.Idempotency
		onUnknown   v1alpha1.OnUnknown
		want        reminder.State
		attempts    int
	}{
		"by-key": {v1alpha1.IdempotencyByKey, "", reminder.Sent, 2},
		"park":   {v1alpha1.IdempotencyNone, v1alpha1.OnUnknownPark, reminder.Dead, 1},
		"retry":  {v1alpha1.IdempotencyNone, v1alpha1.OnUnknownRetry, reminder.Sent, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			channel := s.HTTPChannel(name, c.idempotency)
			channel.Spec.HTTP.URL = url
			schedule := system.OneOff(name, name, time.Now().Add(2*time.Second), 1, address)
			schedule.Spec.Delivery.OnUnknown = c.onUnknown
			before := s.Receiver.Stats().Accepted
			s.Create(t, channel, schedule)
			s.WaitRecords(t, name, string(c.want), 1, func(r reminder.Record) bool {
				return r.State == c.want && r.Attempts == c.attempts && (c.want != reminder.Dead || r.Reason == reminder.ReconciliationRequired)
			})
			want := 1
			if c.want == reminder.Dead {
				want = acceptedWhenParked
			}
			if got := s.Receiver.Stats().Accepted - before; got != want {
				t.Errorf("the receiver accepted %d, want %d", got, want)
			}
			s.WaitCounts(t, name, "status as the ledger", func(n v1alpha1.ReminderCounts) bool {
				return n.Due == 1 && n.Sent == b2i(c.want == reminder.Sent) && n.Dead == b2i(c.want == reminder.Dead)
			})
		})
	}
}

// Row 14: what cannot be read becomes a dead letter at once, and others flow.
func TestRow14PoisonPayload(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, system.LogChannel("log"))
	s.WaitWorkers(t, "log", 1)
	nc, err := nats.Connect(s.NATS.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for subject, body := range map[string][]byte{
		"reminders.0.due.shop.log.s.20260101T000000Z.h1": []byte(`{"schemaVersion":`),
		"reminders.0.due.shop.log.s.20260101T000000Z.h2": []byte(`null`),
		"reminders.0.due.shop.log.s.20260101T000000Z.h3": make([]byte, 1<<20-1024),
		"reminders.0.due.shop.log.too.few":               []byte(`{"schemaVersion":1}`),
	} {
		if _, err := nc.Request(subject, body, 5*time.Second); err != nil {
			t.Fatalf("publish to %s: %v", subject, err)
		}
	}
	s.Create(t, system.OneOff("fine", "log", time.Now().Add(2*time.Second), 3, "ada"))
	s.WaitCounts(t, "fine", "sent beside the poison", sent(3))
	system.Eventually(t, "four dead letters InvalidJob and an empty queue", func() (bool, string) {
		backlog, err := s.Broker.Queue.Backlog(t.Context(), system.Tenant, "log")
		if err != nil {
			return false, err.Error()
		}
		n := deadLetters(t, s, reminder.OwnerData)
		return n == 4 && backlog.Waiting+backlog.InFlight == 0, "not yet"
	})
}
