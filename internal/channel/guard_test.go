package channel_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func ranges(t *testing.T, list ...string) []netip.Prefix {
	t.Helper()
	out, err := channel.ParseRanges(list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The first and the last address of each range, and its neighbours where these
// are public.
func TestSpecialAddressesAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ refused, allowed string }{
		"this network":                        {"0.0.0.0 0.0.0.1 0.255.255.255", "1.0.0.0"},
		"private, class A":                    {"10.0.0.0 10.0.0.1 10.255.255.255", "9.255.255.255 11.0.0.0"},
		"shared":                              {"100.64.0.0 100.100.100.200 100.127.255.255", "100.63.255.255 100.128.0.0"},
		"loopback":                            {"127.0.0.0 127.0.0.1 127.255.255.255", "126.255.255.255 128.0.0.0"},
		"the host agent of a cloud":           {"168.63.129.16", "168.63.129.15 168.63.129.17"},
		"link-local and metadata":             {"169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255", "169.253.255.255 169.255.0.0"},
		"private, class B":                    {"172.16.0.0 172.31.255.255", "172.15.255.255 172.32.0.0"},
		"protocol assignments":                {"192.0.0.0 192.0.0.192 192.0.0.255", "191.255.255.255 192.0.1.0"},
		"documentation":                       {"192.0.2.0 192.0.2.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255", "192.0.3.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0"},
		"AS112":                               {"192.31.196.0 192.31.196.255 192.175.48.0 192.175.48.255", "192.31.195.255 192.31.197.0 192.175.47.255 192.175.49.0"},
		"multicast tunnels":                   {"192.52.193.0 192.52.193.255", "192.52.192.255 192.52.194.0"},
		"relays of 6to4":                      {"192.88.99.0 192.88.99.255", "192.88.98.255 192.88.100.0"},
		"private, class C":                    {"192.168.0.0 192.168.255.255", "192.167.255.255 192.169.0.0"},
		"benchmarks":                          {"198.18.0.0 198.19.255.255", "198.17.255.255 198.20.0.0"},
		"multicast, reserved, broadcast":      {"224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255", "223.255.255.255"},
		"IPv6 unspecified and loopback":       {":: ::1", ""},
		"IPv6 loopback with zone":             {"::1%lo fe80::1%eth0", ""},
		"IPv4-compatible":                     {"::127.0.0.1 ::169.254.169.254 ::8.8.8.8", ""},
		"IPv4-mapped":                         {"::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::ffff:10.0.0.1 ::ffff:0.0.0.0", "::ffff:8.8.8.8"},
		"IPv4-translated":                     {"::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8", ""},
		"NAT64":                               {"64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::10.0.0.1 64:ff9b::255.255.255.255", "64:ff9b::8.8.8.8"},
		"NAT64 for local use":                 {"64:ff9b:1:: 64:ff9b:1::8.8.8.8 64:ff9b:1:ffff:ffff:ffff:ffff:ffff", ""},
		"next to NAT64":                       {"64:ff9b:0:0:0:1:: 64:ff9a:ffff::1", ""},
		"discard and dummy":                   {"100:: 100::ffff:ffff:ffff:ffff 100:0:0:1::1", ""},
		"Teredo":                              {"2001:: 2001:0:a9fe:a9fe::1 2001:0:ffff:ffff:ffff:ffff:ffff:ffff", ""},
		"IPv6 protocol assignments":           {"2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1", "2001:200::1"},
		"IPv6 documentation":                  {"2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff::1", "2001:db7::1 2001:db9::1 3ffe::1 3fff:1000::1"},
		"6to4":                                {"2002:: 2002:7f00:1::1 2002:a9fe:a9fe::1 2002:808:808::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::1"},
		"IPv6 AS112":                          {"2620:4f:8000::1", "2620:4f:7fff::1 2620:4f:8001::1"},
		"segment routing":                     {"5f00::1", ""},
		"unique local, metadata of two kinds": {"fc00:: fd00:ec2::254 fd20:ce::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
		"IPv6 link-local and site-local":      {"fe80:: febf::1 fec0::1 feff::1", ""},
		"IPv6 multicast":                      {"ff00:: ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
		"not assigned":                        {"1fff::1 4000::1 7fff::1 8000::1 e000::1", ""},
		"public":                              {"", "8.8.8.8 93.184.215.14 2606:4700::1111 2a00:1450:4001::1"},
	} {
		for want, list := range map[bool]string{false: c.refused, true: c.allowed} {
			for one := range strings.FieldsSeq(list) {
				if got := (channel.Guard{}).Allows(netip.MustParseAddr(one)); got != want {
					t.Errorf("%s: %s is allowed: %t, want %t", name, one, got, want)
				}
			}
		}
	}
	if (channel.Guard{}).Allows(netip.Addr{}) {
		t.Error("no address is allowed")
	}
}

func TestRangesOfTheInstallation(t *testing.T) {
	t.Parallel()
	g := channel.Guard{
		Allow: ranges(t, "10.20.0.0/16", "127.0.0.0/8", "::1/128", "198.41.1.0/24"),
		Deny:  ranges(t, "198.41.0.0/16", "10.20.30.0/24", "2606:4700::/32"),
	}
	for address, want := range map[string]bool{
		"10.20.0.1":             true,
		"10.20.30.1":            true, // allow wins over deny
		"10.21.0.1":             false,
		"127.0.0.1":             true,
		"::ffff:127.0.0.1":      true, // the same address
		"::127.0.0.1":           false,
		"64:ff9b::127.0.0.1":    false, // another machine's
		"64:ff9b::10.20.0.1":    false,
		"2002:a14:1::1":         false,
		"::1":                   true,
		"::1%lo":                true,
		"198.41.0.1":            false,
		"198.41.1.1":            true,
		"::ffff:198.41.0.1":     false,
		"64:ff9b::198.41.0.1":   false,
		"2606:4700::1111":       false,
		"8.8.8.8":               true,
		"169.254.169.254":       false,
		"64:ff9b::8.8.8.8":      true,
		"2a00:1450:4001:0::1":   true,
		"fe80::1%eth0":          false,
		"::ffff:a9fe:a9fe":      false,
		"64:ff9b:1::198.41.1.1": false,
	} {
		if got := g.Allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is allowed: %t, want %t", address, got, want)
		}
	}
}

// An address in IPv6 clothes is never allowed where the address itself is not.
func TestNoDisguiseHelps(t *testing.T) {
	t.Parallel()
	g := channel.Guard{Deny: ranges(t, "198.41.0.0/16")}
	rapid.Check(t, func(t *rapid.T) {
		four := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address"))
		if g.Allows(netip.AddrFrom4(four)) {
			return
		}
		for _, head := range []string{"::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::", "2001::", "fe80::"} {
			sixteen := netip.MustParseAddr(head).As16()
			copy(sixteen[12:], four[:])
			if a := netip.AddrFrom16(sixteen); g.Allows(a) {
				t.Fatalf("%s is allowed", a)
			}
		}
		sixteen := netip.MustParseAddr("2002::1").As16()
		copy(sixteen[2:], four[:])
		if a := netip.AddrFrom16(sixteen); g.Allows(a) {
			t.Fatalf("%s is allowed", a)
		}
	})
}

func TestParseRanges(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"10.0.0.0/8": "", " fd00::/8 ": "", "0.0.0.0/0": "",
		"10.0.0.1": "is not a range", "10.0.0.0/33": "is not a range", "": "is not a range", "cluster": "is not a range", "fe80::%eth0/64": "is not a range",
		"10.1.0.0/8": "write 10.0.0.0/8", "::ffff:10.0.0.0/104": "write it as one",
	} {
		_, err := channel.ParseRanges([]string{in})
		if got := err != nil; got != (want != "") || got && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want %q", in, err, want)
		}
	}
}

const notAllowed = "address not allowed; an administrator of the operator can allow its range with --egress-allow"

func guarded(g channel.Guard) func(*setup) {
	return func(s *setup) { s.options.Egress = g }
}

// at opens a sender towards a receiver on the loopback interface, by another
// way to write its address.
func at(host, scheme string, g channel.Guard) func(*testing.T, *ct.Bench) channel.Sender {
	return func(t *testing.T, bench *ct.Bench) channel.Sender {
		r := ct.NewReceiver(t, ct.Answer(200))
		t.Cleanup(func() {
			if got := r.Connections(); got != 0 {
				t.Errorf("there were %d connections, want none", got)
			}
		})
		_, port, err := net.SplitHostPort(r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		bench.Canary(r.Addr(), port, "canary-token")
		return open(t, scheme+"://"+net.JoinHostPort(host, port)+"/canary-token", guarded(g))
	}
}

func TestAReceiverInsideIsNeverDialled(t *testing.T) {
	t.Parallel()
	refused := permanent(reminder.PermanentFailure, notAllowed)
	denied := channel.Guard{Allow: ranges(t, "10.0.0.0/8"), Deny: ranges(t, "127.0.0.0/8")}
	ct.Run(t, map[string]ct.Case{
		"loopback is denied by default":             {Open: at("127.0.0.1", "http", channel.Guard{}), Want: refused},
		"loopback is denied by default over TLS":    {Open: at("127.0.0.1", "https", channel.Guard{}), Want: refused},
		"another loopback address":                  {Open: at("127.1.2.3", "http", channel.Guard{}), Want: refused},
		"a name that resolves to loopback":          {Open: at("localhost", "http", channel.Guard{}), Want: refused},
		"a name that resolves to loopback over TLS": {Open: at("localhost", "https", channel.Guard{}), Want: refused},
		"the address mapped into IPv6":              {Open: at("::ffff:127.0.0.1", "http", channel.Guard{}), Want: refused},
		"the unspecified address":                   {Open: at("0.0.0.0", "http", channel.Guard{}), Want: refused},
		"the range is denied by the installation":   {Open: at("127.0.0.1", "http", denied), Want: refused},
		"other ranges are allowed":                  {Open: at("127.0.0.1", "http", channel.Guard{Allow: ranges(t, "10.0.0.0/8")}), Want: refused},
	})
}

func TestAReceiverInsideIsDialledWhenAllowed(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	_, port, err := net.SplitHostPort(r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		s := open(t, "http://"+net.JoinHostPort(host, port), guarded(channel.Guard{Allow: ranges(t, "127.0.0.0/8")}))
		if got := s.Send(t.Context(), ct.Message()); got != accepted("status 200") {
			t.Errorf("%s: send is %+v, want Accepted", host, got)
		}
	}
}

func TestARedirectIsNotDialled(t *testing.T) {
	t.Parallel()
	inside := ct.NewReceiver(t, ct.Answer(200))
	for _, status := range []int{301, 302, 303, 307, 308} {
		first := ct.NewReceiver(t, ct.Answer(status, "Location: "+inside.URL()+"/"))
		s := open(t, first.URL())
		if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Permanent || got.Reason != reminder.PermanentFailure {
			t.Errorf("%d: send is %+v, want Permanent", status, got)
		}
	}
	if got := inside.Connections(); got != 0 {
		t.Errorf("there were %d connections to where redirects led, want none", got)
	}
}
