package worker

import (
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

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
