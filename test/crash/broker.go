package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// perSchedule is how many recipients a schedule of a broker fault has.
const perSchedule = 500

// brokerFault is what is done to the broker while reminders are planned and fall due.
type brokerFault struct {
	name    string
	servers int // of a cluster; 0 for one alone
	faults  int
	do      func(ctx context.Context, b *brokerRun, i int) error
}

// brokerFaults are those of the failure matrix, rows 22 to 24.
func brokerFaults(o options) []brokerFault {
	all := []brokerFault{
		{name: "kill", faults: 20, do: killBroker},
		{name: "leader", servers: 3, faults: 10, do: killLeader},
		{name: "stop", faults: len(o.stops), do: func(ctx context.Context, b *brokerRun, i int) error { return stopBroker(ctx, b, o.stops[i]) }},
	}
	var chosen []brokerFault
	for _, f := range all {
		if o.cell == "" || o.cell == f.name {
			if o.faults > 0 {
				f.faults = min(f.faults, o.faults)
			}
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// brokerRun is one fault's system, with what has been counted.
type brokerRun struct {
	*crash
	fault    brokerFault
	health   string // address of the probes of the controller
	pids     []int
	schedule []run

	mu      sync.Mutex
	unwell  int // answers of the liveness probe that were not 200
	answers int
}

// brokerTotals are the sums over all faults.
type brokerTotals struct{ faults, acked, stored, terminal, lost, duplicates, wrong int }

// runBrokerFaults runs each fault on a system of its own.
func runBrokerFaults(ctx context.Context, o options, p *printer) error {
	faults := brokerFaults(o)
	if len(faults) == 0 || o.reminders < 1 {
		return fmt.Errorf("no broker fault is named %q; there are kill, leader and stop", o.cell)
	}
	var all brokerTotals
	for _, fault := range faults {
		if err := runFault(ctx, o, p, fault, &all); err != nil {
			return fmt.Errorf("%s: %w; run it again by: go run ./test/crash -broker -cell %s", fault.name, err, fault.name)
		}
	}
	counters := "exact"
	if all.wrong > 0 {
		counters = "wrong"
	}
	fmt.Fprintf(p.out, "broker: faults=%d acked=%d stored=%d terminal=%d lost=%d duplicates=%d counters=%s seconds=%d\n",
		all.faults, all.acked, all.stored, all.terminal, all.lost, all.duplicates, counters, p.seconds())
	if all.lost+all.duplicates+all.wrong > 0 || all.acked != all.stored || all.stored != all.terminal {
		return fmt.Errorf("the broker has lost or doubled something")
	}
	return nil
}

// runFault starts a system, does the fault and counts.
func runFault(ctx context.Context, o options, p *printer, fault brokerFault, all *brokerTotals) error {
	dir, err := os.MkdirTemp("", "reminder-broker-")
	if err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	port, err := cluster.FreePort()
	if err != nil {
		return err
	}
	b := &brokerRun{crash: &crash{printer: p}, fault: fault, health: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	p.say("%s: starting the product", fault.name)
	b.System, err = system.Start(ctx, system.Options{
		Options: cluster.Options{Dir: dir, Log: p, Servers: fault.servers}, ControllerArgs: []string{"--health-addr=" + b.health},
	})
	if err != nil {
		return err
	}
	defer b.Stop()
	for _, step := range []func(context.Context) error{
		b.open, func(ctx context.Context) error { return b.disturb(ctx, o) }, b.awaitSent, func(ctx context.Context) error { return b.count(ctx, all) },
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("%w; logs are in %s", err, dir)
		}
	}
	return os.RemoveAll(filepath.Clean(dir))
}

// open makes the channel, and waits for its workers and for a controller that is ready.
func (b *brokerRun) open(ctx context.Context) error {
	channel := b.HTTPChannel(sink, v1alpha1.IdempotencyByKey)
	channel.Spec.Workers = &v1alpha1.WorkersSpec{Replicas: new(int32(2))}
	if err := b.Client.Create(ctx, channel); err != nil {
		return err
	}
	err := b.await(ctx, "the workers", func(ctx context.Context) (bool, string, error) {
		live, err := b.Broker.Registry.Workers(ctx, system.Tenant, sink)
		return len(live) == 2 && b.probe(ctx, "/readyz") == http.StatusOK, fmt.Sprintf("%d are live", len(live)), err
	})
	b.pids = b.processes()
	return err
}

// disturb creates the schedules, spread over the faults, and does these.
func (b *brokerRun) disturb(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go b.watchHealth(ctx)
	schedules := (o.reminders + perSchedule - 1) / perSchedule
	for i := range b.fault.faults {
		for n := schedules * i / b.fault.faults; n < schedules*(i+1)/b.fault.faults; n++ {
			if err := b.create(ctx, n, min(perSchedule, o.reminders-n*perSchedule)); err != nil {
				return err
			}
		}
		if err := b.fault.do(ctx, b, i); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		b.say("%s: %d of %d faults; %d of %d reminders are accepted", b.fault.name, i+1, b.fault.faults, b.Receiver.Stats().Accepted, o.reminders)
	}
	return nil
}

// create makes one schedule that falls due while the next faults happen.
func (b *brokerRun) create(ctx context.Context, i, n int) error {
	r := run{cell: b.fault.name, repeat: i}
	obj := system.OneOff(r.name(), sink, time.Now().Add(3*time.Second), n, "ada")
	obj.Spec.Delivery.Deadline.Duration = time.Hour
	b.schedule = append(b.schedule, r)
	return b.Client.Create(ctx, obj)
}

// watchHealth asks the liveness probe as a kubelet does.
func (b *brokerRun) watchHealth(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		status := b.probe(ctx, "/healthz")
		if ctx.Err() != nil {
			return
		}
		b.mu.Lock()
		b.answers++
		if status != http.StatusOK {
			b.unwell++
		}
		b.mu.Unlock()
	}
}

// probe answers the status of a probe; 0 when there is none.
func (b *brokerRun) probe(ctx context.Context, path string) int {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.health+path, nil)
	if err != nil {
		return 0
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

// processes are those of controller and workers.
func (b *brokerRun) processes() []int {
	var all []int
	for _, c := range b.Controllers {
		all = append(all, c.Pid())
	}
	for _, name := range b.Deployments() {
		for _, child := range b.Node.Children(name) {
			all = append(all, child.Process.Pid())
		}
	}
	return all
}

// sent is how many reminders of a schedule status calls sent.
func (b *brokerRun) counted(ctx context.Context, r run) (v1alpha1.ReminderCounts, error) {
	obj := &v1alpha1.ReminderSchedule{}
	err := b.Client.Get(ctx, client.ObjectKey{Namespace: system.Tenant, Name: r.name()}, obj)
	if err != nil || obj.Status.Counts == nil {
		return v1alpha1.ReminderCounts{}, err
	}
	return *obj.Status.Counts, nil
}

// awaitSent waits until status calls everything sent, or nothing changes any more.
func (b *brokerRun) awaitSent(ctx context.Context) error {
	open := b.schedule
	return b.await(ctx, "the last outcomes", func(ctx context.Context) (bool, string, error) {
		for len(open) > 0 {
			n, err := b.counted(ctx, open[0])
			if err != nil || n.Due == 0 || n.Sent != n.Due || n.Pending > 0 {
				return false, fmt.Sprintf("%s of %d: %+v", open[0].name(), len(b.schedule), n), err
			}
			open = open[1:]
		}
		return true, "", nil
	})
}

// count compares status, ledger and receiver.
func (b *brokerRun) count(ctx context.Context, all *brokerTotals) error {
	all.faults += b.fault.faults
	accepted := 0
	for _, r := range b.schedule {
		records, err := b.RecordsOf(ctx, r.name())
		if err != nil {
			return err
		}
		n, err := b.counted(ctx, r)
		if err != nil {
			return err
		}
		if n != countsOf(records) {
			all.wrong++
			b.say("%s: counters are %+v, want %+v", r.name(), n, countsOf(records))
		}
		all.acked += int(n.Due)
		all.stored += len(records)
		for i := range records {
			if records[i].State.Terminal() {
				all.terminal++
			}
			if records[i].State == reminder.Sent {
				accepted++
			}
		}
	}
	books := b.Receiver.Stats()
	all.lost += max(accepted-books.Accepted, 0)
	all.duplicates += books.Duplicates + max(books.Accepted-accepted, 0)
	return b.lived()
}

// lived: nobody has died of the broker's faults, or would have been killed for them.
func (b *brokerRun) lived() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.processes(); fmt.Sprint(now) != fmt.Sprint(b.pids) {
		return fmt.Errorf("processes are %v, they were %v", now, b.pids)
	}
	if b.unwell > 0 || b.answers == 0 {
		return fmt.Errorf("the liveness probe failed %d times of %d", b.unwell, b.answers)
	}
	return nil
}
