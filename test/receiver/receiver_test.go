package receiver_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/receiver"
)

var secret = "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 24))

// rig is a receiver and a real sender towards it.
type rig struct {
	receiver *receiver.Receiver
	server   *httptest.Server
	sender   channel.Sender
	log      *bytes.Buffer
}

func newRig(t *testing.T, path, key string) rig {
	t.Helper()
	r := rig{log: new(bytes.Buffer)}
	var err error
	if r.receiver, err = receiver.New(receiver.Options{Secrets: []string{secret}, Log: r.log}); err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(r.receiver)
	t.Cleanup(r.server.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, channel.KeyFile), []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	r.sender, err = channel.New(reminder.Channel{
		Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, Dedupes: true, SendTimeout: 2 * time.Second, Concurrency: 1,
		HTTP: &reminder.HTTPChannel{URL: r.server.URL + path},
	}, channel.Options{SecretDir: dir, RequireSignature: true, Egress: channel.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func send(ctx context.Context, s channel.Sender, id, address string, attempt int) reminder.Outcome {
	key := reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-03T08:00:00Z", Recipient: id, Channel: "billing"}
	due := time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC)
	return s.Send(ctx, reminder.Message{
		Key: key, ID: key.ID(), DueTime: due, DeadlineTime: due.Add(time.Hour), Attempt: attempt, Address: address, Body: "hello",
	}).Outcome
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	const hook, noDedupe = "/hook", "/hook?dedupe=false"
	const key = "shop/renewal/2026-11-03T08:00:00Z/a"
	for name, c := range map[string]struct {
		path, key, address string
		want               []reminder.Outcome
		stats              receiver.Stats
	}{
		"an ordinary address is accepted, a repeat has no effect": {
			hook, secret, "ada@customer.example", []reminder.Outcome{reminder.Accepted, reminder.Accepted},
			receiver.Stats{Arrivals: 2, Accepted: 1, Repeats: 1, Keys: map[string]receiver.KeyStats{key: {Arrivals: 2, Accepted: 1, Repeats: 1}}},
		},
		"without dedupe a repeat is a duplicate": {
			noDedupe, secret, "ada@customer.example", []reminder.Outcome{reminder.Accepted, reminder.Accepted},
			receiver.Stats{Arrivals: 2, Accepted: 1, Duplicates: 1, Keys: map[string]receiver.KeyStats{key: {Arrivals: 2, Accepted: 2}}},
		},
		"reject is refused": {
			hook, secret, "reject-1@customer.example", []reminder.Outcome{reminder.Permanent},
			receiver.Stats{Arrivals: 1, Rejected: 1, Keys: map[string]receiver.KeyStats{key: {Arrivals: 1, Rejected: 1}}},
		},
		"fail-once fails once": {
			hook, secret, "fail-once@customer.example", []reminder.Outcome{reminder.Transient, reminder.Accepted},
			receiver.Stats{Arrivals: 2, Accepted: 1, Keys: map[string]receiver.KeyStats{key: {Arrivals: 2, Accepted: 1}}},
		},
		"slow-once accepts without answering": {
			hook, secret, "slow-once@customer.example", []reminder.Outcome{reminder.Unknown, reminder.Accepted},
			receiver.Stats{Arrivals: 2, Accepted: 1, Repeats: 1, Keys: map[string]receiver.KeyStats{key: {Arrivals: 2, Accepted: 1, Repeats: 1}}},
		},
		"stall-once does not answer, and accepts nothing": {
			hook, secret, "stall-once@customer.example", []reminder.Outcome{reminder.Unknown, reminder.Accepted},
			receiver.Stats{Arrivals: 2, Accepted: 1, Keys: map[string]receiver.KeyStats{key: {Arrivals: 2, Accepted: 1}}},
		},
		"slow-once without dedupe is a duplicate": {
			noDedupe, secret, "slow-once@customer.example", []reminder.Outcome{reminder.Unknown, reminder.Accepted},
			receiver.Stats{Arrivals: 2, Accepted: 1, Duplicates: 1, Keys: map[string]receiver.KeyStats{key: {Arrivals: 2, Accepted: 2}}},
		},
		"another key is refused": {
			hook, "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 24)), "ada@customer.example", []reminder.Outcome{reminder.Permanent},
			receiver.Stats{BadSignatures: 1, Keys: map[string]receiver.KeyStats{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.path, c.key)
			for i, want := range c.want {
				if got := send(t.Context(), r.sender, "a", c.address, i+1); got != want {
					t.Fatalf("attempt %d is %s, want %s", i+1, got, want)
				}
			}
			if diff := cmp.Diff(c.stats, r.receiver.Stats()); diff != "" {
				t.Errorf("stats differ (-want +got):\n%s", diff)
			}
			if got, want := strings.Count(r.log.String(), "\n"), c.stats.Keys[key].Accepted; got != want {
				t.Errorf("log has %d lines, want one per effect, %d: %s", got, want, r.log)
			}
		})
	}
}

func TestLogAndStatsAreJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t, "/hook", secret)
	send(t.Context(), r.sender, "a", "fail-once@customer.example", 1)
	send(t.Context(), r.sender, "a", "fail-once@customer.example", 2)
	var line struct {
		Key, ID, Attempt string
		Time             time.Time
	}
	if err := json.Unmarshal(r.log.Bytes(), &line); err != nil {
		t.Fatalf("log %q: %v", r.log, err)
	}
	if line.Key != "shop/renewal/2026-11-03T08:00:00Z/a" || len(line.ID) != 26 || line.Attempt != "2" || line.Time.IsZero() {
		t.Errorf("log line is %+v", line)
	}
	response, err := http.Get(r.server.URL + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var got receiver.Stats
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.receiver.Stats(), got); diff != "" {
		t.Errorf("GET /stats differs from Stats (-want +got):\n%s", diff)
	}
}

func TestARepeatWithAnotherBodyIsCounted(t *testing.T) {
	t.Parallel()
	r, err := receiver.New(receiver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"data":{"key":"k","subject":"a"}}`, `{"data":{"key":"k","subject":"b"}}`} {
		q := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(body))
		q.Header.Set("Idempotency-Key", "id")
		r.ServeHTTP(httptest.NewRecorder(), q)
	}
	if got := r.Stats(); got.ChangedBodies != 1 || got.Accepted != 1 || got.Repeats != 1 {
		t.Errorf("stats are %+v, want one changed body", got)
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	t.Parallel()
	r, err := receiver.New(receiver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, body, id string
		want             int
	}{
		"no JSON":              {http.MethodPost, "hello", "id", http.StatusBadRequest},
		"no key in the body":   {http.MethodPost, "{}", "id", http.StatusBadRequest},
		"no Idempotency-Key":   {http.MethodPost, `{"data":{"key":"k"}}`, "", http.StatusBadRequest},
		"another method":       {http.MethodDelete, "", "id", http.StatusMethodNotAllowed},
		"a body that is huge":  {http.MethodPost, strings.Repeat(" ", 2<<20), "id", http.StatusBadRequest},
		"a reminder is a POST": {http.MethodGet, "", "id", http.StatusMethodNotAllowed},
	} {
		q := httptest.NewRequest(c.method, "/hook", strings.NewReader(c.body))
		q.Header.Set("Idempotency-Key", c.id)
		w := httptest.NewRecorder()
		r.ServeHTTP(w, q)
		if w.Code != c.want {
			t.Errorf("%s: status %d, want %d", name, w.Code, c.want)
		}
	}
}
