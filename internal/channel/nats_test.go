package channel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const subject = "canary-subject.reminders"

// natsSite is a NATS server and a sender towards it.
type natsSite struct {
	url    string
	broker *broker.Broker
	sender channel.Sender
}

func newNATSSite(t *testing.T, streams ...brokertest.Foreign) *natsSite {
	t.Helper()
	s := &natsSite{url: brokertest.URL(t)}
	s.broker = brokertest.Connect(t, s.url)
	for _, f := range streams {
		f.Name, f.Subject = "CANARY_STREAM", subject
		brokertest.MakeStream(t, s.url, f)
	}
	var err error
	s.sender, err = channel.New(reminder.Channel{
		Namespace: "shop", Name: "billing", Type: reminder.ChannelNATS, Dedupes: true, SendTimeout: 500 * time.Millisecond,
		NATS: &reminder.NATSChannel{Subject: subject},
	}, channel.Options{Publisher: s.broker.Outlet})
	if err != nil {
		t.Fatalf("open channel: %v", err)
	}
	return s
}

// published opens a sender towards NATS with the streams, made ready by prepare.
func published(prepare func(*testing.T, *natsSite), streams ...brokertest.Foreign) func(*testing.T, *ct.Bench) channel.Sender {
	return func(t *testing.T, bench *ct.Bench) channel.Sender {
		s := newNATSSite(t, streams...)
		bench.Canary("canary-subject", "CANARY_STREAM", s.url, ct.Leak)
		if prepare != nil {
			prepare(t, s)
		}
		return s.sender
	}
}

func once(t *testing.T, s *natsSite) {
	t.Helper()
	if got := s.sender.Send(t.Context(), ct.Message()); got.Outcome != reminder.Accepted {
		t.Fatalf("first send is %+v, want Accepted", got)
	}
}

func another(t *testing.T, s *natsSite) {
	t.Helper()
	brokertest.Publish(t, s.url, subject, []byte("x"))
}

func listen(answer string) func(*testing.T, *natsSite) {
	return func(t *testing.T, s *natsSite) {
		t.Helper()
		brokertest.Listen(t, s.url, subject, answer)
	}
}

func TestNATS(t *testing.T) {
	t.Parallel()
	plain := brokertest.Foreign{}
	ended := func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}
	ct.Run(t, map[string]ct.Case{
		"a stream that takes the subject has accepted":      {Open: published(nil, plain), Want: accepted("sequence 1")},
		"what it had before is accepted":                    {Open: published(once, plain), Want: accepted("sequence 1, stored before")},
		"no stream is transient":                            {Open: published(nil), Want: transient("no stream takes the subject", 0)},
		"a stream without room is transient":                {Open: published(another, brokertest.Foreign{MaxMsgs: 1}), Want: transient("the stream is full", 0)},
		"a stream that takes no more is transient":          {Open: published(nil, brokertest.Foreign{Sealed: true}), Want: transient("the stream refused the message", 0)},
		"a message beyond the stream's bound is permanent":  {Open: published(nil, brokertest.Foreign{MaxMsgSize: 64}), Want: permanent(reminder.InvalidMessage, "the message is larger than the stream takes")},
		"a stream that acknowledges nothing is unknown":     {Open: published(nil, brokertest.Foreign{Silent: true}), Want: unknown("timeout after the message was published")},
		"somebody who listens and is no stream is unknown":  {Open: published(listen("")), Want: unknown("timeout after the message was published")},
		"an answer that is no stream's is unknown":          {Open: published(listen(ct.Leak)), Want: unknown("no valid answer after the message was published")},
		"an answer that names no stream is unknown":         {Open: published(listen(`{"stream":""}`)), Want: unknown("no valid answer after the message was published")},
		"NATS that cannot be reached is transient":          {Open: published(func(_ *testing.T, s *natsSite) { s.broker.Close() }, plain), Want: transient("NATS was not reached", 0)},
		"a context that has ended is transient":             {Open: published(nil, plain), Context: ended, Want: transient("cancelled before the message was published", 0)},
		"a refusal of somebody who is no stream is refused": {Open: published(listen(`{"error":{"code":400,"err_code":10999,"description":"` + ct.Leak + `"}}`)), Want: transient("the stream refused the message", 0)},
	})
}

// The message has the body of an HTTP request, and the attributes of the event as
// headers; a repetition is not stored.
func TestNATSMessage(t *testing.T) {
	t.Parallel()
	s := newNATSSite(t, brokertest.Foreign{})
	m := ct.Message()
	once(t, s)
	m.Attempt = 2
	if got := s.sender.Send(t.Context(), m); got.Receipt != "sequence 1, stored before" {
		t.Errorf("second send is %+v", got)
	}
	stored := brokertest.StoredIn(t, s.url, "CANARY_STREAM")
	if len(stored) != 1 {
		t.Fatalf("%d messages are stored, want 1", len(stored))
	}
	got := request{Method: "PUB", Path: subject, Headers: map[string]string{}, Body: stored[0].Body}
	for name, values := range stored[0].Header {
		got.Headers[name] = strings.Join(values, "\n")
	}
	golden(t, "testdata/nats.json", got)
}

func TestSubjectsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", "a b", "a.*", "a.>", ">", "a\r\nb", "reminders", "reminders.0.due.x", "$JS.API.STREAM.DELETE.x", "$KV.reminders-ledger-0.x", "_INBOX.x"} {
		_, err := channel.New(reminder.Channel{Type: reminder.ChannelNATS, SendTimeout: time.Second, NATS: &reminder.NATSChannel{Subject: bad}}, channel.Options{Publisher: &broker.Outlet{}})
		if err == nil || !strings.Contains(err.Error(), "nats.subject") {
			t.Errorf("subject %q: got %v, want it refused", bad, err)
		}
	}
}
