package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/limit"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// crowd adds n recipients, named by number.
func crowd(n int) func(*bench) {
	return func(b *bench) {
		for i := range n {
			b.people = append(b.people, person(fmt.Sprint(i)))
		}
	}
}

func person(id string) reminder.Recipient {
	return reminder.Recipient{ID: id, Address: id + "@example.com", Active: true, Attributes: map[string]string{"name": "Ada"}}
}

// paused waits until a worker's heartbeat says so, or that it is not.
func (b *bench) paused(cause reminder.PauseCause) *reminder.Pause {
	b.Helper()
	var found *reminder.Pause
	b.eventually(fmt.Sprintf("a worker reports the pause %q", cause), func() bool {
		workers, err := b.Registry.Workers(b.Context(), "shop", "mail")
		b.must(err)
		for _, w := range workers {
			if p := w.Pause; p != nil && p.Cause == cause || p == nil && cause == "" {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

// C5: a relay that refuses the password bounces no mail; when the Secret is right
// again, all go out, each by its first attempt.
func TestAWrongPasswordPausesTheChannel(t *testing.T) {
	t.Parallel()
	const n = 40
	var options func(*worker.Options)
	var write func(string)
	var mails func() int
	b := newBench(t, func(b *bench) {
		crowd(n)(b)
		r, o, w := b.relay("right")
		options, write, mails = o, w, func() int { return len(r.Mails()) }
		write("wrong")
	})
	var all []reminder.Record
	for i := range n {
		all = append(all, b.due(fmt.Sprint(i), nil))
	}
	late := b.due("a", func(r *reminder.Record) { r.DeadlineTime = time.Now().UTC().Add(4 * time.Second) })
	b.start(options)
	p := b.paused(reminder.PauseRefused)
	if p.Diagnostic != "code 535 at AUTH: the relay refused this client" || !p.UntilTime.After(p.SinceTime) {
		t.Errorf("reports %+v", p)
	}
	got := b.settled(late.Key, reminder.Dead, reminder.DeadlineReached)
	if got.Attempts != 0 || !strings.HasPrefix(got.Diagnostic, "the channel was paused: code 535") {
		t.Errorf("at its deadline: %d attempts, diagnostic %q", got.Attempts, got.Diagnostic)
	}
	if mails() != 0 {
		t.Errorf("%d mails went out", mails())
	}
	for _, r := range all {
		if got := b.now(r.Key); got.State.Terminal() || got.Attempts != 0 {
			t.Errorf("%s is %s(%s) after %d attempts", r.Key, got.State, got.Reason, got.Attempts)
		}
	}
	write("right")
	for _, r := range all {
		if got := b.settled(r.Key, reminder.Sent, ""); got.Attempts != 1 || got.Retries != 0 {
			t.Errorf("%s: %d attempts, %d retries", r.Key, got.Attempts, got.Retries)
		}
	}
	b.paused("")
	if mails() != n {
		t.Errorf("%d mails, want %d", mails(), n)
	}
	if diff := cmp.Diff(map[reminder.Reason]int{reminder.DeadlineReached: 1}, b.letters()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

// Row 18: an endpoint fails for long and recovers. The circuit opens, so that the
// budget of a few attempts is not spent; the backlog drains.
func TestRow18TheCircuitOpensAndTheBacklogDrains(t *testing.T) {
	t.Parallel()
	const n, workers = 150, 2
	e := newEndpoint(t, http.StatusInternalServerError)
	b := newBench(t, func(b *bench) { crowd(n)(b); e.over(b) })
	var all []reminder.Record
	for i := range n {
		all = append(all, b.due(fmt.Sprint(i), nil))
	}
	for i := range workers {
		b.start(func(o *worker.Options) { really(nil)(o); o.Name = fmt.Sprint("w", i) })
	}
	b.heard("The channel was paused", workers)
	// Several probes, as many as the endpoint sees: nothing else comes to it.
	b.eventually("the endpoint was probed", func() bool { return len(e.all()) >= workers*(limit.Threshold+2) })
	if p := b.paused(reminder.PauseFailing); p.Diagnostic != "status 500" {
		t.Errorf("reports %+v", p)
	}
	outage := len(e.all())
	most := workers * (limit.Threshold + b.channel.Concurrency + probes(all[0].ReleaseTime))
	if outage > most {
		t.Errorf("I8: %d submissions to an endpoint that fails, want at most %d", outage, most)
	}
	e.turns(http.StatusOK, "")
	attempts := 0
	for _, r := range all {
		got := b.settled(r.Key, reminder.Sent, "")
		if attempts += got.Attempts; got.Attempts > b.schedule.Retry.Attempts {
			t.Errorf("%s: %d attempts", r.Key, got.Attempts)
		}
	}
	if calls := len(e.all()); calls != attempts {
		t.Errorf("I5: %d attempts counted, %d requests came", attempts, calls)
	}
	if n := len(b.letters()); n != 0 {
		t.Errorf("I1: %d dead letters", n)
	}
}

// probes is how many times at most one worker can have looked since: pauses are
// never shorter than 0.5, 1, 2 … 30 s.
func probes(since time.Time) (n int) {
	for left, pause := time.Since(since), 500*time.Millisecond; left > 0; left, pause = left-pause, min(2*pause, 30*time.Second) {
		n++
	}
	return n
}

// Row 19: 410 ends what was under way, and stops the endpoint; an edit tries it at once.
func TestRow19GoneStopsTheEndpoint(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, http.StatusGone)
	b := newBench(t, e.over)
	r := b.due("a", nil)
	b.start(really(nil))
	got := b.settled(r.Key, reminder.Dead, reminder.EndpointGone)
	if got.Attempts != 1 {
		t.Errorf("%d attempts", got.Attempts)
	}
	if p := b.paused(reminder.PauseGone); time.Until(p.UntilTime) < time.Minute {
		t.Errorf("tries again at %s", p.UntilTime)
	}
	other, late := b.due("b", nil), b.due("c", func(r *reminder.Record) { r.DeadlineTime = time.Now().UTC().Add(2 * time.Second) })
	if got := b.settled(late.Key, reminder.Dead, reminder.DeadlineReached); got.Diagnostic != "the channel was paused: status 410" || got.Attempts != 0 {
		t.Errorf("%d attempts, diagnostic %q", got.Attempts, got.Diagnostic)
	}
	if n := len(e.all()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	e.turns(http.StatusOK, "")
	entry, revision, err := b.Registry.Channel(t.Context(), "shop", "mail")
	b.must(err)
	entry.Generation = 2
	b.must(b.Registry.PutChannel(t.Context(), entry, revision))
	b.settled(other.Key, reminder.Sent, "")
}

// A probe that meets 410 again costs its reminder nothing.
func TestAProbeOfAnEndpointThatIsGoneIsFree(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, http.StatusGone)
	b := newBench(t, e.over)
	r, clock := b.due("a", nil), newClock()
	b.start(func(o *worker.Options) { really(nil)(o); o.Now = clock.now })
	b.settled(r.Key, reminder.Dead, reminder.EndpointGone)
	other := b.due("b", func(r *reminder.Record) { r.DeadlineTime = r.DeadlineTime.Add(72 * time.Hour) })
	b.paused(reminder.PauseGone)
	clock.forward(2 * time.Hour)
	b.eventually("the endpoint was probed", func() bool { return len(e.all()) == 2 })
	got := b.until(other.Key, "given back", func(r reminder.Record) bool { return r.State == reminder.Scheduled && r.Previous != nil })
	if got.Attempts != 0 || got.Diagnostic != "the channel was paused: status 410" {
		t.Errorf("%d attempts, diagnostic %q", got.Attempts, got.Diagnostic)
	}
}

// Retry-After holds for the whole endpoint.
func TestRetryAfterPausesTheWholeEndpoint(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, http.StatusTooManyRequests)
	e.turns(http.StatusTooManyRequests, "3")
	b := newBench(t, e.over)
	b.start(really(nil))
	r := b.due("a", nil)
	b.paused(reminder.PauseAsked)
	e.turns(http.StatusOK, "")
	other := b.due("b", nil)
	b.settled(other.Key, reminder.Sent, "")
	b.settled(r.Key, reminder.Sent, "")
	calls := e.all()
	if len(calls) != 3 {
		t.Fatalf("%d requests, want 3", len(calls))
	}
	for _, c := range calls[1:] {
		if wait := c.at.Sub(calls[0].at); wait < 2900*time.Millisecond {
			t.Errorf("a request came %s after the receiver asked for 3 s", wait)
		}
	}
}

// A receiver that has too much gets less at once.
func TestConcurrencyFollowsTheReceiver(t *testing.T) {
	t.Parallel()
	const n = 60
	e := newEndpoint(t, http.StatusTooManyRequests)
	b := newBench(t, func(b *bench) {
		crowd(n)(b)
		e.over(b)
		b.schedule.Retry = reminder.Retry{Attempts: 1000, Delays: []time.Duration{200 * time.Millisecond}}
	})
	var all []reminder.Record
	for i := range n {
		all = append(all, b.due(fmt.Sprint(i), nil))
	}
	b.start(really(nil))
	limitOf := func() int {
		workers, err := b.Registry.Workers(t.Context(), "shop", "mail")
		b.must(err)
		if len(workers) == 0 {
			return 0
		}
		return workers[0].Limit
	}
	b.eventually("one at a time", func() bool { return limitOf() == 1 })
	e.turns(http.StatusOK, "")
	for _, r := range all {
		b.settled(r.Key, reminder.Sent, "")
	}
	b.eventually("more again", func() bool { return limitOf() > 1 })
}
