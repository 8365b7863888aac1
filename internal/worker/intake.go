package worker

import (
	"context"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// intake fetches due jobs into the line until ctx ends, never more than there is
// room for.
func (w *Worker) intake(ctx context.Context) error {
	if err := w.awaitChannel(ctx); err != nil {
		return err
	}
	for {
		room, err := w.awaitRoom(ctx)
		if err != nil {
			return err
		}
		if err := w.Queue.Fetch(ctx, w.Namespace, w.Channel, room, func(d broker.Delivery) { w.receive(ctx, d) }); err != nil {
			return err
		}
	}
}

// awaitRoom waits until a fetch is worth it.
func (w *Worker) awaitRoom(ctx context.Context) (int, error) {
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	for {
		if back := w.desk.stuck(); len(back) > 0 {
			w.passOver(back)
		}
		if room := w.desk.room(); room > 0 {
			return room, ctx.Err()
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-w.freed:
		case <-tick.C:
		}
	}
}

const (
	// roomEvery is how often a full line is looked at.
	roomEvery = 200 * time.Millisecond
	// passedOver is for how long a job is given back whose tenant has no room, for
	// each time that it came, up to mostPassedOver times: the more of them there are,
	// the longer must each be away for those behind to be reached.
	passedOver     = 2 * time.Second
	mostPassedOver = 15
)

// receive puts a delivered job in line, or gives it back.
func (w *Worker) receive(ctx context.Context, d broker.Delivery) {
	switch {
	case ctx.Err() != nil:
		w.pause(d, 0)
		return
	case !w.desk.expect(d.Token):
		w.pause(d, pauseConflict)
		return
	}
	if !d.Ahead {
		w.desk.saw(d)
	}
	if w.channel.Load().MaxInFlightPerTenant == 0 {
		w.enqueue(ctx, d)
		return
	}
	w.running.Go(func() { w.enqueue(ctx, d) }) // which reads the recipient
}

func (w *Worker) enqueue(ctx context.Context, d broker.Delivery) {
	t := w.turnOf(ctx, d)
	if back := w.desk.arrive(t); back != 0 {
		w.pause(d, back)
	}
}

// turnOf tells whose turn a job is: its schedule's, and of the jobs of a schedule
// its tenant's, where tenants have a limit. What cannot be read counts for the
// namespace; whether it is sent is decided later.
func (w *Worker) turnOf(ctx context.Context, d broker.Delivery) *turn {
	t := &turn{Delivery: d, tenant: w.Namespace}
	if parts := strings.Split(d.Token, "."); len(parts) > 1 {
		t.schedule = parts[1]
	}
	t.flow = t.schedule
	envelope, err := reminder.DecodeJob(d.Body)
	if err != nil {
		return t
	}
	t.deadline = envelope.DeadlineTime
	if w.channel.Load().MaxInFlightPerTenant > 0 {
		r, err := w.Audience.Recipient(ctx, envelope.Key.Namespace, envelope.Key.Schedule, envelope.Key.Recipient)
		if tenant := r.Attributes[tenantAttribute]; err == nil && tenant != "" {
			t.tenant, t.flow = "="+tenant, t.flow+"/"+tenant
		}
	}
	return t
}

// tenantAttribute is the attribute of a recipient that names its tenant.
const tenantAttribute = "tenant"

// hold tells the broker, until ctx ends, that the jobs in line are in hand.
func (w *Worker) hold(ctx context.Context) error {
	if err := w.awaitChannel(ctx); err != nil {
		return err
	}
	for {
		if !sleep(ctx, w.channel.Load().AckWait/3) {
			return ctx.Err()
		}
		for _, t := range w.desk.waiting() {
			_ = t.Working() // the next one may get through
		}
	}
}

// passOver gives jobs back whose tenants have no room, so that those behind come.
func (w *Worker) passOver(all []*turn) {
	for _, t := range all {
		back := passedOver * time.Duration(min(t.Count, mostPassedOver))
		if left := t.deadline.Sub(w.Now()); !t.deadline.IsZero() && left < back {
			back = left
		}
		w.pause(t.Delivery, back)
	}
}

// giveBack gives jobs back that have not had their turn.
func (w *Worker) giveBack(delay time.Duration, all []*turn) {
	for _, t := range all {
		w.pause(t.Delivery, delay)
	}
}
