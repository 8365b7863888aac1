package simulate

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/memory"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// errKilled is what a dead process would hear if it heard anything. It is of a kind
// that nobody insists on, so that what is left of the process ends soon.
var errKilled = fmt.Errorf("killed: %w", reminder.ErrMalformed)

// client is one process with its connection to the broker. Each call takes time, and
// may be the last thing that the process does: before it takes effect, or behind.
type client struct {
	*world
	name string
	off  time.Duration // of its clock
	kill context.CancelFunc

	mu    sync.Mutex
	dead  bool
	count map[string]int
}

// start makes a process; kill ends its context.
func (w *world) start(ctx context.Context, name string) (*client, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	return &client{
		world: w, name: name, off: w.between(-skew, skew, "clock", name), kill: cancel, count: map[string]int{},
	}, ctx
}

func (c *client) now() time.Time { return time.Now().Add(c.off) }

func (c *client) isDead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// die kills the process: nothing that it does from here on has any effect.
func (c *client) die(where string) error {
	c.mu.Lock()
	c.dead = true
	c.mu.Unlock()
	c.world.mu.Lock()
	c.killed++
	c.world.mu.Unlock()
	c.note(c.name, "KILLED", where)
	c.kill()
	return errKilled
}

// number counts the calls of a kind.
func (c *client) number(what string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[what]++
	return what + "/" + strconv.Itoa(c.count[what])
}

// call makes one call to the broker, with all that can happen to it.
func (c *client) call(op, subject string, effect func() error) error {
	id := c.number(op + " " + subject)
	is := func(n uint64, what string) bool { return c.faulty() && c.chance(n, c.name, id, what) }
	if c.isDead() {
		return errKilled
	}
	pass(c.between(50*time.Microsecond, 3*time.Millisecond, c.name, id, "there"))
	if is(c.rates.stall, "stall") {
		c.note(c.name, "STALLS", id)
		pass(c.between(time.Second, 90*time.Second, c.name, id, "stall"))
	}
	switch {
	case c.isDead():
		return errKilled
	case is(c.rates.crash, "before"):
		return c.die("before " + id)
	case c.brokerAway():
		return fmt.Errorf("%s: %w", op, reminder.ErrUnavailable)
	}
	err := effect()
	c.note(c.name, op, fmt.Sprint(subject, " ", err))
	if is(c.rates.crash, "after") {
		return c.die("after " + id)
	}
	pass(c.between(50*time.Microsecond, 3*time.Millisecond, c.name, id, "back"))
	if c.isDead() {
		return errKilled
	}
	if err == nil && is(c.rates.lost, "lost") {
		c.note(c.name, "ANSWER LOST", id)
		return fmt.Errorf("%s: %w", op, reminder.ErrUnavailable)
	}
	return err
}

// ask is call for what answers a value.
func ask[T any](c *client, op, subject string, effect func() (T, error)) (T, error) {
	var value, none T
	err := c.call(op, subject, func() (err error) {
		value, err = effect()
		return err
	})
	if err != nil {
		return none, err
	}
	return value, nil
}

// ledger, queue and the others are the broker's services as a process sees them.
type (
	ledger      struct{ *client }
	queue       struct{ *client }
	registry    struct{ *client }
	audience    struct{ *client }
	deadLetters struct{ *client }
	tallyStore  struct{ *client }
)

type found[T any] struct {
	value    T
	revision uint64
}

func (l ledger) Get(ctx context.Context, token string) (reminder.Record, uint64, error) {
	f, err := ask(l.client, "ledger get", token, func() (f found[reminder.Record], err error) {
		f.value, f.revision, err = l.broker.Ledger.Get(ctx, token)
		return f, err
	})
	return f.value, f.revision, err
}

func (l ledger) Create(ctx context.Context, r reminder.Record) (uint64, error) {
	return ask(l.client, "ledger create", r.Key.Token(), func() (uint64, error) { return l.broker.Ledger.Create(ctx, r) })
}

func (l ledger) Update(ctx context.Context, r reminder.Record, last uint64) (uint64, error) {
	return ask(l.client, "ledger "+string(r.State), r.Key.Token(), func() (uint64, error) { return l.broker.Ledger.Update(ctx, r, last) })
}

func (l ledger) LastRevision(ctx context.Context) (uint64, error) {
	return ask(l.client, "ledger end", "", func() (uint64, error) { return l.broker.Ledger.LastRevision(ctx) })
}

func (l ledger) Of(ctx context.Context, fn func(broker.Revision) error) error {
	all, err := ask(l.client, "ledger list", "", func() (all []broker.Revision, err error) {
		err = l.broker.Ledger.Of(ctx, namespace, schedule, func(r broker.Revision) error {
			all = append(all, r)
			return nil
		})
		return all, err
	})
	for _, r := range all {
		if err := fn(r); err != nil {
			return err
		}
	}
	return err
}

func (l ledger) Follow(ctx context.Context, from uint64, fn func(broker.Revision) error, idle func() error) error {
	follower := l.number("follow")
	for ctx.Err() == nil {
		changed := l.broker.Changed()
		var all []broker.Revision
		err := l.call("ledger "+follower, "", func() error {
			var last uint64
			all, last = l.broker.Ledger.Since(from)
			from = last + 1
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range all {
			if err := fn(r); err != nil {
				return err
			}
		}
		if err := idle(); err != nil {
			return err
		}
		memory.Await(ctx, changed, time.Time{})
	}
	return ctx.Err()
}

func (q queue) Release(ctx context.Context, r reminder.Record, revision uint64, at, now time.Time) error {
	return q.call("queue release", r.Key.Token(), func() error { return q.broker.Queue.Release(ctx, r, revision, at, now) })
}

func (q queue) Restore(ctx context.Context, r reminder.Record, revision uint64) error {
	return q.call("queue restore", r.Key.Token(), func() error { return q.broker.Queue.Restore(ctx, r, revision) })
}

func (q queue) Standing(ctx context.Context, key reminder.Key) (bool, error) {
	return ask(q.client, "queue standing", key.Token(), func() (bool, error) { return q.broker.Queue.Standing(ctx, key) })
}

func (q queue) Withdraw(ctx context.Context, key reminder.Key) error {
	return q.call("queue withdraw", key.Token(), func() error { return q.broker.Queue.Withdraw(ctx, key) })
}

func (q queue) WithdrawSchedule(ctx context.Context) error {
	return q.call("queue withdraw all", "", func() error { return q.broker.Queue.WithdrawSchedule(ctx, namespace, schedule) })
}

func (q queue) Peek(ctx context.Context, namespace, channel, schedule string, from uint64) (broker.Delivery, error) {
	return q.broker.Queue.Peek(ctx, namespace, channel, schedule, from)
}

func (q queue) Fetch(ctx context.Context, namespace, channel string, limit int, fn func(broker.Delivery)) error {
	for n := 0; n < limit && ctx.Err() == nil; {
		changed := q.broker.Changed()
		var msg *memory.Msg
		var again time.Time
		err := q.call("queue fetch", "", func() (err error) {
			msg, again, err = q.broker.Queue.Take(namespace, channel)
			return err
		})
		switch {
		case err != nil:
			return err
		case msg == nil:
			memory.Await(ctx, changed, again)
		default:
			d := broker.DeliveryOf(parcel{msg, q.client}, time.Minute)
			n++
			fn(d)
			if q.faulty() && q.chance(q.rates.repeat, q.name, q.number("repeat "+d.Token)) {
				q.note(q.name, "REPEATED", d.Token)
				_ = msg.NakWithDelay(0) // the ack wait was over
			}
		}
	}
	return ctx.Err()
}

// parcel is a message in the hands of a process.
type parcel struct {
	*memory.Msg
	c *client
}

func (p parcel) DoubleAck(ctx context.Context) error {
	return p.c.call("ack", p.Subject(), func() error { return p.Msg.DoubleAck(ctx) })
}

func (p parcel) NakWithDelay(d time.Duration) error {
	return p.c.call("nak", p.Subject(), func() error { return p.Msg.NakWithDelay(d) })
}

func (p parcel) InProgress() error {
	return p.c.call("in progress", p.Subject(), p.Msg.InProgress)
}

func (p parcel) TermWithReason(reason string) error {
	p.c.broken("a job was rejected: %s", reason)
	return p.c.call("term", p.Subject(), func() error { return p.Msg.TermWithReason(reason) })
}

var _ jetstream.Msg = parcel{}

func (r registry) Schedule(ctx context.Context, namespace, name string) (reminder.Schedule, uint64, error) {
	f, err := ask(r.client, "registry get", "", func() (f found[reminder.Schedule], err error) {
		f.value, f.revision, err = r.broker.Registry.Schedule(ctx, namespace, name)
		return f, err
	})
	return f.value, f.revision, err
}

func (r registry) PutSchedule(ctx context.Context, s reminder.Schedule, last uint64) (uint64, error) {
	return ask(r.client, "registry put", "", func() (uint64, error) { return r.broker.Registry.PutSchedule(ctx, s, last, 0) })
}

func (r registry) WatchChannel(ctx context.Context, namespace, name string, fn func(reminder.Channel) error) error {
	c, _, err := r.broker.Registry.Channel(ctx, namespace, name)
	if err == nil {
		err = fn(c)
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

func (r registry) Beat(ctx context.Context, w reminder.Worker) error {
	return r.call("beat", "", func() error { return r.broker.Registry.Beat(ctx, w) })
}

func (r registry) Rest(ctx context.Context, w reminder.Worker) error {
	return r.call("rest", "", func() error { return r.broker.Registry.Rest(ctx, w) })
}

func (a audience) Recipient(ctx context.Context, namespace, schedule, id string) (reminder.Recipient, error) {
	return ask(a.client, "recipient", id, func() (reminder.Recipient, error) { return a.broker.Audience.Recipient(ctx, namespace, schedule, id) })
}

func (a audience) Complete(ctx context.Context, namespace, schedule, hash string) (bool, error) {
	return ask(a.client, "audience", hash, func() (bool, error) { return a.broker.Audience.Complete(ctx, namespace, schedule, hash) })
}

func (d deadLetters) Publish(ctx context.Context, letter reminder.DeadLetter) error {
	return d.call("letter", letter.Key.Token(), func() error { return d.broker.DeadLetters.Publish(ctx, letter) })
}

func (d deadLetters) Standing(ctx context.Context, letter reminder.DeadLetter) (bool, error) {
	return ask(d.client, "letter standing", letter.Key.Token(), func() (bool, error) { return d.broker.DeadLetters.Standing(ctx, letter) })
}

func (d deadLetters) Resolve(ctx context.Context, key reminder.Key) error {
	return d.call("letter resolved", key.Token(), func() error { return d.broker.DeadLetters.Resolve(ctx, key) })
}

func (t tallyStore) Totals(ctx context.Context, namespace, schedule string) (reminder.Totals, uint64, error) {
	f, err := ask(t.client, "totals get", "", func() (f found[reminder.Totals], err error) {
		f.value, f.revision, err = t.broker.Tally.Totals(ctx, namespace, schedule)
		return f, err
	})
	return f.value, f.revision, err
}

func (t tallyStore) SaveTotals(ctx context.Context, totals reminder.Totals, last uint64) error {
	return t.call("totals put", "", func() error { return t.broker.Tally.SaveTotals(ctx, totals, last) })
}

func (t tallyStore) Checkpoint(ctx context.Context) (uint64, error) {
	return ask(t.client, "checkpoint get", "", func() (uint64, error) { return t.broker.Tally.Checkpoint(ctx) })
}

func (t tallyStore) SaveCheckpoint(ctx context.Context, revision uint64) error {
	return t.call("checkpoint put", "", func() error { return t.broker.Tally.SaveCheckpoint(ctx, revision) })
}
