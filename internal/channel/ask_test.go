package channel_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// newAsker opens an asker of a channel that sends to a URL, and has the same for
// its reconcileURL unless it is changed.
func newAsker(t *testing.T, at string, changes ...func(*setup)) *channel.Asker {
	t.Helper()
	s := &setup{
		channel: reminder.Channel{
			Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, SendTimeout: 10 * time.Second, Concurrency: 4,
			HTTP: &reminder.HTTPChannel{URL: at}, ReconcileURL: reminder.Endpoint(at),
		},
		options: channel.Options{Now: func() time.Time { return now }, Egress: loopback},
	}
	for _, change := range changes {
		change(s)
	}
	a, err := channel.NewAsker(s.channel, s.options)
	if err != nil {
		t.Fatalf("open asker: %v", err)
	}
	return a
}

func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct{ eligible, reconciled reminder.Verdict }{
		200: {reminder.Yes, reminder.Yes}, 202: {reminder.Yes, reminder.Yes}, 204: {reminder.Yes, reminder.Yes}, 299: {reminder.Yes, reminder.Yes},
		404: {reminder.No, reminder.No}, 409: {reminder.No, reminder.Unclear}, 410: {reminder.No, reminder.Unclear},
		301: {reminder.Unclear, reminder.Unclear}, 304: {reminder.Unclear, reminder.Unclear}, 307: {reminder.Unclear, reminder.Unclear},
		400: {reminder.Unclear, reminder.Unclear}, 401: {reminder.Unclear, reminder.Unclear}, 403: {reminder.Unclear, reminder.Unclear}, 405: {reminder.Unclear, reminder.Unclear},
		408: {reminder.Unclear, reminder.Unclear}, 429: {reminder.Unclear, reminder.Unclear}, 500: {reminder.Unclear, reminder.Unclear}, 503: {reminder.Unclear, reminder.Unclear}, 600: {reminder.Unclear, reminder.Unclear},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			r := ct.NewReceiver(t, ct.Answer(status, "Retry-After: 90", "Location: "+"http://127.0.0.1:1/"))
			a, key := newAsker(t, r.URL()), ct.Message().Key
			for what, c := range map[string]struct {
				got  reminder.Answer
				want reminder.Verdict
			}{"eligibilityURL": {a.Eligible(t.Context(), reminder.Endpoint(r.URL()), key), want.eligible}, "reconcileURL": {a.Reconciled(t.Context(), key), want.reconciled}} {
				expected := reminder.Answer{Verdict: c.want, Text: fmt.Sprint("status ", status)}
				if c.want == reminder.Unclear {
					expected.RetryAfter = 90 * time.Second
				}
				if diff := cmp.Diff(expected, c.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			if n := len(r.Requests()); n != 2 {
				t.Errorf("%d requests, want 2: no redirect is followed", n)
			}
		})
	}
}

// A question names the reminder and its recipient, never the address, and no cache
// may answer it.
func TestAQuestionNamesTheReminder(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	key := ct.Message().Key
	key.Recipient = "имя & co=1/2"
	newAsker(t, r.URL()).Eligible(t.Context(), reminder.Endpoint(r.URL()+"/eligible?token=a%2Fb&b=1"), key)
	q := r.Requests()[0]
	target, err := url.Parse(q.Path)
	if err != nil {
		t.Fatal(err)
	}
	if q.Method != http.MethodGet || len(q.Body) != 0 || target.Path != "/eligible" || !strings.HasPrefix(target.RawQuery, "token=a%2Fb&b=1&") {
		t.Errorf("got %s %s with %d bytes", q.Method, q.Path, len(q.Body))
	}
	want := url.Values{"token": {"a/b"}, "b": {"1"}, "reminderKey": {key.String()}, "recipientId": {key.Recipient}}
	if diff := cmp.Diff(want, target.Query()); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	for name, value := range map[string]string{"Idempotency-Key": key.ID(), "Cache-Control": "no-store", "User-Agent": "reminder-operator", "Content-Type": "", "Transfer-Encoding": ""} {
		if got := q.Header.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
}

// The channel's Secret goes to where the channel sends, and nowhere else because a
// schedule says so.
func TestOnlyTheChannelsOwnHostGetsItsSecret(t *testing.T) {
	t.Parallel()
	const header = "header.Authorization"
	mount := withHeaders(t, map[string]string{header: "Bearer canary"})
	own, other := ct.NewReceiver(t, ct.Answer(200)), ct.NewReceiver(t, ct.Answer(200))
	a := newAsker(t, own.URL()+"/hook", mount.mounted, func(s *setup) {
		s.options.Now = time.Now
		s.channel.ReconcileURL = reminder.Endpoint(other.URL() + "/seen")
	})
	key := ct.Message().Key
	a.Eligible(t.Context(), reminder.Endpoint(own.URL()+"/eligible"), key)
	a.Eligible(t.Context(), reminder.Endpoint(other.URL()+"/eligible"), key)
	a.Eligible(t.Context(), reminder.Endpoint(strings.Replace(own.URL(), "127.0.0.1", "127.0.0.2", 1)), key) // another host, if anybody listens
	a.Reconciled(t.Context(), key)
	requests := slices.Concat(own.Requests(), other.Requests())
	for i, want := range []string{"Bearer canary", "", "Bearer canary"} {
		signed := requests[i].Header.Get("Webhook-Signature") != "" && verify(t, requests[i], mustKey())[0]
		if got := requests[i].Header.Get("Authorization"); got != want || signed != (want != "") {
			t.Errorf("question %d (%s): Authorization %q, signed %t; want %q", i, requests[i].Path, got, signed, want)
		}
	}
}

func mustKey() string { return key('c', 24) }

// Without what the Secret should have nobody is asked.
func TestAQuestionIsNotPutUnsigned(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	dir := t.TempDir()
	a := newAsker(t, r.URL(), func(s *setup) { s.options.SecretDir, s.options.RequireSignature = dir, true })
	got := a.Reconciled(t.Context(), ct.Message().Key)
	if got.Verdict != reminder.Unclear || !strings.Contains(got.Text, "has no signingKey") || len(r.Requests()) != 0 {
		t.Errorf("got %+v after %d requests", got, len(r.Requests()))
	}
}

// What goes wrong is no answer, soon, and shows nothing of the URL.
func TestAQuestionWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behave ct.Behaviour
		want   string
	}{
		"never answered":         {ct.HangAfterReading, "timeout"},
		"never read":             {ct.HangBeforeReading, "timeout"},
		"dripped":                {ct.DripHeader, "timeout"},
		"closed":                 {ct.CloseAfterReading, "connection closed by the receiver"},
		"reset":                  {ct.ResetAfterReading, "connection reset"},
		"a huge header":          {ct.HugeHeader, "response header too large"},
		"no HTTP":                {ct.NotHTTP, "malformed response"},
		"another protocol":       {ct.Upgrade, "malformed response"},
		"an endless body is 200": {ct.EndlessBody, "status 200"},
		"a bomb is 200":          {ct.GzipBomb, "status 200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ct.NewReceiver(t, c.behave)
			a := newAsker(t, r.URL()+"/canary", func(s *setup) { s.timeout(time.Second) })
			got := a.Eligible(t.Context(), reminder.Endpoint(r.URL()+"/canary?canary=1"), ct.Message().Key)
			if !strings.Contains(got.Text, c.want) || strings.Contains(got.Text, "canary") || strings.Contains(got.Text, "127.0.0.1") {
				t.Errorf("got %+v, want %q", got, c.want)
			}
			if want := strings.HasPrefix(c.want, "status"); (got.Verdict == reminder.Yes) != want || (got.Verdict == reminder.Unclear) == want {
				t.Errorf("verdict %s", got.Verdict)
			}
		})
	}
}

// A schedule's URL is dialled behind the same guard as a channel's.
func TestAQuestionGoesWhereSendersMayGo(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	a := newAsker(t, "https://hooks.example.com/", newNames(t, "127.0.0.1").resolving(channel.Guard{}))
	port := portOf(t, r.Addr())
	for _, target := range []string{r.URL(), "http://[::ffff:7f00:1]:" + port, "http://inside.example.com:" + port, "http://169.254.169.254/latest/meta-data"} {
		got := a.Eligible(t.Context(), reminder.Endpoint(target), ct.Message().Key)
		if got.Verdict != reminder.Unclear || !strings.Contains(got.Text, "address not allowed") {
			t.Errorf("%s: got %+v", target, got)
		}
	}
	for _, target := range []string{"", "file:///etc/passwd", "https://user:canary@host/", "https://host:99999/", "//host", "https://host/#canary"} {
		got := a.Eligible(t.Context(), reminder.Endpoint(target), ct.Message().Key)
		if got.Verdict != reminder.Unclear || !strings.HasPrefix(got.Text, "the URL ") || strings.Contains(got.Text, "canary") {
			t.Errorf("%q: got %+v", target, got)
		}
	}
	if n := len(r.Requests()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestAnAskerPrintsNoURL(t *testing.T) {
	t.Parallel()
	a := newAsker(t, "https://hooks.example.com/canary")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, a); strings.Contains(text, "canary") || strings.Contains(text, "hooks") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	if _, err := channel.NewAsker(reminder.Channel{SendTimeout: time.Second, HTTP: &reminder.HTTPChannel{URL: "ftp://canary/"}}, channel.Options{}); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("error %v", err)
	}
}
