package worker

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/limit"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// turn is a due job that waits for its turn, or has it.
type turn struct {
	broker.Delivery
	// flow is what takes turns with others: a schedule, or a tenant's part of it.
	flow, schedule, tenant string
	// deadline is that of the envelope; zero when it cannot be read.
	deadline time.Time
	// may is what the desk allows: nothing beyond reading and settling when empty.
	may limit.Verdict
	// used: a submission was made, so that its token is spent.
	used bool
}

// desk decides whose turn it is: a lock around the values of package limit.
type desk struct {
	now func() time.Time
	// changed gets a value when what may be next has changed, news when the state of
	// the breaker has.
	changed, news chan struct{}

	mu      sync.Mutex
	channel reminder.Channel
	line    limit.Line[*turn]
	// held are the reminders in line and in hand; due is no later than the earliest
	// deadline in line.
	held    map[string]bool
	due     time.Time
	breaker limit.Breaker
	window  limit.Window
	bucket  limit.Bucket
	// parts is what this worker may use of the channel's limits, of reminder.Whole;
	// until partsUntil.
	parts      int
	partsUntil time.Time
	inHand     int
	tenants    map[string]int
	// ahead is how many jobs in line were taken out of turn, coming how many are on
	// their way into the line; schedules is how many jobs in line each has.
	ahead, coming int
	schedules     map[string]int
	// behind is how many due jobs wait in the stream, and head the last one seen.
	behind, head uint64
	// waited: the next turn waited for a limit.
	waited    bool
	throttled int64
}

func newDesk(now func() time.Time) *desk {
	return &desk{
		now: now, changed: make(chan struct{}, 1), news: make(chan struct{}, 1),
		held: map[string]bool{}, tenants: map[string]int{}, schedules: map[string]int{}, window: limit.NewWindow(1),
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// open takes the settings of a channel; a new spec is a new chance.
func (d *desk) open(c reminder.Channel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.window = d.window.Resized(c.Concurrency)
	if d.channel.Concurrency == 0 {
		d.window = limit.NewWindow(c.Concurrency)
	}
	d.channel, d.breaker = c, limit.Breaker{}
	d.setRate()
	signal(d.changed)
	signal(d.news)
}

// share takes this worker's part of the channel's limits, good until a time.
func (d *desk) share(parts int, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parts, d.partsUntil = parts, until
	d.setRate()
	signal(d.changed)
}

func (d *desk) setRate() {
	r := d.channel.RateLimit
	if r == nil {
		return
	}
	part := float64(d.parts) / reminder.Whole
	burst := float64(r.Burst) * part
	if d.parts > 0 {
		burst = max(burst, 1)
	}
	d.bucket = d.bucket.Set(float64(r.PerSecond)*part, burst, d.now())
}

// capacity is how many jobs may wait in line beside those in hand: enough to go on
// while the next ones are fetched.
func (d *desk) capacity() int {
	if d.breaker.Paused() != nil {
		return 1 // the next probe
	}
	return max(d.channel.Concurrency, 1)
}

// room is how many more jobs may be fetched; 0 while too few for a round trip.
func (d *desk) room() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.breaker.Paused() != nil {
		return pausedFetch
	}
	return d.free()
}

// occupied is how many parts of the limits are taken up by what is under way.
func (d *desk) occupied() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := 0
	for _, n := range d.tenants {
		most = max(most, n)
	}
	return limit.Occupied(most, d.channel.MaxInFlightPerTenant)
}

// free is how many more jobs are worth a round trip.
func (d *desk) free() int {
	if d.channel.Limited() && d.partsAt(d.now()) == 0 {
		return 0 // others have all of the limits, and the jobs with them
	}
	waiting, most := d.line.Len()-d.ahead+d.coming, d.capacity()
	if free := most - waiting; free >= max(most/2, 1) {
		return free
	}
	return 0
}

// pausedFetch is how many jobs are fetched at once while the channel is paused,
// only to be ended at their deadline or given back.
const pausedFetch = 64

// expect counts a job that is about to be put in line; it answers false when the
// reminder is in line or in hand already.
func (d *desk) expect(token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if token != "" && d.held[token] {
		return false
	}
	if token != "" {
		d.held[token] = true
	}
	d.coming++
	return true
}

// arrive puts a job in line, or answers for how long to give it back.
func (d *desk) arrive(t *turn) (back time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.coming--
	if p := d.breaker.Paused(); p != nil && d.line.Len() >= d.capacity() && !t.overdue(d.now()) {
		d.forget(t)
		return giveBackFor(*p, t.deadline, d.now())
	}
	d.enter(t)
	signal(d.changed)
	return 0
}

func (d *desk) enter(t *turn) {
	d.line.Push(t.flow, t)
	d.schedules[t.schedule]++
	if t.Ahead {
		d.ahead++
	}
	if !t.deadline.IsZero() && (d.due.IsZero() || t.deadline.Before(d.due)) {
		d.due = t.deadline
	}
}

// leave notes that a job is no longer in line.
func (d *desk) leave(t *turn) {
	if t.Ahead {
		d.ahead--
	}
	if d.schedules[t.schedule]--; d.schedules[t.schedule] == 0 {
		delete(d.schedules, t.schedule)
	}
}

// again puts a job back in line whose deadline is another than its envelope says.
func (d *desk) again(t *turn, deadline time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.deadline = deadline
	d.enter(t)
	signal(d.changed)
}

// saw notes where the consumer is in the stream.
func (d *desk) saw(delivery broker.Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.behind, d.head = delivery.Behind, max(d.head, delivery.Sequence)
}

func (d *desk) forget(t *turn) {
	if t.Token != "" {
		delete(d.held, t.Token)
	}
}

func (t *turn) overdue(now time.Time) bool { return !t.deadline.IsZero() && !now.Before(t.deadline) }

// longestBack bounds how long a job is given back for during a pause, so that it
// is not far away when the pause ends.
const longestBack = 10 * time.Second

// giveBackFor is for how long a job is given back during a pause: until it ends,
// spread over some time, and not beyond the deadline.
func giveBackFor(p reminder.Pause, deadline, now time.Time) time.Duration {
	wait := min(max(p.UntilTime.Sub(now), time.Second), longestBack)
	wait += rand.N(wait/2 + 1)
	if left := deadline.Sub(now); !deadline.IsZero() && left < wait {
		wait = left
	}
	return wait
}
