package controllers

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func publishes(o *v1alpha1.ReminderChannel) {
	o.Spec = v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeNATS, NATS: &v1alpha1.NATSChannel{Subject: "billing.reminders"}}
}

// A NATS channel waits for a stream that takes its subject and remembers message
// ids for as long as the channel says.
func TestANATSChannelWaitsForItsStream(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(publishes))
	r := s.channels()
	again := func(reason string, says ...string) {
		t.Helper()
		s.wait(11 * time.Second)
		s.passChannel(r)
		s.wantChannel(reason, says...)
	}
	again(v1alpha1.ReasonStreamUnavailable, "no stream takes the subject billing.reminders")
	if s.made(&appsv1.Deployment{}) {
		t.Error("workers are started that nobody would hear")
	}
	stream := brokertest.Foreign{Name: "BILLING", Subject: "billing.>"}
	brokertest.MakeStream(t, s.url, stream)
	again(v1alpha1.ReasonStreamUnavailable, "stream BILLING remembers message ids for 2m0s", "spec.dedupeWindow (24h0m0s)", "duplicate_window")
	stream.Window = 24 * time.Hour
	brokertest.MakeStream(t, s.url, stream)
	again(v1alpha1.ReasonAvailable)
	if !s.made(&appsv1.Deployment{}) {
		t.Error("no workers are started")
	}
	entry, _, err := s.Broker.Registry.Channel(t.Context(), "shop", "mail")
	if err != nil || entry.Type != reminder.ChannelNATS || !entry.Dedupes || entry.NATS == nil || entry.NATS.Subject != "billing.reminders" {
		t.Errorf("entry %+v, error %v", entry, err)
	}
}

func TestWhatANATSChannelAsksOfItsStream(t *testing.T) {
	t.Parallel()
	none := func(o *v1alpha1.ReminderChannel) { o.Spec.Idempotency = v1alpha1.IdempotencyNone }
	short := func(o *v1alpha1.ReminderChannel) { o.Spec.DedupeWindow = duration(2 * time.Minute) }
	cases := map[string]struct {
		change func(*v1alpha1.ReminderChannel)
		stream brokertest.Foreign
		reason string
		says   string
	}{
		"a short window, and a channel that says so": {short, brokertest.Foreign{}, v1alpha1.ReasonAvailable, ""},
		"a short window, and no promise to dedupe":   {none, brokertest.Foreign{}, v1alpha1.ReasonAvailable, ""},
		"no acknowledgements":                        {none, brokertest.Foreign{Silent: true}, v1alpha1.ReasonStreamUnavailable, "turn no_ack off"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c.stream.Name, c.stream.Subject = "BILLING", "billing.reminders"
			brokertest.MakeStream(t, s.url, c.stream)
			s.create(aChannel(publishes, c.change))
			s.passChannel(s.channels())
			s.wantChannel(c.reason, c.says)
		})
	}
}
