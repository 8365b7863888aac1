package channeltest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Receiver is an HTTP/1.1 receiver on the loopback interface that reads
// requests from bare connections and answers by a [Behaviour].
type Receiver struct {
	listener net.Listener
	scheme   string
	behave   Behaviour
	closed   chan struct{}
	working  sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	requests []Request
	count    int
	changed  chan struct{}
}

// Request is one request as it arrived, with its body read.
type Request struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
}

// NewReceiver starts a receiver that ends with the test.
func NewReceiver(t testing.TB, b Behaviour) *Receiver {
	t.Helper()
	return start(t, b, "http", func(l net.Listener) net.Listener { return l })
}

// NewTLSReceiver starts a receiver that speaks TLS.
func NewTLSReceiver(t testing.TB, b Behaviour, config *tls.Config) *Receiver {
	t.Helper()
	return start(t, b, "https", func(l net.Listener) net.Listener { return tls.NewListener(l, config) })
}

func start(t testing.TB, b Behaviour, scheme string, wrap func(net.Listener) net.Listener) *Receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	r := &Receiver{
		listener: wrap(listener), scheme: scheme, behave: b, closed: make(chan struct{}),
		conns: map[net.Conn]struct{}{}, changed: make(chan struct{}),
	}
	r.working.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

// URL is where the receiver listens.
func (r *Receiver) URL() string { return r.scheme + "://" + r.Addr() }

// Addr is the host and port where the receiver listens.
func (r *Receiver) Addr() string { return r.listener.Addr().String() }

// Requests are the requests whose bodies have been read so far.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.requests...)
}

// Connections is the number of connections that were ever opened.
func (r *Receiver) Connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Arrived is closed when the number of requests next changes.
func (r *Receiver) Arrived() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *Receiver) close() {
	close(r.closed)
	_ = r.listener.Close()
	r.mu.Lock()
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.working.Wait()
}

func (r *Receiver) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.conns[conn] = struct{}{}
		r.count++
		r.mu.Unlock()
		r.working.Go(func() { r.serve(conn) })
	}
}

func (r *Receiver) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		r.mu.Lock()
		delete(r.conns, conn)
		r.mu.Unlock()
	}()
	e := &Exchange{Conn: conn, reader: bufio.NewReader(conn), receiver: r, Closed: r.closed}
	for r.behave(e) {
		e.Number++
	}
}

func (r *Receiver) arrived(q Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, q)
	close(r.changed)
	r.changed = make(chan struct{})
}

// Exchange is one turn on a connection: a request to read and to answer.
type Exchange struct {
	Conn net.Conn
	// Number counts the turns on this connection from 0.
	Number int
	// Closed ends when the receiver shuts down; whatever waits must watch it.
	Closed <-chan struct{}

	reader   *bufio.Reader
	receiver *Receiver
	last     Request
}

// Wait waits for the first byte of a request; false when there is none.
func (e *Exchange) Wait() bool {
	_, err := e.reader.Peek(1)
	return err == nil
}

// Read reads one request with its body; false when there is none.
func (e *Exchange) Read() bool {
	q, err := http.ReadRequest(e.reader)
	if err != nil {
		return false
	}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return false
	}
	e.last = Request{Method: q.Method, Path: q.URL.RequestURI(), Header: q.Header, Body: body}
	e.receiver.arrived(e.last)
	return true
}

// Write answers with raw bytes; false when the other side has gone.
func (e *Exchange) Write(raw string) bool {
	_, err := io.WriteString(e.Conn, raw)
	return err == nil
}
