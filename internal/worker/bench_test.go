package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

const (
	retention   = 24 * time.Hour
	sendTimeout = 200 * time.Millisecond
	ackWait     = time.Second
	lease       = 1500 * time.Millisecond
	patience    = 40 * time.Second
)

// bench is a broker with one channel and one schedule, for workers to work on.
type bench struct {
	*testing.T
	*broker.Broker
	url      string
	channel  reminder.Channel
	schedule reminder.Schedule
	receiver *receiver
	logged   *heard
	people   []reminder.Recipient
}

// newBench sets up what controllers would; change may edit the entries before.
func newBench(t *testing.T, change func(*bench)) *bench {
	t.Helper()
	url := brokertest.URL(t)
	b := &bench{
		T: t, Broker: brokertest.Connect(t, url), url: url,
		channel: reminder.Channel{
			Namespace: "shop", Name: "mail", UID: "u1", Generation: 1, Type: reminder.ChannelLog, Dedupes: true,
			SendTimeout: sendTimeout, AckWait: ackWait, Lease: lease, Concurrency: 8,
		},
		schedule: reminder.Schedule{
			Namespace: "shop", Name: "renewal", Epoch: 1, AudienceHash: "h1", Channel: "mail",
			Subject: "Due", Body: "Hello {{ recipient.attributes.name }}", Retry: reminder.Retry{Attempts: 3, Delays: []time.Duration{50 * time.Millisecond}},
		},
		receiver: &receiver{}, logged: &heard{},
	}
	for _, id := range []string{"a", "b", "c", "acct:1 имя"} {
		b.people = append(b.people, reminder.Recipient{ID: id, Address: id + "@example.com", Attributes: map[string]string{"name": "Ada"}, Active: true})
	}
	if change != nil {
		change(b)
	}
	b.must(b.Queue.EnsureConsumer(t.Context(), b.channel))
	b.must(b.Registry.PutChannel(t.Context(), b.channel, 0))
	b.register(b.schedule, 0)
	b.must(b.Audience.Replace(t.Context(), "shop", "renewal", "h1", b.people))
	return b
}

func park(b *bench)   { b.channel.Dedupes, b.schedule.OnUnknown = false, reminder.ParkUnknown }
func repeat(b *bench) { b.channel.Dedupes, b.schedule.OnUnknown = false, reminder.RetryUnknown }

// register writes a schedule's entry over the revision last.
func (b *bench) register(entry reminder.Schedule, last uint64) {
	b.Helper()
	_, err := b.Registry.PutSchedule(b.Context(), entry, last, 0)
	b.must(err)
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// plan makes a record for a recipient, due at once; change may edit it.
func (b *bench) plan(recipient string, change func(*reminder.Record)) (reminder.Record, uint64) {
	b.Helper()
	now := time.Now().UTC().Add(-time.Second)
	r := delivery.Plan(delivery.Planned{
		Key:   reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: reminder.SlotOf(now), Recipient: recipient, Channel: "mail"},
		Epoch: 1, ReleaseTime: now, DeadlineTime: now.Add(time.Hour), LateTime: now.Add(time.Minute),
	}, retention, now)
	if change != nil {
		change(&r)
	}
	revision, err := b.Ledger.Create(b.Context(), r)
	b.must(err)
	return r, revision
}

// due plans a reminder and releases its job.
func (b *bench) due(recipient string, change func(*reminder.Record)) reminder.Record {
	b.Helper()
	r, revision := b.plan(recipient, change)
	b.must(b.Queue.Release(b.Context(), r, revision, r.ReleaseTime, time.Now()))
	return r
}

// again publishes the job of a record once more, as a broker that lost an
// acknowledgement would deliver it once more.
func (b *bench) again(r reminder.Record) {
	b.Helper()
	body, err := reminder.JobOf(r, 1).Encode()
	b.must(err)
	brokertest.Publish(b.T, b.url, brokertest.DueSubject+r.Key.Subject(), body)
}

// worker makes a worker; change may edit its options.
func (b *bench) worker(change func(*worker.Options)) *worker.Worker {
	o := worker.Options{
		Namespace: "shop", Channel: "mail", Name: "w", Retention: retention, Grace: 10 * time.Second,
		Ledger: b.Ledger, Queue: b.Queue, Registry: b.Registry, Audience: b.Audience, DeadLetters: b.DeadLetters, Peers: b.Registry,
		NewSender: func(reminder.Channel) (worker.Sender, error) { return b.receiver, nil },
		Now:       time.Now, Log: slog.New(b.logged),
	}
	if change != nil {
		change(&o)
	}
	return worker.New(o)
}

// start runs a worker until stop or the end of the test.
func (b *bench) start(change func(*worker.Options)) (stop func()) {
	b.Helper()
	w := b.worker(change)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := w.Run(ctx); err != nil {
			b.Errorf("run: %v", err)
		}
	})
	stop = func() {
		cancel()
		run.Wait()
	}
	b.Cleanup(stop)
	return stop
}

// until waits for a revision of the reminder that is as wanted.
func (b *bench) until(key reminder.Key, what string, wanted func(reminder.Record) bool) reminder.Record {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	var seen []string
	var found reminder.Record
	done := errors.New("found")
	err := b.Ledger.Follow(ctx, 1, func(r broker.Revision) error {
		if r.Record.Key != key {
			return nil
		}
		if seen = append(seen, string(r.Record.State)+"("+string(r.Record.Reason)+")"); !wanted(r.Record) {
			return nil
		}
		found = r.Record
		return done
	}, func() error { return nil })
	if !errors.Is(err, done) {
		b.Fatalf("%s: never %s: %s; log: %s", key, what, strings.Join(seen, " "), b.logged)
	}
	return found
}

// settled waits for the outcome of a reminder and holds it against the wanted one.
func (b *bench) settled(key reminder.Key, state reminder.State, reason reminder.Reason) reminder.Record {
	b.Helper()
	r := b.until(key, "settled", func(r reminder.Record) bool { return r.State.Terminal() })
	if r.State != state || r.Reason != reason {
		b.Errorf("%s: got %s(%s) %q, want %s(%s)", key, r.State, r.Reason, r.Diagnostic, state, reason)
	}
	return r
}

func (b *bench) now(key reminder.Key) reminder.Record {
	b.Helper()
	r, _, err := b.Ledger.Get(b.Context(), key.Token())
	b.must(err)
	return r
}

// empty waits until no job is left, waiting or in flight.
func (b *bench) empty() {
	b.Helper()
	b.eventually("no job is left", func() bool {
		backlog, err := b.Queue.Backlog(b.Context(), "shop", "mail")
		b.must(err)
		return backlog == broker.Backlog{} && len(brokertest.Messages(b.T, b.url, brokertest.JobsStream)) == 0
	})
}

// letters are the dead letters, by reason.
func (b *bench) letters() map[reminder.Reason]int {
	b.Helper()
	n := map[reminder.Reason]int{}
	for subject, body := range brokertest.Messages(b.T, b.url, brokertest.DeadStream) {
		letter, err := reminder.DecodeDeadLetter(body)
		if err != nil || !strings.Contains(subject, "."+string(letter.Owner)+".") {
			b.Errorf("dead letter on %s: %s, %v", subject, body, err)
		}
		n[letter.Reason]++
	}
	return n
}

// receiver plays the receiver of a channel: it answers by script, and remembers.
type receiver struct {
	mu     sync.Mutex
	script map[string][]answer // by recipient; the last one repeats, without any it accepts
	calls  []call
}

type answer func(ctx context.Context, m reminder.Message) reminder.Result

type call struct {
	reminder.Message
	at time.Time
}

func (r *receiver) answers(recipient string, all ...answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.script == nil {
		r.script = map[string][]answer{}
	}
	r.script[recipient] = all
}

func (r *receiver) Send(ctx context.Context, m reminder.Message) reminder.Result {
	return r.next(m)(ctx, m)
}

func (r *receiver) next(m reminder.Message) answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call{m, time.Now()})
	all := r.script[m.Key.Recipient]
	if len(all) == 0 {
		return accept
	}
	if len(all) > 1 {
		r.script[m.Key.Recipient] = all[1:]
	}
	return all[0]
}

// of are the submissions for a recipient.
func (r *receiver) of(recipient string) []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.calls), func(c call) bool { return c.Key.Recipient != recipient })
}

// sends holds the number of submissions for a recipient against the wanted one.
func (b *bench) sends(recipient string, want int) []call {
	b.Helper()
	calls := b.receiver.of(recipient)
	if len(calls) != want {
		b.Errorf("%s: %d submissions, want %d", recipient, len(calls), want)
	}
	for i, c := range calls {
		if c.ID != c.Key.ID() || c.Attempt != i+1 {
			b.Errorf("%s: submission %d has attempt %d and id %s, want the same id every time", recipient, i+1, c.Attempt, c.ID)
		}
	}
	return calls
}

func accept(context.Context, reminder.Message) reminder.Result {
	return reminder.Result{Outcome: reminder.Accepted, Receipt: "ok"}
}

func busy(context.Context, reminder.Message) reminder.Result {
	return reminder.Result{Outcome: reminder.Transient, Diagnostic: "status 503"}
}

func refuse(context.Context, reminder.Message) reminder.Result {
	return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidRecipient, Diagnostic: "status 422"}
}

// silent takes the message and never answers.
func silent(ctx context.Context, _ reminder.Message) reminder.Result {
	<-ctx.Done()
	return reminder.Result{Outcome: reminder.Unknown, Diagnostic: "timeout"}
}

func crash(context.Context, reminder.Message) reminder.Result { panic("a bug in a sender") }

// gate answers when it is opened, and tells of each message that waits there.
type gate struct {
	arrived chan reminder.Message
	open    chan struct{}
	then    answer
}

func newGate(then answer) *gate {
	return &gate{arrived: make(chan reminder.Message, 1000), open: make(chan struct{}), then: then}
}

// stubborn waits for the gate alone: like a process that was stopped in the call.
func (g *gate) stubborn(ctx context.Context, m reminder.Message) reminder.Result {
	g.arrived <- m
	<-g.open
	return g.then(ctx, m)
}

// wait gathers n arrivals.
func (g *gate) wait(t *testing.T, n int) {
	t.Helper()
	limit := time.After(patience)
	for i := range n {
		select {
		case <-g.arrived:
		case <-limit:
			t.Fatalf("%d of %d submissions came", i, n)
		}
	}
}

// heard is a log that can be waited for.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) Enabled(context.Context, slog.Level) bool { return true }
func (h *heard) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *heard) WithGroup(string) slog.Handler            { return h }
func (h *heard) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "stack" {
			line += " " + a.String()
		}
		return true
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
	return nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return "\n  " + strings.Join(h.lines, "\n  ")
}

func (h *heard) count(message string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, line := range h.lines {
		if strings.Contains(line, message) {
			n++
		}
	}
	return n
}

// heard waits until the log has told of something a number of times.
func (b *bench) heard(message string, times int) {
	b.Helper()
	b.eventually(fmt.Sprintf("%q was logged %d times", message, times), func() bool { return b.logged.count(message) >= times })
}

// eventually looks again and again until it is true.
func (b *bench) eventually(what string, is func() bool) {
	b.Helper()
	look, limit := time.NewTicker(10*time.Millisecond), time.After(patience)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-limit:
			b.Fatalf("never true: %s; log: %s", what, b.logged)
		}
	}
}
