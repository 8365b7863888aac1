package channel_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var now = time.Date(2026, 11, 3, 8, 0, 5, 0, time.UTC)

// loopback allows the receivers of these tests.
var loopback = channel.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}

// setup is what a test changes of an ordinary HTTP channel.
type setup struct {
	channel reminder.Channel
	options channel.Options
}

func (s *setup) timeout(d time.Duration) { s.channel.SendTimeout = d }

// open opens an HTTP channel towards url; changes come last.
func open(t *testing.T, url string, changes ...func(*setup)) channel.Sender {
	t.Helper()
	s := &setup{
		channel: reminder.Channel{
			Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, Dedupes: true,
			SendTimeout: 10 * time.Second, Concurrency: 4, HTTP: &reminder.HTTPChannel{URL: url},
		},
		options: channel.Options{Now: func() time.Time { return now }, Egress: loopback},
	}
	for _, change := range changes {
		change(s)
	}
	sender, err := channel.New(s.channel, s.options)
	if err != nil {
		t.Fatalf("open channel: %v", err)
	}
	return sender
}

// towards opens a sender towards a receiver that behaves as told.
func towards(b ct.Behaviour, changes ...func(*setup)) func(*testing.T, *ct.Bench) channel.Sender {
	return func(t *testing.T, bench *ct.Bench) channel.Sender {
		r := ct.NewReceiver(t, b)
		bench.Canary(r.Addr(), "canary-token", "canary-credential")
		changes = append(changes, credential(t))
		return open(t, r.URL()+"/canary-token", changes...)
	}
}

// credential adds a header from the channel's Secret, whose value is a canary.
func credential(t *testing.T) func(*setup) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "header.Authorization"), []byte("Bearer canary-credential"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(s *setup) { s.options.SecretDir = dir }
}

// dialled opens a sender whose connections come from dial.
func dialled(dial func(ctx context.Context) (net.Conn, error), changes ...func(*setup)) func(*testing.T, *ct.Bench) channel.Sender {
	return func(t *testing.T, bench *ct.Bench) channel.Sender {
		bench.Canary("canary-host", "canary-token")
		bench.Canary("canary-credential")
		changes = append(changes, credential(t), func(s *setup) {
			s.options.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
		})
		return open(t, "http://canary-host.example/canary-token", changes...)
	}
}

func soon(s *setup) { s.timeout(200 * time.Millisecond) }

func accepts(codes ...int) func(*setup) {
	return func(s *setup) { s.channel.HTTP.SuccessCodes = codes }
}

func accepted(receipt string) reminder.Result {
	return reminder.Result{Outcome: reminder.Accepted, Receipt: receipt}
}

func unknown(diagnostic string) reminder.Result {
	return reminder.Result{Outcome: reminder.Unknown, Diagnostic: diagnostic}
}

func transient(diagnostic string, retryAfter time.Duration) reminder.Result {
	return reminder.Result{Outcome: reminder.Transient, Diagnostic: diagnostic, RetryAfter: retryAfter}
}

func permanent(reason reminder.Reason, diagnostic string) reminder.Result {
	return reminder.Result{Outcome: reminder.Permanent, Reason: reason, Diagnostic: diagnostic}
}

func TestHTTPStatus(t *testing.T) {
	t.Parallel()
	ct.Run(t, map[string]ct.Case{
		"200 is accepted":                              {Open: towards(ct.Answer(200)), Want: accepted("status 200")},
		"202 is accepted":                              {Open: towards(ct.Answer(202)), Want: accepted("status 202")},
		"204 without a body is accepted":               {Open: towards(ct.Answer(204)), Want: accepted("status 204")},
		"a listed success code is accepted":            {Open: towards(ct.Answer(409), accepts(200, 409)), Want: accepted("status 409")},
		"another 2xx than the listed ones is unknown":  {Open: towards(ct.Answer(204), accepts(200)), Want: unknown("status 204 is not one of the channel's success codes")},
		"400 is permanent":                             {Open: towards(ct.Answer(400)), Want: permanent(reminder.PermanentFailure, "status 400")},
		"401 is permanent":                             {Open: towards(ct.Answer(401)), Want: permanent(reminder.PermanentFailure, "status 401")},
		"404 is permanent":                             {Open: towards(ct.Answer(404)), Want: permanent(reminder.PermanentFailure, "status 404")},
		"410 says that the endpoint is gone":           {Open: towards(ct.Answer(410)), Want: permanent(reminder.EndpointGone, "status 410")},
		"422 is permanent":                             {Open: towards(ct.Answer(422)), Want: permanent(reminder.PermanentFailure, "status 422")},
		"301 is permanent and not followed":            {Open: towards(ct.Redirect(301)), Want: permanent(reminder.PermanentFailure, "status 301: redirects are not followed")},
		"307 is permanent and not followed":            {Open: towards(ct.Redirect(307)), Want: permanent(reminder.PermanentFailure, "status 307: redirects are not followed")},
		"304 is permanent":                             {Open: towards(ct.Answer(304)), Want: permanent(reminder.PermanentFailure, "")},
		"408 is transient":                             {Open: towards(ct.Answer(408)), Want: transient("status 408", 0)},
		"429 without a header is transient":            {Open: towards(ct.Answer(429)), Want: transient("status 429", 0)},
		"429 with seconds asks for a wait":             {Open: towards(ct.Answer(429, "Retry-After: 120")), Want: transient("status 429", 2*time.Minute)},
		"503 with a date asks for a wait":              {Open: towards(ct.Answer(503, "Retry-After: Tue, 03 Nov 2026 08:01:05 GMT")), Want: transient("status 503", time.Minute)},
		"500 is transient":                             {Open: towards(ct.Answer(500)), Want: transient("status 500", 0)},
		"501 is transient":                             {Open: towards(ct.Answer(501)), Want: transient("status 501", 0)},
		"999 is unknown":                               {Open: towards(ct.Answer(999)), Want: unknown("status 999")},
		"422 before the request was read is permanent": {Open: towards(ct.EarlyAnswer(422)), Want: permanent(reminder.PermanentFailure, "status 422")},
	})
}

func TestHTTPMisbehaviour(t *testing.T) {
	t.Parallel()
	ct.Run(t, map[string]ct.Case{
		"a receiver that never reads is unknown":               {Open: towards(ct.HangBeforeReading, soon), Want: unknown("timeout after the request was written")},
		"a receiver that never answers is unknown":             {Open: towards(ct.HangAfterReading, soon), Want: unknown("timeout after the request was written")},
		"a connection closed after reading is unknown":         {Open: towards(ct.CloseAfterReading), Want: unknown("connection closed by the receiver after the request was written")},
		"a connection reset after reading is unknown":          {Open: towards(ct.ResetAfterReading), Want: unknown("")},
		"a connection reset in the header is unknown":          {Open: towards(ct.ResetInHeader), Want: unknown("")},
		"a status before a reset in the body counts":           {Open: towards(ct.ResetInBody), Want: accepted("status 200")},
		"a header dripped one byte a second is unknown":        {Open: towards(ct.DripHeader, soon), Want: unknown("timeout after the request was written")},
		"a status before a dripped body counts":                {Open: towards(ct.DripBody), Want: accepted("status 200")},
		"a status before an endless body counts":               {Open: towards(ct.EndlessBody), Want: accepted("status 200")},
		"a header of 1 MiB is unknown":                         {Open: towards(ct.HugeHeader), Want: unknown("response header too large after the request was written")},
		"a gzip bomb is not inflated":                          {Open: towards(ct.GzipBomb), Want: accepted("status 200")},
		"an answer in another protocol is unknown":             {Open: towards(ct.NotHTTP), Want: unknown("malformed response after the request was written")},
		"interim responses without end are unknown":            {Open: towards(ct.EndlessInterim), Want: unknown("response header too large after the request was written")},
		"an interim response is no answer":                     {Open: towards(ct.Interim(422)), Want: permanent(reminder.PermanentFailure, "status 422")},
		"an answer that repeats the request":                   {Open: towards(ct.Echo(400)), Want: permanent(reminder.PermanentFailure, "status 400")},
		"a malformed answer that repeats the request":          {Open: towards(ct.EchoRaw), Want: unknown("malformed response after the request was written")},
		"another protocol on request is unknown":               {Open: towards(ct.Upgrade), Want: unknown("malformed response after the request was written")},
		"a status before a drip counts although time ends":     {Open: towards(ct.DripBody, soon), Want: accepted("status 200")},
		"two answers count as the first":                       {Open: towards(ct.AnswerTwice), Want: accepted("status 200")},
		"a body in chunks":                                     {Open: towards(ct.Chunked(200)), Want: accepted("status 200")},
		"a channel that cannot dedupe judges a reset the same": {Open: towards(ct.ResetAfterReading, func(s *setup) { s.channel.Dedupes = false }), Want: unknown("")},
	})
}

func TestHTTPBeforeTheRequest(t *testing.T) {
	t.Parallel()
	fails := func(err error) func(context.Context) (net.Conn, error) {
		return func(context.Context) (net.Conn, error) { return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	}
	hangs := func(ctx context.Context) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ended := func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}
	ct.Run(t, map[string]ct.Case{
		"a refused connection is transient":       {Open: refused, Want: transient("connection refused before the request was written", 0)},
		"an unknown host is transient":            {Open: dialled(fails(&net.DNSError{Err: "no such host", Name: "canary-host.example", IsNotFound: true})), Want: transient("host not found before the request was written", 0)},
		"a DNS timeout is transient":              {Open: dialled(fails(&net.DNSError{Err: "timeout", Name: "canary-host.example", IsTimeout: true})), Want: transient("DNS lookup timed out before the request was written", 0)},
		"a broken DNS server is transient":        {Open: dialled(fails(&net.DNSError{Err: "server misbehaving", Name: "canary-host.example"})), Want: transient("DNS lookup failed before the request was written", 0)},
		"an unreachable network is transient":     {Open: dialled(fails(syscall.ENETUNREACH)), Want: transient("network unreachable before the request was written", 0)},
		"a dial that hangs is transient":          {Open: dialled(hangs, soon), Want: transient("timeout before the request was written", 0)},
		"a context that has ended is transient":   {Open: towards(ct.Answer(200)), Context: ended, Want: transient("cancelled before the request was written", 0)},
		"a write that takes nothing is transient": {Open: dialled(brokenAfter(0)), Want: transient("connection broken before the request was written", 0)},
		"one byte that may have left is unknown":  {Open: dialled(brokenAfter(1)), Want: unknown("connection broken after the request was written")},
	})
}

func refused(t *testing.T, bench *ct.Bench) channel.Sender {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	bench.Canary(address, "canary-token")
	return open(t, "http://"+address+"/canary-token")
}

// brokenConn takes some bytes, then breaks.
type brokenConn struct {
	net.Conn
	left int
}

func (c *brokenConn) Write(b []byte) (int, error) {
	n := min(c.left, len(b))
	c.left -= n
	return n, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
}

func brokenAfter(bytes int) func(context.Context) (net.Conn, error) {
	return func(context.Context) (net.Conn, error) {
		ours, _ := net.Pipe()
		return &brokenConn{Conn: ours, left: bytes}, nil
	}
}

func TestHTTPOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	certificate, roots := server.TLS.Certificates[0], server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	secure := func(b ct.Behaviour, config *tls.Config, changes ...func(*setup)) func(*testing.T, *ct.Bench) channel.Sender {
		return func(t *testing.T, bench *ct.Bench) channel.Sender {
			r := ct.NewTLSReceiver(t, b, config)
			bench.Canary(r.Addr(), "canary-token")
			return open(t, r.URL()+"/canary-token", changes...)
		}
	}
	good := &tls.Config{Certificates: []tls.Certificate{certificate}}
	trusting := func(s *setup) { s.options.TLS = &tls.Config{RootCAs: roots} }
	late := func(s *setup) {
		s.options.TLS = &tls.Config{RootCAs: roots, Time: func() time.Time { return time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC) }}
	}
	other := func(s *setup) { s.options.TLS = &tls.Config{RootCAs: roots, ServerName: "canary-host"} }
	old := &tls.Config{Certificates: []tls.Certificate{certificate}, MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}
	plain := func(t *testing.T, bench *ct.Bench) channel.Sender {
		r := ct.NewReceiver(t, ct.NotHTTP)
		bench.Canary(r.Addr())
		return open(t, "https://"+r.Addr()+"/", soon)
	}
	ct.Run(t, map[string]ct.Case{
		"a trusted certificate":                {Open: secure(ct.Answer(200), good, trusting), Want: accepted("status 200")},
		"an unknown authority is transient":    {Open: secure(ct.Answer(200), good), Want: transient("TLS: certificate signed by an unknown authority before the request was written", 0)},
		"an expired certificate is transient":  {Open: secure(ct.Answer(200), good, late), Want: transient("TLS: certificate expired or not yet valid before the request was written", 0)},
		"another name is transient":            {Open: secure(ct.Answer(200), good, other), Want: transient("TLS: certificate is for another name before the request was written", 0)},
		"an old version of TLS is transient":   {Open: secure(ct.Answer(200), old, trusting), Want: transient("", 0)},
		"a server without TLS is transient":    {Open: plain, Want: transient("", 0)},
		"a close after reading is unknown":     {Open: secure(ct.CloseAfterReading, good, trusting), Want: unknown("")},
		"a hang after reading is unknown":      {Open: secure(ct.HangAfterReading, good, trusting, func(s *setup) { s.timeout(time.Second) }), Want: unknown("timeout after the request was written")},
		"a handshake that hangs is transient":  {Open: dialledTLS, Want: transient("timeout before the request was written", 0)},
		"a status over TLS is judged the same": {Open: secure(ct.Answer(429, "Retry-After: 7"), good, trusting), Want: transient("status 429", 7*time.Second)},
	})
}

// dialledTLS opens a sender towards a receiver that never takes part in the handshake.
func dialledTLS(t *testing.T, bench *ct.Bench) channel.Sender {
	r := ct.NewReceiver(t, ct.HangBeforeReading)
	bench.Canary(r.Addr())
	return open(t, "https://"+r.Addr()+"/", soon)
}

// A request with an Idempotency-Key counts as idempotent for net/http, which
// then sends it again by itself when a connection that it used before breaks:
// an attempt that nobody counts, and an outcome that looks certain.
func TestHTTPSendsOnceOnABrokenReusedConnection(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]ct.Behaviour{"closed": ct.CloseAfterReading, "reset": ct.ResetAfterReading} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ct.NewReceiver(t, ct.InTurn(ct.Answer(200), breaks))
			s := open(t, r.URL())
			if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Accepted {
				t.Fatalf("first send is %+v, want Accepted", got)
			}
			if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Unknown {
				t.Errorf("second send is %+v, want Unknown", got)
			}
			if got := len(r.Requests()); got != 2 {
				t.Errorf("the receiver read %d requests, want 2", got)
			}
			if got := r.Connections(); got != 1 {
				t.Errorf("there were %d connections, want 1 that was used twice", got)
			}
		})
	}
}

// What a receiver writes without having been asked is neither an answer nor text
// that net/http may log.
func TestHTTPHearsNothingThatItDidNotAskFor(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged) // not parallel: the standard logger, which net/http uses, is the process's
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	for name, b := range map[string]ct.Behaviour{
		"speaks first": ct.SpeakFirst, "answers twice": ct.AnswerTwice, "answers 408 twice": ct.InTurn(ct.AnswerTwice, ct.Answer(408)),
		"switches protocols": ct.Upgrade, "speaks another": ct.NotHTTP, "has a huge header": ct.HugeHeader,
	} {
		r := ct.NewReceiver(t, b)
		s := open(t, r.URL())
		for range 20 {
			ct.CheckResult(t, s.Send(t.Context(), ct.Message()))
		}
		if got := logged.String(); got != "" {
			t.Errorf("a receiver that %s: net/http logged %s", name, got)
		}
	}
}

// A second answer in the same segment must not become the answer to the next request.
func TestHTTPTakesNoAnswerForAnotherRequest(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.AnswerTwice)
	s := open(t, r.URL())
	for range 5 {
		if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Accepted {
			t.Fatalf("send is %+v, want Accepted", got)
		}
	}
	if got := r.Connections(); got != 5 {
		t.Errorf("there were %d connections, want a new one for each of 5 requests", got)
	}
}

func TestHTTPUsesAConnectionAgainAfterAnyCleanAnswer(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]ct.Behaviour{
		"a length": ct.Answer(200), "no body": ct.Answer(204), "chunks": ct.Chunked(200), "an interim response": ct.Interim(200), "a rejection": ct.Answer(422),
	} {
		r := ct.NewReceiver(t, b)
		s := open(t, r.URL())
		for range 5 {
			s.Send(t.Context(), ct.Message())
		}
		if got := r.Connections(); got != 1 {
			t.Errorf("%s: there were %d connections, want 1", name, got)
		}
	}
}

// This shows that the test above can fail: the same request with a body that
// net/http can read twice arrives a third time.
func TestNetHTTPRepeatsARequestWithAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.InTurn(ct.Answer(200), ct.CloseAfterReading))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL(), strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Idempotency-Key", "k")
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			t.Fatalf("net/http did not repeat the request: %v", err)
		}
		var rest [4096]byte
		for err == nil {
			_, err = response.Body.Read(rest[:])
		}
		_ = response.Body.Close()
	}
	if got := len(r.Requests()); got != 3 {
		t.Errorf("the receiver read %d requests, want 3 for 2", got)
	}
}

func TestHTTPUsesOneConnectionPerSubmissionWithoutDedupe(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	s := open(t, r.URL(), func(s *setup) { s.channel.Dedupes = false })
	for range 3 {
		if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Accepted {
			t.Fatalf("send is %+v, want Accepted", got)
		}
	}
	if got := r.Connections(); got != 3 {
		t.Errorf("there were %d connections, want 3", got)
	}
}

func TestHTTPIgnoresTheProxyOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	r := ct.NewReceiver(t, ct.Answer(200))
	s := open(t, "http://receiver.example/", func(s *setup) {
		s.options.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != "receiver.example:80" {
				t.Errorf("dialled %s, want the receiver itself", address)
			}
			return new(net.Dialer).DialContext(ctx, network, r.Addr())
		}
	})
	if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Accepted {
		t.Errorf("send is %+v, want Accepted", got)
	}
}
