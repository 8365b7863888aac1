package worker

import (
	"context"
	"errors"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const (
	// scoutEvery is how often a worker looks whether a crowd stands before others.
	scoutEvery = 100 * time.Millisecond
	// schedulesEvery is how often it asks for the schedules of the channel while one does.
	schedulesEvery = 5 * time.Second
	// missedFor is how long a schedule without due jobs is left alone.
	missedFor = time.Second
)

// scout takes jobs out of turn while more wait in the stream than fit in line: one
// of each schedule that has none in line, from beyond where the consumer is. The
// consumer delivers in the order of the stream, so that a schedule with very many
// due jobs would else hold up all others of the channel.
func (w *Worker) scout(ctx context.Context) error {
	if err := w.awaitChannel(ctx); err != nil || w.Peers == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	for {
		if w.desk.crowded() {
			if err := w.scoutCrowd(ctx); err != nil {
				return err
			}
		}
		if !sleep(ctx, scoutEvery) {
			return ctx.Err()
		}
	}
}

// trail is how far one schedule was looked at.
type trail struct {
	from  uint64
	again time.Time
}

// scoutCrowd scouts until there is no crowd any more, or the schedules are to be
// listed anew.
func (w *Worker) scoutCrowd(ctx context.Context) error {
	names, err := w.Peers.SchedulesOf(ctx, w.Namespace, w.Channel)
	if err != nil {
		return err
	}
	trails, until := make([]trail, len(names)), w.Now().Add(schedulesEvery)
	for len(names) > 1 && w.desk.crowded() && w.Now().Before(until) {
		found := 0
		for i, name := range names {
			if err := w.awaitScout(ctx); err != nil {
				return err
			}
			ok, err := w.look(ctx, name, &trails[i])
			if err != nil {
				return err
			}
			if ok {
				found++
			}
		}
		if found == 0 && !sleep(ctx, scoutEvery) {
			return ctx.Err()
		}
	}
	return nil
}

// awaitScout waits until there is room for one more job out of turn.
func (w *Worker) awaitScout(ctx context.Context) error {
	for !w.desk.roomAhead() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.scouted:
		case <-time.After(scoutEvery):
		}
	}
	return ctx.Err()
}

// look takes the next job of a schedule, unless one is in line.
func (w *Worker) look(ctx context.Context, schedule string, t *trail) (bool, error) {
	if w.Now().Before(t.again) || w.desk.inLine(reminder.Escape(schedule)) {
		return false, nil
	}
	d, err := w.Queue.Peek(ctx, w.Namespace, w.Channel, schedule, max(t.from, w.desk.beyond()))
	if errors.Is(err, reminder.ErrNotFound) {
		t.from, t.again = 0, w.Now().Add(missedFor)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	t.from = d.Sequence + 1
	if w.desk.expect(d.Token) {
		w.enqueue(ctx, d)
		return true, nil
	}
	return false, nil
}
