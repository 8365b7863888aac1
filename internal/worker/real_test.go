package worker_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// endpoint is a real receiver over HTTP that answers as told, and counts.
type endpoint struct {
	url string

	mu      sync.Mutex
	status  int
	wait    string // Retry-After
	arrived []arrival
	// hold is called with each request before it is answered; nil for nothing.
	hold func(arrival)
}

// arrival is one request.
type arrival struct {
	id string
	at time.Time
}

func newEndpoint(t *testing.T, status int) *endpoint {
	t.Helper()
	e := &endpoint{status: status}
	server := httptest.NewServer(e)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	e.url = server.URL
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	a := arrival{q.Header.Get("Idempotency-Key"), time.Now()}
	e.mu.Lock()
	e.arrived = append(e.arrived, a)
	hold := e.hold
	e.mu.Unlock()
	if hold != nil {
		hold(a)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wait != "" {
		w.Header().Set("Retry-After", e.wait)
	}
	w.WriteHeader(e.status)
}

// turns makes it answer otherwise from now on.
func (e *endpoint) turns(status int, wait string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status, e.wait = status, wait
}

func (e *endpoint) all() []arrival {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]arrival(nil), e.arrived...)
}

func direct(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

// over makes the bench's channel one of type HTTP towards the endpoint.
func (e *endpoint) over(b *bench) {
	b.channel.Type, b.channel.HTTP = reminder.ChannelHTTP, &reminder.HTTPChannel{URL: e.url}
	b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 20*time.Second, 41*time.Second, 52*time.Second
}

// really makes workers send by real senders.
func really(change func(*channel.Options)) func(*worker.Options) {
	return func(o *worker.Options) {
		o.NewSender = func(c reminder.Channel) (worker.Sender, error) {
			options := channel.Options{DialContext: direct}
			if change != nil {
				change(&options)
			}
			return channel.New(c, options)
		}
		o.BeatEvery = 100 * time.Millisecond
	}
}

// relay makes the bench's channel one of type SMTP towards a relay that asks for a
// password, and writes one into the Secret.
func (b *bench) relay(password string) (*ct.Relay, func(*worker.Options), func(password string)) {
	b.Helper()
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	b.Cleanup(certified.Close)
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	r := ct.NewRelay(b, ct.RelayOptions{TLS: &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}, User: "user", Password: password})
	dir := b.TempDir()
	write := func(password string) {
		for name, value := range map[string]string{channel.UserFile: "user", channel.PasswordFile: password} {
			path := filepath.Join(dir, name)
			b.must(os.WriteFile(path+".new", []byte(value), 0o600))
			b.must(os.Rename(path+".new", path))
		}
	}
	b.channel.Type, b.channel.Dedupes, b.channel.Signed = reminder.ChannelSMTP, false, true
	b.channel.SMTP = &reminder.SMTPChannel{Host: "127.0.0.1", Port: 587, TLS: reminder.TLSRequire, From: "billing@example.com"}
	b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 20*time.Second, 41*time.Second, 52*time.Second
	b.schedule.OnUnknown = reminder.ParkUnknown
	return r, really(func(o *channel.Options) {
		o.SecretDir, o.RequireSignature = dir, true
		o.TLS = &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
		o.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) { return direct(ctx, network, r.Addr()) }
	}), write
}
