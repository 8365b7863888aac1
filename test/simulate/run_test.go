package simulate

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/sweep"
	"github.com/reminder-operator/reminder-operator/internal/tally"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// run lives through one world, from its beginning until all must be quiet.
func (w *world) run(ctx context.Context) {
	entry := reminder.Channel{
		Namespace: namespace, Name: channel, Type: reminder.ChannelLog, Dedupes: w.dedupes, Generation: 1,
		SendTimeout: sendTimeout, AckWait: ackWait, Lease: lease, Concurrency: 1 + w.upTo(4, "concurrency"),
	}
	_ = w.broker.Queue.EnsureConsumer(ctx, entry)
	_ = w.broker.Registry.PutChannel(ctx, entry, 0)
	_ = w.broker.Audience.Replace(ctx, namespace, schedule, "people", w.people)
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for i := range 1 + w.upTo(2, "operators") {
		all.Go(func() { w.keep(ctx, "operator-"+strconv.Itoa(i), w.operate) })
	}
	for i := range 1 + w.upTo(3, "workers") {
		all.Go(func() { w.keep(ctx, "worker-"+strconv.Itoa(i), w.work) })
	}
	if !w.alone && w.chance(4, "purged") {
		all.Go(func() {
			pass(w.between(0, 3*time.Minute, "purge"))
			w.broker.Queue.Lose()
			w.note("somebody", "PURGES", "")
		})
	}
	pass(faultsFor + quietFor)
	cancel()
	all.Wait()
}

// keep runs a process, and again whenever it was killed.
func (w *world) keep(ctx context.Context, name string, run func(context.Context, *client)) {
	for life := 0; ctx.Err() == nil; life++ {
		name := name + "." + strconv.Itoa(life)
		pass(w.between(0, 5*time.Second, name, "starts"))
		c, ctx := w.start(ctx, name)
		run(ctx, c)
		c.kill()
	}
}

func (w *world) work(ctx context.Context, c *client) {
	_ = worker.New(worker.Options{
		Namespace: namespace, Channel: channel, Name: c.name, Retention: retention, Grace: time.Second,
		Ledger: ledger{c}, Queue: queue{c}, Registry: registry{c}, Audience: audience{c}, DeadLetters: deadLetters{c},
		NewSender: func(reminder.Channel) (worker.Sender, error) { return sender{c}, nil },
		Now:       c.now, Log: slog.New(slog.DiscardHandler),
	}).Run(ctx)
}

// operate is what a leader runs: planner, tally and sweep in one process.
func (w *world) operate(ctx context.Context, c *client) {
	log := slog.New(slog.DiscardHandler)
	books := tally.Tally{Ledger: ledger{c}, Store: tallyStore{c}, Changed: func(string, string) {}, Now: c.now, Log: log}
	repairs := sweep.Sweep{
		Ledger: ledger{c}, Queue: queue{c}, DeadLetters: deadLetters{c}, Retention: retention,
		Grace: 10 * time.Second, Every: 5 * time.Second, Now: c.now, Log: log,
	}
	var parts sync.WaitGroup
	parts.Go(func() { (&planner{client: c}).run(ctx) })
	parts.Go(func() { _ = books.Run(ctx) })
	if !w.alone {
		parts.Go(func() { _ = repairs.Run(ctx) })
	}
	parts.Wait()
}
