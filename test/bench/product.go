package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/cmd"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// creators is how many objects are created at once.
const creators = 16

// limit of each wait beyond what is expected.
const limit = 5 * time.Minute

// bench is the running product.
type bench struct {
	*printer
	*system.System
	o   options
	js  jetstream.JetStream
	due time.Time
	result
}

// measureProduct starts the product, lets everything fall due, and reads ledger
// and status.
func measureProduct(ctx context.Context, p *printer, dir string, o options) (*result, error) {
	p.say("Starting the product")
	s, err := system.Start(ctx, system.Options{
		Options: cluster.Options{Dir: filepath.Join(dir, "product"), Log: p},
		// As installed by default, not as quick as for tests.
		ControllerArgs: []string{"--sweep-grace=30s", "--sweep-every=10s", "--status-interval=10s"},
	})
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	conn, err := nats.Connect(s.NATS.URL)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	defer conn.Close()
	b := &bench{printer: p, System: s, o: o}
	if b.js, err = jetstream.New(conn); err != nil {
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	for _, step := range []func(context.Context) error{b.openChannels, b.createSchedules, b.awaitDrain, b.readLedger, b.awaitStatus, b.readMemory} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return &b.result, nil
}

func channelName(i int) string { return "log-" + strconv.Itoa(i) }

// openChannels makes the channels and waits for their workers.
func (b *bench) openChannels(ctx context.Context) error {
	b.say("Opening %d channels", b.o.channels)
	for i := range b.o.channels {
		c := system.LogChannel(channelName(i))
		concurrency := int32(b.o.concurrency)
		c.Spec.Workers = &v1alpha1.WorkersSpec{Concurrency: &concurrency}
		if err := b.Client.Create(ctx, c); err != nil {
			return fmt.Errorf("create channel %s: %w", c.Name, err)
		}
	}
	return b.await(ctx, "the workers", limit, 200*time.Millisecond, func(ctx context.Context) (bool, string, error) {
		live := 0
		for i := range b.o.channels {
			workers, err := b.Broker.Registry.Workers(ctx, system.Tenant, channelName(i))
			if err != nil {
				return false, "", err
			}
			live += min(len(workers), 1)
		}
		return live == b.o.channels, fmt.Sprintf("%d of %d workers are live", live, b.o.channels), nil
	})
}

// createSchedules creates all schedules and waits until their reminders are planned.
func (b *bench) createSchedules(ctx context.Context) error {
	first := time.Now()
	b.due = first.Add(b.o.lead).UTC().Truncate(time.Second)
	b.say("Creating %d schedules with %d recipients each, due at %s", b.o.schedules, b.o.recipients, b.due.Format(time.TimeOnly))
	if err := b.createAll(ctx); err != nil {
		return err
	}
	b.say("  created")
	err := b.await(ctx, "planning", limit, 200*time.Millisecond, func(ctx context.Context) (bool, string, error) {
		n, err := b.messages(ctx)
		late := time.Now().After(b.due)
		return n >= uint64(b.o.reminders()) || late, fmt.Sprintf("%d of %d reminders are scheduled in NATS", n, b.o.reminders()), err
	})
	b.planned = time.Since(first)
	if left := time.Until(b.due); left > 0 {
		b.say("Planned; %s to go", left.Round(time.Second))
	} else {
		b.say("Planning was not over at the due time: lateness includes it; give a longer -lead")
	}
	return err
}

// createAll creates the schedules, several at a time.
func (b *bench) createAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range creators {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.o.schedules && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := b.Client.Create(ctx, b.schedule(i)); err != nil {
					cancel(fmt.Errorf("create schedule %d: %w", i, err))
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (b *bench) schedule(i int) *v1alpha1.ReminderSchedule {
	s := system.OneOff(fmt.Sprintf("bench-%05d", i), channelName(i%b.o.channels), b.due, b.o.recipients, "customer")
	s.Spec.Delivery = &v1alpha1.DeliverySpec{Deadline: &metav1.Duration{Duration: time.Hour}}
	return s
}

// messages is how many message schedules and due jobs there are.
func (b *bench) messages(ctx context.Context) (uint64, error) {
	stream, err := b.js.Stream(ctx, shapeOf(jobs).Name)
	if err != nil {
		return 0, fmt.Errorf("inspect the jobs: %w", err)
	}
	return stream.CachedInfo().State.Msgs, nil
}

// awaitDrain waits until every due job is acknowledged.
func (b *bench) awaitDrain(ctx context.Context) error {
	return b.await(ctx, "the end of the burst", time.Until(b.due)+limit, 500*time.Millisecond, func(ctx context.Context) (bool, string, error) {
		if time.Now().Before(b.due) {
			return false, "waiting for the due time", nil
		}
		n, err := b.messages(ctx)
		return n == 0, fmt.Sprintf("%d jobs left", n), err
	})
}

// errCaughtUp ends the reading of the ledger.
var errCaughtUp = errors.New("caught up")

// readLedger reads the last record of each reminder.
func (b *bench) readLedger(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var late []time.Duration
	states := map[reminder.State]int{}
	err := b.Broker.Ledger.Follow(ctx, 0, func(r broker.Revision) error {
		if r.Err != nil {
			return r.Err
		}
		states[r.Record.State]++
		if r.Record.State != reminder.Sent {
			return nil
		}
		late = append(late, r.Record.FinishTime.Sub(b.due))
		if r.Record.FinishTime.Before(r.Record.ReleaseTime) || !r.Record.ReleaseTime.Equal(b.due) {
			b.early++
		}
		return nil
	}, func() error { return errCaughtUp })
	if !errors.Is(err, errCaughtUp) {
		return fmt.Errorf("read the ledger: %w", err)
	}
	b.late = newLateness(late)
	b.say("The ledger says: %v", states)
	if len(late) != b.o.reminders() || len(states) != 1 {
		b.problem("the ledger has %v, want %d %s and nothing else", states, b.o.reminders(), reminder.Sent)
	}
	if b.early > 0 {
		b.problem("%d reminders were early, or released at another time than %s", b.early, b.due)
	}
	return nil
}

// awaitStatus waits until every schedule's status says what the ledger says. It
// watches: listing a thousand objects again and again would be load of its own.
func (b *bench) awaitStatus(ctx context.Context) error {
	watched, err := cache.New(b.Kube.RESTConfig(), cache.Options{Scheme: cmd.Scheme()})
	if err != nil {
		return fmt.Errorf("watch schedules: %w", err)
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { _ = watched.Start(watching) }()
	err = b.await(ctx, "status", limit, time.Second, func(ctx context.Context) (bool, string, error) {
		var list v1alpha1.ReminderScheduleList
		if err := watched.List(ctx, &list, client.InNamespace(system.Tenant), client.UnsafeDisableDeepCopy); err != nil {
			return false, "", fmt.Errorf("list schedules: %w", err)
		}
		right, sent := b.rightStatus(list.Items)
		return right == b.o.schedules, fmt.Sprintf("status of %d of %d schedules is right; they say sent=%d", right, b.o.schedules, sent), nil
	})
	b.settled = time.Since(b.due)
	if err != nil && ctx.Err() == nil {
		b.problem("%v", err)
		return nil
	}
	return err
}

// rightStatus is how many schedules have the counts that they must have, and how
// many reminders they call sent.
func (b *bench) rightStatus(schedules []v1alpha1.ReminderSchedule) (right int, sent int64) {
	n := int64(b.o.recipients)
	for i := range schedules {
		c := schedules[i].Status.Counts
		if c == nil {
			continue
		}
		sent += c.Sent
		if c.Due == n && c.Sent == n && c.Pending+c.Dead+c.Cancelled == 0 {
			right++
		}
	}
	return right, sent
}

// readMemory reads the controller's.
func (b *bench) readMemory(context.Context) (err error) {
	pid := b.Controllers[0].Pid()
	if b.rss, err = memory(pid, "VmRSS"); err != nil {
		return err
	}
	if b.peak, err = memory(pid, "VmHWM"); err != nil {
		return err
	}
	b.say("Controller memory: RSS %d MiB, at most %d MiB", b.rss>>20, b.peak>>20)
	return nil
}
