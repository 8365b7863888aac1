package channel_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// A relay is dialled behind the same guard as a receiver of HTTP: an address that is
// not public is refused unless it is allowed, and is not even connected to.
func TestARelayIsDialledBehindTheGuard(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, text, _ := net.SplitHostPort(listener.Addr().String())
	port, _ := strconv.Atoi(text)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		s, err := channel.New(reminder.Channel{
			Namespace: "shop", Name: "mail", Type: reminder.ChannelSMTP, SendTimeout: 5e9,
			SMTP: &reminder.SMTPChannel{Host: host, Port: port, TLS: reminder.TLSNone, From: sender},
		}, channel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := s.Send(t.Context(), ct.Message())
		if got.Outcome != reminder.Permanent || got.Reason != reminder.PermanentFailure {
			t.Errorf("%s: %+v, want that the address is refused for good", host, got)
		}
	}
	if err := listener.(*net.TCPListener).SetDeadline(now); err != nil {
		t.Fatal(err)
	}
	if conn, err := listener.Accept(); err == nil {
		conn.Close()
		t.Error("the refused address was connected to")
	}
}
