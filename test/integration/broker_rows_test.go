package integration

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// What people do to the streams of the operator, on one system.
func TestStreamsThatAreFullOrChangedByHand(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Options: cluster.Options{NATSConfig: cluster.NATSConfig{Server: oneAccount}}})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	js := jetStream(t, s)
	t.Run("row 33: a second message, without a message id", func(t *testing.T) { secondMessage(t, s) })
	t.Run("row 28: the ledger is full", func(t *testing.T) { ledgerFull(t, s, js) })
	t.Run("row 27: the account is full", func(t *testing.T) { accountFull(t, s, js) })
	t.Run("row 27: the stream of due jobs gets a limit by hand", func(t *testing.T) { limitByHand(t, s, js) })
	t.Run("row 32: the consumer is deleted", func(t *testing.T) { consumerDeleted(t, s, js) })
	t.Run("row 32: the ack wait is changed", func(t *testing.T) { ackWaitChanged(t, s, js) })
	if got := s.Receiver.Stats(); got.Duplicates != 0 {
		t.Errorf("the receiver has %d duplicates", got.Duplicates)
	}
}

// oneAccount is a configuration with an account whose storage ends at 8 MiB.
const oneAccount = `accounts { APP { jetstream { max_file: 8MiB, max_mem: -1 }, users: [{user: app, password: app}] } }
no_auth_user: app`

// secondMessage is what comes of publishing again once the server has forgotten the
// message id: to the ledger it makes no difference which.
func secondMessage(t *testing.T, s *system.System) {
	s.Create(t, system.OneOff("twice", "mail", time.Now().Add(2*time.Second), 3, "ada"))
	s.WaitCounts(t, "twice", "sent", sent(3))
	before := s.Receiver.Stats().Arrivals
	records := s.Records(t, "twice")
	for _, r := range records {
		body, err := reminder.JobOf(r, 1).Encode()
		if err != nil {
			t.Fatal(err)
		}
		brokertest.Publish(t, s.NATSURL(), brokertest.DueSubject+r.Key.Subject(), body)
	}
	s.WaitRecords(t, "twice", "suppressed", len(records), func(r reminder.Record) bool { return r.State == reminder.Sent && r.Suppressed == 1 })
	s.WaitCounts(t, "twice", "suppressed", func(c v1alpha1.ReminderCounts) bool { return sent(3)(c) && c.Suppressed == 3 })
	if got := s.Receiver.Stats().Arrivals; got != before {
		t.Errorf("the receiver got %d requests more", got-before)
	}
}

// held waits until a worker has fetched n jobs and given them back, or holds them.
func held(t *testing.T, s *system.System, n int64) {
	t.Helper()
	system.Eventually(t, "due jobs are in hand", func() (bool, string) {
		b, err := s.Broker.Queue.Backlog(t.Context(), system.Tenant, "mail")
		return err == nil && b.InFlight == n, fmt.Sprintf("%+v, %v", b, err)
	})
}

// edit changes the configuration of a stream by hand.
func editStream(t *testing.T, js jetstream.JetStream, name string, change func(*jetstream.StreamInfo)) {
	t.Helper()
	stream, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	info := stream.CachedInfo()
	change(info)
	if _, err := js.UpdateStream(t.Context(), info.Config); err != nil {
		t.Fatalf("edit %s: %v", name, err)
	}
}

// ledgerFull: what is planned falls due and is not sent, and what is made is not
// planned; both are once there is room.
func ledgerFull(t *testing.T, s *system.System, js jetstream.JetStream) {
	due := time.Now().Add(5 * time.Second)
	s.Create(t, system.OneOff("before-full", "mail", due, 5, "ada"))
	s.WaitReason(t, "before-full", v1alpha1.ReasonPlanned)
	editStream(t, js, brokertest.LedgerStream, func(info *jetstream.StreamInfo) { info.Config.MaxBytes = int64(info.State.Bytes) })
	before := s.Receiver.Stats().Arrivals
	s.Create(t, system.OneOff("while-full", "mail", due, 5, "ada"))
	s.WaitReason(t, "while-full", v1alpha1.ReasonLedgerFull)
	held(t, s, 5)
	if got := s.Receiver.Stats().Arrivals; got != before {
		t.Errorf("%d were sent that could not be recorded", got-before)
	}
	editStream(t, js, brokertest.LedgerStream, func(info *jetstream.StreamInfo) { info.Config.MaxBytes = -1 })
	s.WaitCounts(t, "before-full", "sent", sent(5))
	s.WaitCounts(t, "while-full", "sent", sent(5))
	if got := s.Receiver.Stats().Arrivals; got != before+10 {
		t.Errorf("%d requests, want 10", got-before)
	}
}

// accountFull: somebody else's stream takes all the room of the account.
func accountFull(t *testing.T, s *system.System, js jetstream.JetStream) {
	due := time.Now().Add(8 * time.Second)
	s.Create(t, system.OneOff("before-limit", "mail", due, 5, "ada"))
	s.WaitReason(t, "before-limit", v1alpha1.ReasonPlanned)
	before := s.Receiver.Stats().Arrivals
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "FILLER", Subjects: []string{"filler"}}); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{64 << 10, 1 << 10, 1} {
		for {
			if _, err := js.Publish(t.Context(), "filler", make([]byte, size)); err != nil {
				t.Logf("full: %v", err)
				break
			}
		}
	}
	s.Create(t, system.OneOff("while-limit", "mail", due, 5, "ada"))
	s.WaitReason(t, "while-limit", v1alpha1.ReasonStreamFull)
	if err := js.DeleteStream(t.Context(), "FILLER"); err != nil {
		t.Fatal(err)
	}
	s.WaitCounts(t, "before-limit", "sent", sent(5))
	s.WaitCounts(t, "while-limit", "sent", sent(5))
	if got := s.Receiver.Stats().Arrivals; got != before+10 {
		t.Errorf("%d requests, want 10", got-before)
	}
}

// limitByHand: a limit on that stream would evict what it has acknowledged, so that
// nothing is planned while it has one.
func limitByHand(t *testing.T, s *system.System, js jetstream.JetStream) {
	editStream(t, js, brokertest.JobsStream, func(info *jetstream.StreamInfo) { info.Config.MaxBytes = 4 << 20 })
	system.Eventually(t, "the operator has seen it", func() (bool, string) {
		c := s.Channel(t, "mail")
		for _, is := range c.Status.Conditions {
			if is.Type == v1alpha1.ReadyCondition && is.Reason == v1alpha1.ReasonFailed {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%+v", c.Status.Conditions)
	})
	s.Create(t, system.OneOff("limited", "mail", time.Now().Add(time.Second), 5, "ada"))
	s.WaitReason(t, "limited", v1alpha1.ReasonFailed)
	if records := s.Records(t, "limited"); len(records) != 0 {
		t.Errorf("%d are planned", len(records))
	}
	editStream(t, js, brokertest.JobsStream, func(info *jetstream.StreamInfo) { info.Config.MaxBytes = -1 })
	s.WaitCounts(t, "limited", "sent", sent(5))
}

func consumer(t *testing.T, js jetstream.JetStream) (jetstream.Consumer, error) {
	t.Helper()
	return js.Consumer(t.Context(), brokertest.JobsStream, "shop_mail")
}

func consumerDeleted(t *testing.T, s *system.System, js jetstream.JetStream) {
	s.Create(t, system.OneOff("deleted", "mail", time.Now().Add(3*time.Second), 5, "ada"))
	s.WaitReason(t, "deleted", v1alpha1.ReasonPlanned)
	if err := js.DeleteConsumer(t.Context(), brokertest.JobsStream, "shop_mail"); err != nil {
		t.Fatal(err)
	}
	s.WaitCounts(t, "deleted", "sent", sent(5))
}

func ackWaitChanged(t *testing.T, s *system.System, js jetstream.JetStream) {
	c, err := consumer(t, js)
	if err != nil {
		t.Fatal(err)
	}
	config := c.CachedInfo().Config
	was := config.AckWait
	config.AckWait, config.MaxDeliver = time.Hour, 3
	if _, err := js.UpdateConsumer(t.Context(), brokertest.JobsStream, config); err != nil {
		t.Fatal(err)
	}
	system.Eventually(t, "the settings are back", func() (bool, string) {
		c, err := consumer(t, js)
		if err != nil {
			return false, err.Error()
		}
		now := c.CachedInfo().Config
		return now.AckWait == was && now.MaxDeliver == -1, fmt.Sprintf("ack wait %s, max deliver %d", now.AckWait, now.MaxDeliver)
	})
	s.Create(t, system.OneOff("changed", "mail", time.Now().Add(time.Second), 5, "ada"))
	s.WaitCounts(t, "changed", "sent", sent(5))
	if _, err := consumer(t, js); errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Error(err)
	}
}
