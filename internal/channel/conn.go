package channel

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// countedConn counts the bytes that the system took to send.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

// Write counts what went out, whole or in part.
func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// answer is all that is taken from a response.
type answer struct {
	status     int
	retryAfter string
	// last: the connection must not be used again.
	last bool
}

// raw is the response that net/http gets to read instead of the receiver's.
func (a answer) raw() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %03d \r\nContent-Length: 0\r\n", a.status)
	if a.last {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// quietConn reads the receiver's responses itself, within bounds, and shows
// net/http their status only. Nothing that a receiver writes can get further:
// net/http would, for one, log what arrives without having been asked for.
//
// net/http reads a connection from one goroutine at a time.
type quietConn struct {
	net.Conn // the connection behind TLS, if there is TLS
	counted  *countedConn
	limit    *io.LimitedReader
	reader   *bufio.Reader
	pending  []byte
	// asked: a request has begun to be written and was not answered yet.
	asked atomic.Bool
	// current is whose request it is.
	current atomic.Pointer[watch]
}

func newQuietConn(conn net.Conn, counted *countedConn) *quietConn {
	limit := &io.LimitedReader{R: conn}
	return &quietConn{Conn: conn, counted: counted, limit: limit, reader: bufio.NewReader(limit)}
}

// Write writes a request.
func (c *quietConn) Write(b []byte) (int, error) {
	c.asked.Store(true)
	return c.Conn.Write(b)
}

var (
	errUnasked   = errors.New("the receiver wrote without having been asked")
	errMalformed = errors.New("malformed response")
	errTooLarge  = errors.New("response header too large")
)

// Read gives net/http the status of the next response.
func (c *quietConn) Read(b []byte) (int, error) {
	if len(c.pending) == 0 {
		a, err := c.next()
		if err != nil {
			return 0, err
		}
		c.pending = a.raw()
	}
	n := copy(b, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// next waits for a response and reads it.
func (c *quietConn) next() (*answer, error) {
	c.limit.N = maxHeader
	if _, err := c.reader.Peek(1); err != nil {
		return nil, err
	}
	if !c.asked.Load() {
		return nil, errUnasked
	}
	response, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	a := &answer{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	if w := c.current.Load(); w != nil {
		w.answered.Store(a)
	}
	final := *a
	final.last = response.Close || !c.drained(response.Body)
	c.asked.Store(false)
	return &final, nil
}

// readHeader reads the header of a response, and drops interim ones before it.
func (c *quietConn) readHeader() (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, &http.Request{Method: http.MethodPost})
		switch {
		case err != nil && c.limit.N == 0:
			return nil, errTooLarge
		case err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || isNet(err)):
			return nil, err
		case err != nil:
			return nil, errMalformed // the text of err may quote the response
		case response.StatusCode == http.StatusSwitchingProtocols:
			return nil, errMalformed
		case response.StatusCode/100 != 1:
			return response, nil
		}
	}
}

func isNet(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// drained reads and drops a body within bounds of size and time, and tells
// whether the connection is clean behind it.
func (c *quietConn) drained(body io.Reader) bool {
	c.limit.N = maxBody
	if c.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return false
	}
	_, err := io.Copy(io.Discard, body)
	return err == nil && c.limit.N > 0 && c.reader.Buffered() == 0 && c.SetReadDeadline(time.Time{}) == nil
}

// watch follows one request to its connection, and is told the answer.
type watch struct {
	conn     atomic.Pointer[quietConn]
	start    atomic.Int64
	answered atomic.Pointer[answer]
}

// got is called when a connection is given to the request, before it is written.
func (w *watch) got(info httptrace.GotConnInfo) {
	c := info.Conn.(*quietConn)
	w.start.Store(c.counted.written.Load())
	w.conn.Store(c)
	c.current.Store(w)
}

// sent tells whether any byte of the request may have left.
func (w *watch) sent() bool {
	c := w.conn.Load()
	return c != nil && c.counted.written.Load() > w.start.Load()
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// plainly and securely make the connections of a client; both take at most timeout.
func plainly(dial dialFunc, timeout time.Duration) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		counted := &countedConn{Conn: conn}
		return newQuietConn(counted, counted), nil
	}
}

func securely(dial dialFunc, timeout time.Duration, config *tls.Config) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		counted := &countedConn{Conn: conn}
		secure := tls.Client(counted, named(config, address))
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return newQuietConn(secure, counted), nil
	}
}

// named is config for the host of an address.
func named(config *tls.Config, address string) *tls.Config {
	if config.ServerName != "" {
		return config
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	config = config.Clone()
	config.ServerName = host
	return config
}
