package channel_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// names is a DNS server that gives every name the same IPv4 addresses, which can
// change.
type names struct {
	conn net.PacketConn
	list atomic.Pointer[[]string]
}

func newNames(t *testing.T, list ...string) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn}
	n.set(list...)
	t.Cleanup(func() { _ = conn.Close() })
	go n.serve()
	return n
}

func (n *names) set(list ...string) { n.list.Store(&list) }

func (n *names) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		_, _ = n.conn.WriteTo(response(buffer[:size], *n.list.Load()), from)
	}
}

// response answers a query of one question (RFC 1035, section 4).
func response(query []byte, list []string) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	out := append([]byte(nil), query[:end+5]...)
	copy(out[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if binary.BigEndian.Uint16(query[end+1:]) != 1 { // A
		return out
	}
	binary.BigEndian.PutUint16(out[6:], uint16(len(list)))
	for _, one := range list {
		address := netip.MustParseAddr(one).As4()
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		out = append(out, address[:]...)
	}
	return out
}

// resolving resolves by the server and judges by the guard, with one connection
// per submission.
func (n *names) resolving(g channel.Guard) func(*setup) {
	return func(s *setup) {
		s.channel.Dedupes = false
		s.options.Egress = g
		s.options.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", n.conn.LocalAddr().String())
		}}
	}
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// The address counts that is dialled at that moment, whatever the name was when
// the channel was opened or at the last attempt.
func TestANameThatChangesItsAddressGetsNoFurther(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	n := newNames(t, "127.0.0.1")
	s := open(t, "http://receiver.example:"+portOf(t, r.Addr()), n.resolving(channel.Guard{Allow: ranges(t, "127.0.0.1/32")}))
	for _, step := range []struct {
		address string
		want    reminder.Result
	}{
		{"127.0.0.1", accepted("status 200")},
		{"127.0.0.2", permanent(reminder.PermanentFailure, notAllowed)},
		{"169.254.169.254", permanent(reminder.PermanentFailure, notAllowed)},
		{"10.0.0.1", permanent(reminder.PermanentFailure, notAllowed)},
		{"127.0.0.1", accepted("status 200")},
	} {
		n.set(step.address)
		if got := s.Send(t.Context(), ct.Message()); got != step.want {
			t.Errorf("%s: send is %+v, want %+v", step.address, got, step.want)
		}
	}
}

// A name with an address that is allowed is not a fault of the configuration,
// although that address cannot be reached at this moment.
func TestANameWithSomeAllowedAddresses(t *testing.T) {
	t.Parallel()
	one := channel.Guard{Allow: ranges(t, "127.0.0.1/32")}
	r := ct.NewReceiver(t, ct.Answer(200))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := portOf(t, listener.Addr().String())
	_ = listener.Close()
	for name, c := range map[string]struct {
		list []string
		port string
		want reminder.Outcome
	}{
		"one allowed, the other first":          {[]string{"127.0.0.2", "127.0.0.1"}, portOf(t, r.Addr()), reminder.Accepted},
		"one allowed, the other last":           {[]string{"127.0.0.1", "127.0.0.2"}, portOf(t, r.Addr()), reminder.Accepted},
		"one allowed and down, the other first": {[]string{"127.0.0.2", "127.0.0.1"}, closed, reminder.Transient},
		"one allowed and down, the other last":  {[]string{"127.0.0.1", "127.0.0.2"}, closed, reminder.Transient},
		"none allowed":                          {[]string{"127.0.0.2", "169.254.169.254"}, portOf(t, r.Addr()), reminder.Permanent},
		"no address":                            {nil, closed, reminder.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "http://receiver.example:"+c.port, newNames(t, c.list...).resolving(one))
			got := s.Send(t.Context(), ct.Message())
			ct.CheckResult(t, got)
			if got.Outcome != c.want {
				t.Errorf("send is %+v, want %s", got, c.want)
			}
		})
	}
}
