package channel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Guard decides which addresses may be dialled. It judges the address that the
// system is about to connect to, after names were resolved, so that neither a
// disguise in a URL nor a name that changes its address gets around it.
//
// The zero value refuses every address that is not public.
type Guard struct {
	// Allow lists ranges that may be dialled although they are refused otherwise,
	// by Deny or because they are not public. It is matched with the address that
	// is dialled alone, and not with one that is embedded in it.
	Allow []netip.Prefix
	// Deny lists ranges that are refused beside those that are not public.
	Deny []netip.Prefix
}

// special is what is never a public receiver: the IANA special-purpose
// registries for IPv4 and IPv6 (RFC 6890 and its updates), multicast, and what
// is not assigned to global unicast.
var special = prefixes(
	"0.0.0.0/8",         // this network; 0.0.0.0 reaches this host
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // shared by carriers, and by clusters
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // public by number, but the host agent of a cloud
	"169.254.0.0/16",    // link-local: metadata services
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // multicast tunnels
	"192.88.99.0/24",    // relays of 6to4
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarks
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, and broadcast
	"::/3",              // ::, ::1, ::a.b.c.d, ::ffff:0:a.b.c.d, NAT64 for local use 64:ff9b:1::/48, discard 100::/64
	"2001::/23",         // protocol assignments: Teredo 2001::/32, benchmarks, ORCHID
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4, with an IPv4 address inside
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"4000::/2",          // not assigned; segment routing 5f00::/16
	"8000::/1",          // unique local fc00::/7, link-local fe80::/10, multicast ff00::/8, and not assigned
)

// nat64 is the one form with an IPv4 address inside that leads to public
// receivers: clusters without IPv4 reach them by it. The address inside decides.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, one := range list {
		out[i] = netip.MustParsePrefix(one)
	}
	return out
}

// Allows tells whether an address may be dialled.
func (g Guard) Allows(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	switch {
	case !address.IsValid():
		return false
	case contains(g.Allow, address):
		return true
	case contains(g.Deny, address):
		return false
	case nat64.Contains(address):
		inside := embedded(address)
		return !contains(g.Deny, inside) && !contains(special, inside)
	}
	return !contains(special, address)
}

func contains(ranges []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(address) })
}

// embedded is the IPv4 address in the last four bytes.
func embedded(address netip.Addr) netip.Addr {
	b := address.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

// ParseRanges reads ranges in CIDR form. Its errors say what to write.
func ParseRanges(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, one := range list {
		p, err := netip.ParsePrefix(strings.TrimSpace(one))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is not a range; give ranges such as 10.20.0.0/16 or fd00:10::/64", one)
		case p.Addr().Is4In6():
			return nil, fmt.Errorf("%q holds an IPv4 address; write it as one, such as 10.20.0.0/16", one)
		case p != p.Masked():
			return nil, fmt.Errorf("%q has bits behind its length; write %s or a longer prefix", one, p.Masked())
		}
		out = append(out, p)
	}
	return out, nil
}

var (
	errNotAllowed = errors.New("address not allowed")
	errPartly     = errors.New("no address that is allowed could be reached")
)

// dialer dials what the guard allows. A name with several addresses is dialled
// at those that are allowed; it counts as not allowed only when none is.
func (g Guard) dialer(names *net.Resolver, timeout time.Duration) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var passed atomic.Bool
		d := net.Dialer{Timeout: timeout, Resolver: names, ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			if !g.allowsDial(network, address) {
				return errNotAllowed
			}
			passed.Store(true)
			return nil
		}}
		conn, err := d.DialContext(ctx, network, address)
		if errors.Is(err, errNotAllowed) && passed.Load() {
			return nil, errPartly
		}
		return conn, err
	}
}

// allowsDial judges what the system is about to connect to.
func (g Guard) allowsDial(network, address string) bool {
	target, err := netip.ParseAddrPort(address)
	return err == nil && strings.HasPrefix(network, "tcp") && g.Allows(target.Addr())
}
