package channeltest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Case is one behaviour of a receiver and the result that it means.
type Case struct {
	// Open makes the sender; what it adds to the bench must not leak.
	Open func(t *testing.T, b *Bench) channel.Sender
	// Context is given to Send; nil means one that does not end.
	Context func(t *testing.T) context.Context
	// Want is the result. Diagnostic and Receipt are compared only if set.
	Want reminder.Result
}

// Bench is what a case is opened on.
type Bench struct {
	// Log is the logger for the sender; its output must be free of canaries.
	Log *slog.Logger

	output   *lockedBuffer
	canaries []string
}

// Canary registers a text that must not appear in results and logs: a URL, a
// host, a credential.
func (b *Bench) Canary(texts ...string) { b.canaries = append(b.canaries, texts...) }

// NewBench is a bench whose canaries are the confidential parts of [Message].
func NewBench() *Bench {
	out := new(lockedBuffer)
	m := Message()
	return &Bench{
		Log: slog.New(slog.NewJSONHandler(out, nil)), output: out,
		canaries: []string{m.Address, m.Subject, m.Body, Leak},
	}
}

// Message is a message whose address and texts are canaries.
func Message() reminder.Message {
	key := reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-03T08:00:00Z", Recipient: "acct_4821", Channel: "billing"}
	due := time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC)
	return reminder.Message{
		Key: key, ID: key.ID(), DueTime: due, DeadlineTime: due.Add(4 * time.Hour), Attempt: 1,
		Address: "canary-address@customer.example", Subject: "canary subject", Body: "canary body: your plan renews",
	}
}

// Run runs the suite. The cases are keyed by a sentence.
func Run(t *testing.T, cases map[string]Case) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c Case) run(t *testing.T) {
	bench := NewBench()
	s := c.Open(t, bench)
	ctx := t.Context()
	if c.Context != nil {
		ctx = c.Context(t)
	}
	got := s.Send(ctx, Message())
	compare(t, got, c.Want)
	CheckResult(t, got)
	bench.CheckLeaks(t, got, s)
}

func compare(t *testing.T, got, want reminder.Result) {
	t.Helper()
	if want.Diagnostic == "" {
		want.Diagnostic = got.Diagnostic
	}
	if want.Receipt == "" {
		want.Receipt = got.Receipt
	}
	if want.Fault == "" { // what it tells of the channel has a table of its own
		want.Fault = got.Fault
	}
	if got != want {
		t.Errorf("result is %+v, want %+v", got, want)
	}
}

// CheckResult tells what every result must hold to, whatever the channel.
func CheckResult(t *testing.T, r reminder.Result) {
	t.Helper()
	accepted, permanent := r.Outcome == reminder.Accepted, r.Outcome == reminder.Permanent
	switch r.Outcome {
	case reminder.Accepted, reminder.Transient, reminder.Permanent, reminder.Unknown:
	default:
		t.Errorf("outcome %q is none of the four", r.Outcome)
	}
	switch r.Reason {
	case "", reminder.PermanentFailure, reminder.InvalidRecipient, reminder.EndpointGone, reminder.InvalidMessage:
	default:
		t.Errorf("reason %q is not a channel's to give", r.Reason)
	}
	if permanent != (r.Reason != "") {
		t.Errorf("outcome %s with reason %q: Permanent has one, others have none", r.Outcome, r.Reason)
	}
	if accepted != (r.Receipt != "") || len(r.Receipt) > 128 {
		t.Errorf("outcome %s with receipt %q: Accepted has one of at most 128 characters, others have none", r.Outcome, r.Receipt)
	}
	if accepted == (r.Diagnostic != "") || len(r.Diagnostic) > 256 {
		t.Errorf("outcome %s with diagnostic %q: Accepted has none, others have one of at most 256 characters", r.Outcome, r.Diagnostic)
	}
	if r.RetryAfter < 0 || r.RetryAfter > 0 && r.Outcome != reminder.Transient {
		t.Errorf("outcome %s with retryAfter %s: only Transient has one, and it is not negative", r.Outcome, r.RetryAfter)
	}
}

// CheckLeaks looks for the canaries in what the sender gave away, in its log, and
// in what printing it shows.
func (b *Bench) CheckLeaks(t *testing.T, gave any, s channel.Sender) {
	t.Helper()
	holder := struct{ sender channel.Sender }{s}
	places := map[string]string{
		"result": fmt.Sprintf("%+v", gave), "log": b.output.String(),
		"print": fmt.Sprintf("%v %+v %#v %s", s, s, s, s), "print as a field": fmt.Sprintf("%v %+v %#v", holder, holder, holder),
	}
	for place, text := range places {
		for _, canary := range b.canaries {
			if canary != "" && strings.Contains(text, canary) {
				t.Errorf("%s holds the canary %q: %s", place, canary, text)
			}
		}
	}
}

// Logged is what the sender has logged.
func (b *Bench) Logged() string { return b.output.String() }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
