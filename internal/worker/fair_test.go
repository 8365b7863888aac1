package worker_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// flood plans and releases n reminders of the bench's schedule, for one recipient
// each of another slot.
func (b *bench) flood(n int) {
	b.Helper()
	slots, many, base := make(chan int), sync.WaitGroup{}, time.Now().Add(-time.Hour)
	for range 32 {
		many.Go(func() {
			for i := range slots {
				b.due("a", func(r *reminder.Record) { r.Key.Slot = reminder.SlotOf(base.Add(-time.Duration(i) * time.Second)) })
			}
		})
	}
	for i := range n {
		slots <- i
	}
	close(slots)
	many.Wait()
}

// neighbours are schedules on the bench's channel with one reminder each.
func (b *bench) neighbours(n int) (ids map[string]bool, all []reminder.Record) {
	b.Helper()
	ids = map[string]bool{}
	for i := range n {
		entry := b.schedule
		entry.Name = fmt.Sprintf("small.%d", i)
		b.register(entry, 0)
		b.must(b.Audience.Replace(b.Context(), "shop", entry.Name, "h1", b.people[:1]))
		r := b.due("a", func(r *reminder.Record) { r.Key.Schedule = entry.Name })
		ids[r.Key.ID()], all = true, append(all, r)
	}
	return ids, all
}

// Row 57: 100 schedules with one reminder each, behind 20,000 of another one that
// were due before, at a receiver that takes its time. What counts is the order of
// the submissions: each of the small ones goes before a twentieth of the flood has.
func TestRow57AFloodHoldsUpNoOtherSchedule(t *testing.T) {
	t.Parallel()
	const flood, small, most, workers = 20_000, 100, 1_000, 2
	e := newEndpoint(t, http.StatusOK)
	e.hold = func(arrival) { <-time.After(20 * time.Millisecond) }
	b := newBench(t, e.over)
	b.flood(flood)
	ids, all := b.neighbours(small)
	var stops []func()
	for i := range workers {
		stops = append(stops, b.start(func(o *worker.Options) { really(nil)(o); o.Name = fmt.Sprint("w", i) }))
	}
	b.eventually("each small one was submitted", func() bool {
		n := 0
		for _, a := range e.all() {
			if ids[a.id] {
				n++
			}
		}
		return n >= small
	})
	before, last := 0, 0
	for _, a := range e.all() {
		if ids[a.id] {
			last = before
		} else {
			before++
		}
	}
	if last > most {
		t.Errorf("%d of the flood went before the last small one, want at most %d", last, most)
	}
	t.Logf("%d of the flood went before the last small one", last)
	for _, stop := range stops {
		stop()
	}
	for _, r := range all {
		if got := b.now(r.Key); got.State != reminder.Sent || got.Attempts != 1 || got.Suppressed != 0 {
			t.Errorf("I2: %s is %s, %d attempts, %d suppressed", r.Key, got.State, got.Attempts, got.Suppressed)
		}
	}
	if want := uint64(flood + small - len(e.all())); b.jobs() != want {
		t.Errorf("I1: %d jobs are left in the stream, want %d", b.jobs(), want)
	}
}

// jobs is how many due jobs are left.
func (b *bench) jobs() uint64 {
	b.Helper()
	backlog, err := b.Queue.Backlog(b.Context(), "shop", "mail")
	b.must(err)
	return uint64(backlog.Waiting + backlog.InFlight)
}

// A job that was taken out of turn and one of the consumer's are the same reminder:
// it is sent once, and the job is gone.
func TestAJobOutOfTurnIsSentOnce(t *testing.T) {
	t.Parallel()
	const n = 200
	e := newEndpoint(t, http.StatusOK)
	b := newBench(t, func(b *bench) { e.over(b); b.channel.Concurrency = 2 })
	b.flood(n)
	_, all := b.neighbours(20)
	for i := range 3 {
		b.start(func(o *worker.Options) { really(nil)(o); o.Name = fmt.Sprint("w", i) })
	}
	for _, r := range all {
		b.settled(r.Key, reminder.Sent, "")
	}
	b.empty()
	if got := len(e.all()); got != n+len(all) {
		t.Errorf("I2: %d requests, want %d", got, n+len(all))
	}
}
