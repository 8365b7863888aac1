package channel

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const (
	// maxHeader is the largest response header that is read, in bytes.
	maxHeader = 16 << 10
	// maxBody is how much of a response's body is read and dropped so that the
	// connection can be used again; with more, it is closed.
	maxBody = 64 << 10
	// drainTime bounds that reading: the outcome is known by then.
	drainTime = 250 * time.Millisecond
	// idleTime is how long an unused connection is kept. It is shorter than the 5
	// seconds of common servers: a request that meets a connection which the
	// server closes at that moment has an unknown outcome.
	idleTime = 3 * time.Second
)

// client is the one HTTP client of this package. It makes one submission per
// call: it follows no redirect, uses no proxy, asks for no compression, and
// neither it nor net/http sends anything twice.
//
// It speaks HTTP/1.1 only: a connection then carries one request at a time, so
// that counting its bytes proves whether a request has left, and a broken
// connection makes one outcome unknown instead of many.
type client struct {
	transport *http.Transport
	timeout   time.Duration
}

func newClient(c reminder.Channel, o Options) *client {
	dial := o.DialContext
	if dial == nil {
		dial = (&net.Dialer{Timeout: c.SendTimeout}).DialContext
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	config.NextProtos = nil
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &client{timeout: c.SendTimeout, transport: &http.Transport{
		Proxy:                  nil,
		DialContext:            counted(dial),
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    c.SendTimeout,
		Protocols:              protocols,
		DisableCompression:     true,
		DisableKeepAlives:      !c.Dedupes,
		MaxIdleConns:           max(c.Concurrency, 1),
		MaxIdleConnsPerHost:    max(c.Concurrency, 1),
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeader,
	}}
}

// reply is what one submission met: a status, or a failure.
type reply struct {
	status int
	header http.Header
	// err is set when there was no status.
	err error
	// sent: at least one byte of the request may have left.
	sent bool
}

// submit sends a request once. Its body must come as body: a request that
// carries an Idempotency-Key is repeated by net/http on its own when its
// connection breaks, unless it has a body that cannot be read twice.
func (c *client) submit(ctx context.Context, r *http.Request, body io.Reader, length int) reply {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	watch := new(watch)
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: watch.got}))
	r.Body, r.GetBody, r.ContentLength = io.NopCloser(body), nil, int64(length)
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		return reply{err: err, sent: watch.sent()}
	}
	drain(response.Body, cancel)
	return reply{status: response.StatusCode, header: response.Header, sent: true}
}

// drain reads the rest of a response within bounds and drops it.
func drain(body io.ReadCloser, cancel func()) {
	defer body.Close()
	defer time.AfterFunc(drainTime, cancel).Stop()
	_, _ = io.CopyN(io.Discard, body, maxBody+1)
}

// watch tells whether a request may have left: whether its connection has
// written anything since it was given to the request.
type watch struct {
	conn   atomic.Pointer[countedConn]
	start  atomic.Int64
	opaque atomic.Bool
}

func (w *watch) got(info httptrace.GotConnInfo) {
	conn := info.Conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if c, ok := conn.(*countedConn); ok {
		w.start.Store(c.written.Load())
		w.conn.Store(c)
		return
	}
	w.opaque.Store(true)
}

func (w *watch) sent() bool {
	c := w.conn.Load()
	return w.opaque.Load() || c != nil && c.written.Load() > w.start.Load()
}

// countedConn counts the bytes that went out.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

// Write counts what the system took, before it can be answered.
func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

func counted(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}
