package integration

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// network is a TCP proxy between a client and a server that can drop what goes
// one way, or both, without either of them noticing: as a broken route does.
type network struct {
	listener net.Listener
	server   string // host:port

	mu       sync.Mutex
	dropping map[way]bool
	conns    map[net.Conn]bool
}

// way is a direction of a connection.
type way string

const (
	toServer way = "to the server"
	toClient way = "to the client"
)

// newNetwork listens on a port of its own; connect goes through it.
func newNetwork(t *testing.T) *network {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{listener: l, dropping: map[way]bool{}, conns: map[net.Conn]bool{}}
	t.Cleanup(n.close)
	return n
}

// via answers the URL that leads through the network to the one given.
func (n *network) via(to string) (string, error) {
	u, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	n.server, u.Host = u.Host, n.listener.Addr().String()
	go n.accept()
	return u.String(), nil
}

// drop begins or ends to drop what goes one way; connections stay open.
func (n *network) drop(w way, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropping[w] = on
}

func (n *network) drops(w way) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dropping[w]
}

func (n *network) accept() {
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp", n.server)
		if err != nil {
			client.Close()
			continue
		}
		n.mu.Lock()
		n.conns[client], n.conns[server] = true, true
		n.mu.Unlock()
		go n.carry(server, client, toServer)
		go n.carry(client, server, toClient)
	}
}

// carry copies one way. What was dropped once is missing from the stream, so that
// such a connection carries nothing more that way: TCP would not either.
func (n *network) carry(to, from net.Conn, w way) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	broken := false
	for {
		size, err := from.Read(buffer)
		broken = broken || n.drops(w)
		if err == nil && !broken {
			_, err = to.Write(buffer[:size])
		}
		if err != nil {
			return
		}
	}
}

func (n *network) close() {
	n.listener.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.Close()
	}
}
