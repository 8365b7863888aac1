package channel

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const (
	// maxHeader is the largest response header that is read, in bytes, interim
	// responses included.
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
// neither it nor net/http sends anything twice but questions, which have no body.
//
// It speaks HTTP/1.1 only: a connection then carries one request at a time, so
// that counting its bytes proves whether a request has left, and a broken
// connection makes one outcome unknown instead of many. Connections are used
// again only where the receiver dedupes: whether a receiver took a request or
// closed an idle connection at that moment cannot be told apart.
type client struct {
	transport *http.Transport
	timeout   time.Duration
}

func newClient(c reminder.Channel, o Options) *client {
	dial := o.DialContext
	if dial == nil {
		dial = o.Egress.dialer(o.Resolver, c.SendTimeout)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &client{timeout: c.SendTimeout, transport: &http.Transport{
		Proxy:               nil,
		DialContext:         plainly(dial, c.SendTimeout),
		DialTLSContext:      securely(dial, c.SendTimeout, tlsConfig(o.TLS)),
		Protocols:           protocols,
		DisableCompression:  true,
		DisableKeepAlives:   !c.Dedupes,
		MaxIdleConns:        max(c.Concurrency, 1),
		MaxIdleConnsPerHost: max(c.Concurrency, 1),
		IdleConnTimeout:     idleTime,
	}}
}

func tlsConfig(base *tls.Config) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if base != nil {
		config = base.Clone()
	}
	config.NextProtos = []string{"http/1.1"}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return config
}

// reply is what one submission met: an answer, or a failure.
type reply struct {
	answer *answer
	// err is set when there was no answer.
	err error
	// sent: at least one byte of the request may have left.
	sent bool
}

// submit sends a request once; body is nil where it has none. Its body must come as body: a request that
// carries an Idempotency-Key is repeated by net/http on its own when its
// connection breaks, unless it has a body that cannot be read twice.
func (c *client) submit(ctx context.Context, r *http.Request, body io.Reader, length int) reply {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	watch := new(watch)
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: watch.got}))
	r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, int64(length)
	if body != nil {
		r.Body = io.NopCloser(body)
	}
	response, err := c.transport.RoundTrip(r)
	if err == nil {
		_ = response.Body.Close()
	}
	// What was answered counts, even if the connection broke behind the header.
	if a := watch.answered.Load(); a != nil {
		return reply{answer: a}
	}
	if err == nil {
		err = errMalformed
	}
	return reply{err: err, sent: watch.sent()}
}
