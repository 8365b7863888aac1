package channel_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// What an outcome tells of the channel, beside its reminder.
func TestFaultOfTheChannel(t *testing.T) {
	t.Parallel()
	relayConfig, trusting := relayCertificate(t)
	offers := ct.RelayOptions{TLS: relayConfig, User: user, Password: password}
	answering := func(status int, header ...string) func(*testing.T) channel.Sender {
		return func(t *testing.T) channel.Sender {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for _, wait := range header {
					w.Header().Set("Retry-After", wait)
				}
				w.WriteHeader(status)
			}))
			t.Cleanup(server.Close)
			return direct(t, server.URL, nil)
		}
	}
	relayed := func(o ct.RelayOptions, changes ...func(*setup)) func(*testing.T) channel.Sender {
		return func(t *testing.T) channel.Sender { return mailOpen(t, ct.NewRelay(t, o).Addr(), changes...) }
	}
	tests := map[string]struct {
		open func(*testing.T) channel.Sender
		want reminder.Fault
	}{
		"accepted":             {answering(200), ""},
		"422":                  {answering(422), ""},
		"410":                  {answering(410), reminder.FaultGone},
		"408":                  {answering(408), reminder.FaultEndpoint},
		"500":                  {answering(500), reminder.FaultEndpoint},
		"500 with Retry-After": {answering(500, "5"), reminder.FaultEndpoint},
		"503":                  {answering(503), reminder.FaultEndpoint},
		"503 with Retry-After": {answering(503, "5"), reminder.FaultThrottled},
		"429":                  {answering(429), reminder.FaultThrottled},
		"429 with Retry-After": {answering(429, "5"), reminder.FaultThrottled},
		"nobody listens":       {func(t *testing.T) channel.Sender { return direct(t, "http://"+closedPort(t), nil) }, reminder.FaultEndpoint},
		"an untrusted endpoint": {func(t *testing.T) channel.Sender {
			server := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			return direct(t, server.URL, &tls.Config{MinVersion: tls.VersionTLS12})
		}, reminder.FaultChannel},
		"mail accepted":                     {relayed(ct.RelayOptions{}), ""},
		"mail greylisted":                   {relayed(ct.RelayOptions{Greylist: true}), ""},
		"mail to nobody, 550":               {relayed(ct.RelayOptions{Rcpt: 550}), ""},
		"mail box full, 452":                {relayed(ct.RelayOptions{Rcpt: 452}), ""},
		"relay closes, 421":                 {relayed(ct.RelayOptions{Mail: 421}), reminder.FaultEndpoint},
		"relay drops after the final dot":   {relayed(ct.RelayOptions{AtEnd: ct.DropAtEnd}), reminder.FaultEndpoint},
		"relay refuses the password, 535":   {relayed(offers, mode(reminder.TLSRequire), trusting, logsIn(t, "canary-wrong")), reminder.FaultChannel},
		"relay asks for a password, 530":    {relayed(offers, mode(reminder.TLSRequire), trusting), reminder.FaultChannel},
		"relay without STARTTLS":            {relayed(ct.RelayOptions{}, mode(reminder.TLSRequire), trusting), reminder.FaultChannel},
		"relay with an unknown certificate": {relayed(offers, mode(reminder.TLSRequire)), reminder.FaultChannel},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.open(t).Send(t.Context(), ct.Message()); got.Fault != tt.want {
				t.Errorf("fault %q of %+v, want %q", got.Fault, got, tt.want)
			}
		})
	}
}

// direct opens an HTTP channel whose connections go where its URL says.
func direct(t *testing.T, url string, config *tls.Config) channel.Sender {
	t.Helper()
	s, err := channel.New(reminder.Channel{
		Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, SendTimeout: 10 * time.Second, HTTP: &reminder.HTTPChannel{URL: url},
	}, channel.Options{DialContext: new(net.Dialer).DialContext, TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
