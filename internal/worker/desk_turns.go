package worker

import (
	"math/rand/v2"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/limit"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

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
