package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Ledger is the part of the ledger that a worker uses.
type Ledger interface {
	Get(ctx context.Context, token string) (reminder.Record, uint64, error)
	Update(ctx context.Context, r reminder.Record, last uint64) (uint64, error)
}

// Queue is the part of the queue that a worker uses.
type Queue interface {
	Fetch(ctx context.Context, namespace, channel string, limit int, fn func(broker.Delivery)) error
	Peek(ctx context.Context, namespace, channel, schedule string, from uint64) (broker.Delivery, error)
	Release(ctx context.Context, r reminder.Record, revision uint64, at, now time.Time) error
}

// Registry is the part of the registry that a worker uses.
type Registry interface {
	Schedule(ctx context.Context, namespace, name string) (reminder.Schedule, uint64, error)
	WatchChannel(ctx context.Context, namespace, name string, fn func(reminder.Channel) error) error
	Beat(ctx context.Context, w reminder.Worker) error
	Rest(ctx context.Context, w reminder.Worker) error
}

// Audience is the part of the audience bucket that a worker uses.
type Audience interface {
	Recipient(ctx context.Context, namespace, schedule, id string) (reminder.Recipient, error)
	Complete(ctx context.Context, namespace, schedule, hash string) (bool, error)
}

// DeadLetters is where a worker puts reminders whose policy has ended.
type DeadLetters interface {
	Publish(ctx context.Context, letter reminder.DeadLetter) error
	Resolve(ctx context.Context, key reminder.Key) error
}

// Sender hands one message to a channel. It answers soon after ctx ends at the
// latest, and always with an outcome.
type Sender interface {
	Send(ctx context.Context, m reminder.Message) reminder.Result
}

// Options are a worker's parts and settings.
type Options struct {
	// Namespace and Channel name the ReminderChannel that it works for.
	Namespace, Channel string
	// Name is the worker's own, such as the pod's; unique among the live ones.
	Name string
	// Retention is how long terminal records are kept.
	Retention time.Duration
	// Grace is how long reminders in flight may take after the end of ctx.
	Grace time.Duration

	Ledger      Ledger
	Queue       Queue
	Registry    Registry
	Audience    Audience
	DeadLetters DeadLetters
	// Peers tells of other workers and schedules of the channel; nil for a worker
	// that is alone, has the channel's limits to itself and looks at no schedule
	// out of turn.
	Peers Peers
	// BeatEvery is the time between heartbeats, default 10 s, StakeEvery between
	// looks at the worker's part of the channel's limits, default 2 s.
	BeatEvery, StakeEvery time.Duration
	// NewSender makes the sender of a channel's entry.
	NewSender func(reminder.Channel) (Sender, error)
	// NewAsker makes the asker of a channel's entry; nil where nobody can be asked.
	NewAsker func(reminder.Channel) (Asker, error)
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// Worker is one worker process of a channel.
type Worker struct {
	Options
	owner    string
	start    time.Time
	channel  atomic.Pointer[open]
	opened   chan struct{} // closed when channel is set for the first time
	openOnce sync.Once
	messages *compiled
	// conditions are compiled like messages.
	conditions *conditions
	desk       *desk
	// freed gets a value when a job has left the line, scouted when one that was
	// taken out of turn may have.
	freed, scouted chan struct{}
	running        sync.WaitGroup
}

// open is a channel that is ready to send.
type open struct {
	reminder.Channel
	sender Sender
	asker  Asker
}

// New makes a worker. Its name in claims is unique to this process.
func New(o Options) *Worker {
	var instance [4]byte
	_, _ = rand.Read(instance[:]) // never fails (crypto/rand)
	if o.BeatEvery == 0 {
		o.BeatEvery = 10 * time.Second
	}
	if o.StakeEvery == 0 {
		o.StakeEvery = 2 * time.Second
	}
	return &Worker{
		Options: o, owner: o.Name + "/" + hex.EncodeToString(instance[:]), start: o.Now(),
		opened: make(chan struct{}), messages: newCompiled(), conditions: newConditions(), desk: newDesk(o.Now),
		freed: make(chan struct{}, 1), scouted: make(chan struct{}, 1),
	}
}

// Run works until ctx ends and reminders in flight are done or Grace is over.
func (w *Worker) Run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var parts sync.WaitGroup
	for message, part := range map[string]func(context.Context) error{
		"Watching the channel failed":         w.watchChannel,
		"Heartbeat failed":                    w.beat,
		"Sharing the channel's limits failed": w.divide,
		"Holding due jobs failed":             w.hold,
		"Looking ahead failed":                w.scout,
		"Consuming due jobs failed":           w.intake,
		"Handing out due jobs failed":         func(ctx context.Context) error { return w.dispatch(ctx, work) },
	} {
		parts.Go(func() { w.supervise(ctx, message, part) })
	}
	parts.Wait()
	w.giveBack(0, w.desk.empty())
	w.drain(stop)
	return nil
}

func (w *Worker) supervise(ctx context.Context, message string, part func(context.Context) error) {
	broker.Supervise(ctx, func(err error) { w.Log.Warn(message, "error", err) }, part)
}

// drain waits for reminders in flight; at the end of Grace it cancels them, and
// their outcomes are then unknown or, before the submission, given back.
func (w *Worker) drain(stop context.CancelFunc) {
	timer := time.AfterFunc(w.Grace, stop)
	defer timer.Stop()
	w.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := errors.Join(w.unstake(ctx), w.Registry.Rest(ctx, w.heartbeat())); err != nil {
		w.Log.Warn("Removing the heartbeat failed", "error", err)
	}
	w.Log.Info("Worker stopped", "worker", w.Name)
}

func (w *Worker) watchChannel(ctx context.Context) error {
	return w.Registry.WatchChannel(ctx, w.Namespace, w.Channel, w.open)
}

// open makes the channel ready to send. When that fails, what was open before
// stays, and the watch begins again.
func (w *Worker) open(c reminder.Channel) error {
	before := w.channel.Load()
	if before != nil && before.Generation == c.Generation && before.UID == c.UID {
		return nil
	}
	if err := c.Validate(); err != nil {
		return err
	}
	if w.Retention <= 2*c.Lease {
		return fmt.Errorf("records are kept for %s, which must be longer than two leases of channel %s/%s (%s); raise --retention", w.Retention, c.Namespace, c.Name, c.Lease)
	}
	sender, err := w.NewSender(c)
	if err != nil {
		return err
	}
	asker, err := w.askerOf(c)
	if err != nil {
		return err
	}
	w.channel.Store(&open{Channel: c, sender: sender, asker: asker})
	w.desk.open(c)
	w.openOnce.Do(func() { close(w.opened) })
	w.Log.Info("Channel opened", "channel", w.Channel, "type", c.Type, "generation", c.Generation)
	return nil
}

// awaitChannel waits until the channel is known; nothing can be done before.
func (w *Worker) awaitChannel(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.opened:
		return nil
	}
}

// beat says that the worker is live, from when it can send on, and at once when a
// pause begins or ends.
func (w *Worker) beat(ctx context.Context) error {
	if err := w.awaitChannel(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(w.BeatEvery)
	defer tick.Stop()
	for {
		if err := w.Registry.Beat(ctx, w.heartbeat()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.desk.news:
		case <-tick.C:
		}
	}
}

func (w *Worker) heartbeat() reminder.Worker {
	beat := reminder.Worker{Namespace: w.Namespace, Channel: w.Channel, Name: w.Name, StartTime: w.start, BeatTime: w.Now()}
	w.desk.report(&beat)
	return beat
}
