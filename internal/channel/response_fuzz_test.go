package channel_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Whatever a receiver writes: a result that holds to the rules and none of its text.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 503 \r\nRetry-After: 7\r\n\r\n" + ct.Leak, "HTTP/1.0 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 \r\n\r\n", "HTTP/1.1 000 " + ct.Leak + "\r\n\r\n",
		"HTTP/2.0 200 OK\r\n\r\n", "220 " + ct.Leak, "", "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
	} {
		f.Add(seed)
	}
	var raw atomic.Value
	r := ct.NewReceiver(f, func(e *ct.Exchange) bool {
		if e.Read() {
			e.Write(raw.Load().(string))
		}
		return false
	})
	c := reminder.Channel{
		Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, Dedupes: true, SendTimeout: 5 * time.Second,
		HTTP: &reminder.HTTPChannel{URL: r.URL()},
	}
	s, err := channel.New(c, channel.Options{Egress: loopback})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, response string) {
		raw.Store(response)
		got := s.Send(t.Context(), ct.Message())
		ct.CheckResult(t, got)
		if strings.Contains(got.Diagnostic+got.Receipt, ct.Leak) {
			t.Errorf("result shows the receiver's text: %+v", got)
		}
		if got.Outcome == reminder.Transient && !strings.HasPrefix(got.Diagnostic, "status ") && strings.Contains(response, "HTTP/1.1 2") {
			t.Errorf("%q: %+v", response, got)
		}
	})
}

func BenchmarkSend(b *testing.B) {
	r := ct.NewReceiver(b, ct.Answer(200))
	c := reminder.Channel{
		Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, Dedupes: true, SendTimeout: 5 * time.Second,
		HTTP: &reminder.HTTPChannel{URL: r.URL()},
	}
	s, err := channel.New(c, channel.Options{Egress: loopback})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := s.Send(b.Context(), ct.Message()); got.Outcome != reminder.Accepted {
			b.Fatalf("send is %+v", got)
		}
	}
}
