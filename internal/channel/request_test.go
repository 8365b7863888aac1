package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var update = flag.Bool("update", false, "write the golden files")

// request is what arrives, as the golden file holds it.
type request struct {
	Method  string
	Path    string
	Headers map[string]string
	Body    json.RawMessage
}

func TestRequestIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	s := open(t, r.URL()+"/hook?token=t", func(s *setup) {
		s.channel.HTTP.Headers = []reminder.HTTPHeader{{Name: "x-team", Value: "billing"}}
		s.options.UserAgent = "reminder-operator/v0.1.0"
	})
	m := ct.Message()
	m.Body, m.HTML, m.UnsubscribeURL, m.Attempt = "Grüße <b>&</b>\nline two", "<p>Grüße</p>", "https://a.example/u/1", 3
	if got := s.Send(t.Context(), m); got.Outcome != reminder.Accepted {
		t.Fatalf("send is %+v", got)
	}
	q := r.Requests()[0]
	got := request{Method: q.Method, Path: q.Path, Headers: map[string]string{}, Body: q.Body}
	for name, values := range q.Header {
		got.Headers[name] = strings.Join(values, "\n")
	}
	golden(t, "testdata/request.json", got)
}

func golden(t *testing.T, path string, got request) {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("request differs (-want +got):\n%s", diff)
	}
}

// A receiver may refuse a repeated Idempotency-Key whose body has changed.
func TestEveryAttemptHasTheSameBodyAndKey(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(503))
	clock := now
	s := open(t, r.URL(), func(s *setup) { s.options.Now = func() time.Time { return clock } })
	for attempt := 1; attempt <= 3; attempt++ {
		m := ct.Message()
		m.Attempt = attempt
		s.Send(t.Context(), m)
		clock = clock.Add(time.Minute)
	}
	all := r.Requests()
	if len(all) != 3 {
		t.Fatalf("%d requests arrived, want 3", len(all))
	}
	for i, q := range all[1:] {
		if string(q.Body) != string(all[0].Body) {
			t.Errorf("body of attempt %d differs: %s and %s", i+2, q.Body, all[0].Body)
		}
		for _, name := range []string{"Idempotency-Key", "Webhook-Id", "Ce-Id", "Ce-Source", "Ce-Time"} {
			if q.Header.Get(name) != all[0].Header.Get(name) || q.Header.Get(name) == "" {
				t.Errorf("%s of attempt %d is %q, want %q", name, i+2, q.Header.Get(name), all[0].Header.Get(name))
			}
		}
		if q.Header.Get("Webhook-Timestamp") == all[0].Header.Get("Webhook-Timestamp") {
			t.Errorf("attempt %d has the timestamp of the first", i+2)
		}
	}
}

func TestConfigurationsAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	header := func(name, value string) reminder.HTTPChannel {
		return reminder.HTTPChannel{URL: "http://receiver.example", Headers: []reminder.HTTPHeader{{Name: name, Value: value}}}
	}
	for name, c := range map[string]struct {
		http reminder.HTTPChannel
		want string
	}{
		"an empty URL":               {reminder.HTTPChannel{}, "http.url has a scheme other than http and https"},
		"another scheme":             {reminder.HTTPChannel{URL: "file:///canary"}, "http.url has a scheme other than http and https"},
		"no host":                    {reminder.HTTPChannel{URL: "https:///canary"}, "http.url has no host"},
		"a password":                 {reminder.HTTPChannel{URL: "https://canary:canary@receiver.example"}, "http.url holds a user name or password; credentials belong in the channel's Secret"},
		"port 99999":                 {reminder.HTTPChannel{URL: "https://receiver.example:99999/canary"}, "http.url has a port outside 1 to 65535"},
		"port 0":                     {reminder.HTTPChannel{URL: "https://receiver.example:0/canary"}, "http.url has a port outside 1 to 65535"},
		"a control character":        {reminder.HTTPChannel{URL: "https://receiver.example/canary\n"}, "http.url is not a URL"},
		"a fragment":                 {reminder.HTTPChannel{URL: "https://receiver.example/#canary"}, "http.url has a fragment, which is never sent"},
		"method GET":                 {reminder.HTTPChannel{URL: "https://receiver.example", Method: "GET"}, `http.method is "GET"; allowed are POST, PUT and PATCH`},
		"a header of ours":           {header("idempotency-key", "canary"), "http.headers holds Idempotency-Key, which the operator sets"},
		"a CloudEvents header":       {header("ce-id", "canary"), "http.headers holds Ce-Id, which the operator sets"},
		"a header that is no name":   {header("a b", "canary"), `http.headers holds "a b", which is not a header's name`},
		"a header with a line break": {header("x-a", "canary\r\nx-b: c"), "http.headers holds a value of X-A with a control character"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := channel.New(reminder.Channel{Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, SendTimeout: time.Second, HTTP: &c.http}, channel.Options{})
			if err == nil || err.Error() != "open channel shop/billing: "+c.want {
				t.Fatalf("error is %v, want … %s", err, c.want)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("error %q shows the configuration", err)
			}
		})
	}
}

func TestChannelsThatCannotSendAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]reminder.Channel{
		"SMTP without its member":  {Type: reminder.ChannelSMTP, SendTimeout: time.Second},
		"an unknown type":          {Type: "Pigeon"},
		"HTTP without its member":  {Type: reminder.ChannelHTTP, SendTimeout: time.Second},
		"HTTP without a timeout":   {Type: reminder.ChannelHTTP, HTTP: &reminder.HTTPChannel{URL: "http://receiver.example"}},
		"NATS without its member":  {Type: reminder.ChannelNATS, SendTimeout: time.Second},
		"NATS without a publisher": {Type: reminder.ChannelNATS, SendTimeout: time.Second, NATS: &reminder.NATSChannel{Subject: "a"}},
		"Log without a logger":     {Type: reminder.ChannelLog},
	} {
		if _, err := channel.New(c, channel.Options{}); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func TestConcurrentSendsShareConnections(t *testing.T) {
	t.Parallel()
	const workers, each = 4, 50
	r := ct.NewReceiver(t, ct.Answer(200))
	s := open(t, r.URL(), newSecret(t, map[string]string{channel.KeyFile: key('c', 24)}).mounted)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range each {
				if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Accepted {
					t.Errorf("send is %+v, want Accepted", got)
				}
			}
		})
	}
	group.Wait()
	if got := len(r.Requests()); got != workers*each {
		t.Errorf("%d requests arrived, want %d", got, workers*each)
	}
	if got := r.Connections(); got > 2*workers {
		t.Errorf("%d connections for %d concurrent senders", got, workers)
	}
}

// Stopping a worker must not turn what has left into something that has not.
func TestCancellationAfterTheRequestIsUnknown(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.HangAfterReading)
	s := open(t, r.URL())
	ctx, cancel := context.WithCancel(t.Context())
	arrived := r.Arrived()
	go func() {
		<-arrived
		cancel()
	}()
	got := s.Send(ctx, ct.Message())
	if got.Outcome != reminder.Unknown || got.Diagnostic != "cancelled after the request was written" {
		t.Errorf("send is %+v, want Unknown", got)
	}
}

func TestTheDialHookSeesTheAddressAndCanRefuse(t *testing.T) {
	t.Parallel()
	var dialled string
	s := open(t, "https://receiver.example/hook", func(s *setup) {
		s.options.DialContext = func(_ context.Context, network, address string) (net.Conn, error) {
			dialled = network + " " + address
			return nil, errors.New("address 10.0.0.1 is not allowed")
		}
	})
	got := s.Send(t.Context(), ct.Message())
	if got.Fault = ""; got != transient("connection failed before the request was written", 0) {
		t.Errorf("send is %+v, want Transient", got)
	}
	if dialled != "tcp receiver.example:443" {
		t.Errorf("dialled %q", dialled)
	}
}
