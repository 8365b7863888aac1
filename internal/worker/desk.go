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

// next is the job whose turn it is, or how long to wait before asking again;
// anything that changes the answer before is signalled.
func (d *desk) next() (*turn, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if t := d.expired(now); t != nil {
		return d.give(t, ""), 0
	}
	wait := idleWait
	if !d.due.IsZero() {
		wait = min(wait, max(d.due.Sub(now), time.Millisecond))
	}
	breaker, verdict, pause := d.breaker.Ask(now)
	if verdict == limit.Wait {
		return nil, min(wait, pause)
	}
	if d.line.Len() == 0 || d.inHand >= d.window.Limit() {
		return nil, wait
	}
	bucket, dry := d.take(now)
	if dry > 0 {
		d.waited = true
		return nil, min(wait, dry)
	}
	t, ok := d.line.Pop(d.mayGo)
	if !ok {
		d.waited = true
		return nil, wait
	}
	if d.waited {
		d.throttled, d.waited = d.throttled+1, false
	}
	d.breaker, d.bucket = breaker, bucket
	return d.give(t, verdict), 0
}

// idleWait bounds a wait for a signal, against clocks that are put forward.
const idleWait = time.Second

func (d *desk) take(now time.Time) (limit.Bucket, time.Duration) {
	switch {
	case d.channel.RateLimit == nil:
		return d.bucket, 0
	case !now.Before(d.partsUntil):
		return d.bucket, idleWait
	}
	return d.bucket.Take(now)
}

// mayGo tells whether a job's tenant has room.
func (d *desk) mayGo(t *turn) bool {
	most := d.channel.MaxInFlightPerTenant
	return most == 0 || d.tenants[t.tenant] < limit.Part(most, d.partsAt(d.now()))
}

func (d *desk) partsAt(now time.Time) int {
	if now.Before(d.partsUntil) {
		return d.parts
	}
	return 0
}

// expired takes a job out of line whose deadline has come: it needs no permission.
func (d *desk) expired(now time.Time) *turn {
	if d.due.IsZero() || now.Before(d.due) {
		return nil
	}
	found, next := (*turn)(nil), time.Time{}
	d.line.Take(func(t *turn) bool {
		if found == nil && t.overdue(now) {
			found = t
			return true
		}
		if !t.deadline.IsZero() && (next.IsZero() || t.deadline.Before(next)) {
			next = t.deadline
		}
		return false
	})
	d.due = next
	return found
}

func (d *desk) give(t *turn, may limit.Verdict) *turn {
	t.may = may
	d.leave(t)
	if may != "" { // what is past its deadline holds up nobody
		d.inHand++
		d.tenants[t.tenant]++
	}
	return t
}

// done takes back what a turn had.
func (d *desk) done(t *turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(t)
	if t.may != "" {
		d.inHand--
		if d.tenants[t.tenant]--; d.tenants[t.tenant] == 0 {
			delete(d.tenants, t.tenant)
		}
		if !t.used && d.channel.RateLimit != nil {
			d.bucket = d.bucket.Back()
		}
		if t.may == limit.Probe && !t.used {
			d.breaker = d.breaker.Abandoned()
		}
	}
	signal(d.changed)
}

// still tells whether a turn may still submit: others may have met a fault since.
func (d *desk) still(t *turn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return t.may == limit.Probe || t.may == limit.Go && d.breaker.Paused() == nil
}

// shift is what an outcome has changed.
type shift struct {
	// before and after are the pauses that stood and stands.
	before, after *reminder.Pause
	// back is to be given back, because a pause has begun.
	back []*turn
}

func (s shift) began() bool { return s.before == nil && s.after != nil }
func (s shift) ended() bool { return s.before != nil && s.after == nil }

// told takes the outcome of a turn's submission.
func (d *desk) told(t *turn, res reminder.Result) shift {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.used = true
	s := shift{before: d.breaker.Paused()}
	d.breaker = d.breaker.Told(res, t.may == limit.Probe, d.now(), rand.Float64())
	d.window = d.window.Told(res)
	s.after = d.breaker.Paused()
	if s.ended() {
		d.window = d.window.Restarted()
	}
	if s.before != s.after {
		signal(d.news)
		signal(d.changed)
	}
	if s.began() {
		s.back = d.clear(1)
	}
	return s
}

// clear takes all jobs out of line but as many as are kept.
func (d *desk) clear(keep int) []*turn {
	kept := 0
	back := d.line.Take(func(t *turn) bool {
		if !t.Ahead && kept < keep {
			kept++
			return false
		}
		return true
	})
	for _, t := range back {
		d.leave(t)
		d.forget(t)
	}
	return back
}

// empty takes all jobs out of line.
func (d *desk) empty() []*turn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clear(0)
}

// stuck takes half of the longest flow out of a line with no room, in which all are
// jobs whose tenants have no room, so that those of others can come in.
func (d *desk) stuck() (back []*turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.breaker.Paused() != nil || d.free() > 0 || d.behind == 0 {
		return nil
	}
	free := false
	d.line.Each(func(t *turn) { free = free || d.mayGo(t) })
	if free || d.inHand >= d.window.Limit() {
		return nil
	}
	back = d.line.Tail()
	for _, t := range back {
		d.leave(t)
		d.forget(t)
	}
	return back
}

// waiting are the jobs in line.
func (d *desk) waiting() (all []*turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.line.Each(func(t *turn) { all = append(all, t) })
	return all
}

// pause is the pause that stands; nil when there is none.
func (d *desk) pause() *reminder.Pause {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.breaker.Paused()
}

// report fills in what a heartbeat says of the work.
func (d *desk) report(w *reminder.Worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.InFlight, w.Limit, w.Throttled, w.Pause = d.inHand, d.window.Limit(), d.throttled, d.breaker.Paused()
}

// lower takes a smaller part at once, and tells whether it was smaller.
func (d *desk) lower(parts int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if parts >= d.parts {
		return false
	}
	d.parts = parts
	d.setRate()
	return true
}

// crowded tells whether more due jobs wait in the stream than fit in line.
func (d *desk) crowded() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.breaker.Paused() == nil && d.behind > 0 && d.line.Len() > 0
}

// roomAhead tells whether there is room for a job out of turn.
func (d *desk) roomAhead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.breaker.Paused() != nil || d.ahead < d.capacity()
}

// inLine tells whether jobs of a schedule wait in line.
func (d *desk) inLine(schedule string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.schedules[schedule] > 0
}

// beyond is the sequence behind the last one that the consumer delivered here.
func (d *desk) beyond() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.head + 1
}
