package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// Workers come and go; however fast or slow the machine is, no stretch of time sees
// more submissions than the rate allows in it, one burst, and one for each worker.
func TestTheRateHoldsForAllWorkersTogether(t *testing.T) {
	t.Parallel()
	const n, rate, burst, workers = 240, 40, 10, 4
	e := newEndpoint(t, http.StatusOK)
	b := newBench(t, func(b *bench) {
		crowd(n)(b)
		e.over(b)
		b.channel.RateLimit = &reminder.RateLimit{PerSecond: rate, Burst: burst}
	})
	for i := range n {
		b.due(fmt.Sprint(i), nil)
	}
	started := 0
	begin := func() (stop func()) {
		started++
		return b.start(func(o *worker.Options) {
			really(nil)(o)
			o.Name, o.StakeEvery = fmt.Sprint("w", started), 50*time.Millisecond
		})
	}
	began := time.Now()
	first := begin()
	for i := 1; i < workers; i++ {
		b.eventually("some more were sent", func() bool { return len(e.all()) >= i*n/8 })
		begin()
	}
	b.eventually("half was sent", func() bool { return len(e.all()) >= n/2 })
	first()
	b.eventually("all were sent", func() bool { return len(e.all()) >= n })
	b.empty()
	calls := e.all()
	if len(calls) != n {
		t.Errorf("%d requests, want %d", len(calls), n)
	}
	// From before the first token could be given to the last request: a machine that
	// stalls only makes the time longer.
	span := calls[len(calls)-1].at.Sub(began)
	if most := burst + workers + int(rate*span.Seconds()); len(calls) > most {
		t.Errorf("%d requests in %s, at most %d", len(calls), span, most)
	}
	shared := 0
	b.eventually("the workers that are left share the whole", func() bool {
		s, _, err := b.Registry.Stakes(t.Context(), "shop", "mail")
		b.must(err)
		shared = 0
		for _, one := range s.Stakes {
			shared += one.Parts
		}
		return len(s.Stakes) == workers-1 && shared == reminder.Whole/(workers-1)*(workers-1)
	})
	b.throttled()
}

// throttled waits until a heartbeat counts submissions that waited for a limit.
func (b *bench) throttled() {
	b.Helper()
	b.eventually("waits are counted", func() bool {
		workers, err := b.Registry.Workers(b.Context(), "shop", "mail")
		b.must(err)
		n := int64(0)
		for _, w := range workers {
			n += w.Throttled
		}
		return n > 0
	})
}

// A reminder that waits for its turn longer than its deadline ends there, and one
// that waits longer than the ack wait is not delivered twice.
func TestWaitingForTheRateKeepsDeadlineAndHold(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		crowd(6)(b)
		b.channel.RateLimit = &reminder.RateLimit{PerSecond: 1, Burst: 1} // the ack wait is 1 s
	})
	var all []reminder.Record
	for i := range 6 {
		all = append(all, b.due(fmt.Sprint(i), nil))
	}
	late := b.due("a", func(r *reminder.Record) { r.DeadlineTime = time.Now().UTC().Add(2 * time.Second) })
	b.start(func(o *worker.Options) { o.StakeEvery = 50 * time.Millisecond })
	got := b.until(late.Key, "settled", func(r reminder.Record) bool { return r.State.Terminal() })
	if calls := b.receiver.of("a"); len(calls) == 1 && !calls[0].at.Before(late.DeadlineTime) || got.State == reminder.Dead && (got.Reason != reminder.DeadlineReached || len(calls) > 0) {
		t.Errorf("%s(%s) after %d submissions", got.State, got.Reason, len(calls))
	}
	for _, r := range all {
		if got := b.settled(r.Key, reminder.Sent, ""); got.Takeovers+got.Suppressed+got.Retries != 0 || got.Attempts != 1 {
			t.Errorf("%s: %+v", r.Key, got)
		}
	}
	b.empty()
	for _, r := range all {
		if got := b.now(r.Key); got.Suppressed != 0 {
			t.Errorf("%s was delivered %d times more while it waited", r.Key, got.Suppressed)
		}
	}
}

// inFlight counts what a receiver has in hand by tenant, and what it had at most.
type inFlight struct {
	mu        sync.Mutex
	now, most map[string]int
}

func (f *inFlight) send(tenantOf func(string) string, then answer) answer {
	return func(ctx context.Context, m reminder.Message) reminder.Result {
		tenant := tenantOf(m.Key.Recipient)
		f.mu.Lock()
		f.now[tenant]++
		f.most[tenant] = max(f.most[tenant], f.now[tenant])
		f.mu.Unlock()
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.now[tenant]--
		}()
		return then(ctx, m)
	}
}

// A tenant has no more under way than its limit, over all workers, and those of
// the same schedule that wait behind it go on.
func TestATenantHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	const n, most = 60, 3
	f := &inFlight{now: map[string]int{}, most: map[string]int{}}
	g := newGate(accept)
	open := sync.OnceFunc(func() { close(g.open) })
	defer open()
	tenantOf := func(recipient string) string {
		if recipient == "a" || recipient == "b" || recipient == "c" {
			return "small-" + recipient
		}
		return "big"
	}
	b := newBench(t, func(b *bench) {
		b.people = nil
		for i := range n {
			b.people = append(b.people, person(fmt.Sprint(i)))
		}
		for _, id := range []string{"a", "b", "c"} {
			b.people = append(b.people, person(id))
		}
		for i := range b.people {
			b.people[i].Attributes["tenant"] = tenantOf(b.people[i].ID)
		}
		b.channel.MaxInFlightPerTenant = most
		b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 50*time.Second, 101*time.Second, 120*time.Second
	})
	var all, small []reminder.Record
	for i := range n {
		b.receiver.answers(fmt.Sprint(i), f.send(tenantOf, g.stubborn))
		all = append(all, b.due(fmt.Sprint(i), nil))
	}
	for _, id := range []string{"a", "b", "c"} { // behind all of them
		b.receiver.answers(id, f.send(tenantOf, accept))
		small = append(small, b.due(id, nil))
	}
	for i := range 2 {
		b.start(func(o *worker.Options) {
			o.Name, o.StakeEvery, o.BeatEvery = fmt.Sprint("w", i), 50*time.Millisecond, 100*time.Millisecond
		})
	}
	g.wait(t, 2) // one of each worker at least, and none of them is answered
	for _, r := range small {
		b.settled(r.Key, reminder.Sent, "")
	}
	b.throttled()
	open()
	for _, r := range all {
		b.settled(r.Key, reminder.Sent, "")
	}
	if f.most["big"] > most {
		t.Errorf("%d under way for one tenant, at most %d", f.most["big"], most)
	}
}
