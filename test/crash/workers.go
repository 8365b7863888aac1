package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/controllers"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// workerCell is one run of a cell of workerTable: a channel with one worker, and one
// reminder.
type workerCell struct {
	run
	point, policy, answer string
	want                  outcome
	dies                  bool
	deployment            string
}

// workerCells are the runs that the options ask for, point by point.
func workerCells(o options) []workerCell {
	var all []workerCell
	for i, point := range workerPoints {
		for _, policy := range policies {
			for _, answer := range answers {
				name := point + "/" + policy + "/" + answer
				want, dies, err := parseWant(workerTable[policy][answer][i])
				if err != nil {
					panic(err) // a test reads the whole table
				}
				for repeat := 1; repeat <= o.repeats && strings.HasPrefix(name, o.cell); repeat++ {
					all = append(all, workerCell{run: run{name, repeat}, point: point, policy: policy, answer: answer, want: want, dies: dies})
				}
			}
		}
	}
	// Those that are armed alike run together.
	slices.SortStableFunc(all, func(a, b workerCell) int {
		return cmp.Or(cmp.Compare(a.point, b.point), cmp.Compare(a.armed(), b.armed()))
	})
	return all
}

// inCall: the worker is killed from outside, while the receiver holds its request.
func (w workerCell) inCall() bool { return w.point == "W3" && strings.HasPrefix(w.answer, "timeout") }

// armed is the environment of the cell's worker.
func (w workerCell) armed() string {
	if w.inCall() {
		return ""
	}
	return "REMINDER_FAILPOINT=" + w.point
}

// addresses that make the receiver behave as a cell wants.
var addresses = map[string]string{"accept": "ada", "reject": "reject", "timeout-accepted": "slow-once", "timeout-not": "stall-once"}

// timeouts of a submission: the shorter one ends a request that the receiver holds,
// the longer one leaves time to kill the worker meanwhile.
const timeout, longTimeout = 2 * time.Second, 10 * time.Second

func (w workerCell) channel(s *system.System) *v1alpha1.ReminderChannel {
	idempotency := v1alpha1.IdempotencyNone
	if w.policy == "ByKey" {
		idempotency = v1alpha1.IdempotencyByKey
	}
	obj := s.HTTPChannel(w.name(), idempotency)
	obj.Spec.HTTP.Timeout = &metav1.Duration{Duration: timeout}
	if w.inCall() {
		obj.Spec.HTTP.Timeout.Duration = longTimeout
	}
	if w.policy != "ByKey" {
		obj.Spec.HTTP.URL += "?dedupe=false"
	}
	return obj
}

func (w workerCell) schedule(due time.Time) *v1alpha1.ReminderSchedule {
	obj := system.OneOff(w.name(), w.name(), due, 1, addresses[w.answer])
	switch w.policy {
	case "Retry":
		obj.Spec.Delivery.OnUnknown = v1alpha1.OnUnknownRetry
	case "Park":
		obj.Spec.Delivery.OnUnknown = v1alpha1.OnUnknownPark
	}
	return obj
}

// runWorkers runs the cells in batches of those whose workers are armed alike, with
// a controller that stays alive.
func (c *crash) runWorkers(ctx context.Context, o options, cells []workerCell) error {
	if len(cells) == 0 {
		return nil
	}
	controller, err := c.StartController("controller-of-workers")
	if err != nil {
		return err
	}
	c.Controllers = append(c.Controllers, controller)
	defer controller.Kill() //nolint:errcheck // the next part starts its own; Stop ends what is left
	for done := 0; done < len(cells); {
		n := 1
		for done+n < len(cells) && n < o.batch && cells[done+n].armed() == cells[done].armed() {
			n++
		}
		batch := cells[done : done+n]
		if err := c.runBatch(ctx, batch); err != nil {
			return fmt.Errorf("batch %s to %s: %w", batch[0].cell, batch[n-1].cell, err)
		}
		done += n
		c.say("Workers: %d of %d runs, to %s; %d failed", done, len(cells), batch[n-1].cell, len(c.failures))
	}
	return nil
}

// runBatch starts a worker for each cell, has them die, starts them again and waits
// until all is as it must be.
func (c *crash) runBatch(ctx context.Context, batch []workerCell) error {
	c.Node.SetEnv(slices.DeleteFunc([]string{batch[0].armed()}, func(s string) bool { return s == "" })...)
	for i := range batch {
		if err := c.Client.Create(ctx, batch[i].channel(c.System)); err != nil {
			return err
		}
	}
	if err := c.await(ctx, "the workers", func(ctx context.Context) (bool, string, error) { return c.workersLive(ctx, batch) }); err != nil {
		return err
	}
	due := time.Now().Add(2 * time.Second)
	for i := range batch {
		c.Node.SetRestart(batch[i].deployment, false)
		if err := c.Client.Create(ctx, batch[i].schedule(due)); err != nil {
			return err
		}
	}
	if err := c.awaitDeaths(ctx, batch); err != nil {
		return err
	}
	c.Node.SetEnv()
	for i := range batch {
		c.Node.SetRestart(batch[i].deployment, batch[i].dies)
	}
	if err := c.awaitCells(ctx, batch); err != nil {
		return err
	}
	for i := range batch {
		if err := c.Client.Delete(ctx, batch[i].channel(c.System)); err != nil {
			return err
		}
	}
	return nil
}

// workersLive tells whether each cell has its Deployment and a live worker.
func (c *crash) workersLive(ctx context.Context, batch []workerCell) (bool, string, error) {
	var list appsv1.DeploymentList
	if err := c.Client.List(ctx, &list, client.InNamespace(system.OperatorNamespace)); err != nil {
		return false, "", err
	}
	deployments := map[string]string{}
	for i := range list.Items {
		deployments[list.Items[i].Labels[controllers.LabelChannel]] = list.Items[i].Name
	}
	live := 0
	for i := range batch {
		batch[i].deployment = deployments[batch[i].name()]
		workers, err := c.Broker.Registry.Workers(ctx, system.Tenant, batch[i].name())
		if err != nil {
			return false, "", err
		}
		if len(workers) > 0 && batch[i].deployment != "" {
			live++
		}
	}
	return live == len(batch), fmt.Sprintf("%d of %d are live", live, len(batch)), nil
}

// awaitDeaths waits until each worker that must die has; those that are killed in
// the call are killed here, once the receiver has their request.
func (c *crash) awaitDeaths(ctx context.Context, batch []workerCell) error {
	alive := slices.DeleteFunc(slices.Clone(batch), func(w workerCell) bool { return !w.dies })
	err := c.await(ctx, "the deaths", func(context.Context) (bool, string, error) {
		books := c.Receiver.Stats()
		alive = slices.DeleteFunc(alive, func(w workerCell) bool {
			if arrivals, _ := booked(books, w.name()); w.inCall() && arrivals > 0 {
				_ = c.Node.Kill(w.deployment) // it is looked at again
			}
			return !c.running(w.deployment)
		})
		return len(alive) == 0, fmt.Sprintf("%d workers are alive", len(alive)), nil
	})
	for _, w := range alive {
		c.fail(w.run, "its worker did not die at %s", w.point)
	}
	if ctx.Err() != nil {
		return err
	}
	return nil // the cells tell
}

func (c *crash) running(deployment string) bool {
	return slices.ContainsFunc(c.Node.Children(deployment), func(child cluster.Child) bool { return child.Process != nil && child.Process.Running() })
}

// awaitCells waits until all cells are as they must be and no message is left.
func (c *crash) awaitCells(ctx context.Context, batch []workerCell) error {
	open := slices.Clone(batch)
	seen := map[string]string{}
	err := c.await(ctx, "the outcomes", func(ctx context.Context) (bool, string, error) {
		var problem error
		open = slices.DeleteFunc(open, func(w workerCell) bool {
			ok, said, err := c.settledWorker(ctx, w)
			if err != nil {
				problem, said = err, err.Error()
			}
			seen[w.name()] = said
			return ok && err == nil
		})
		if len(open) == 0 {
			return true, "", nil
		}
		return false, fmt.Sprintf("%d are open, such as %s: %s", len(open), open[0].cell, seen[open[0].name()]), problem
	})
	for _, w := range open {
		c.fail(w.run, "%s; want %s", seen[w.name()], w.want)
	}
	if ctx.Err() != nil {
		return err
	}
	return nil
}

// settledWorker is settled, with a worker that runs and has nothing in hand.
func (c *crash) settledWorker(ctx context.Context, w workerCell) (bool, string, error) {
	ok, seen, err := c.settled(ctx, w.run, w.want)
	if !ok || err != nil {
		return false, seen, err
	}
	backlog, err := c.Broker.Queue.Backlog(ctx, system.Tenant, w.name())
	if err != nil || backlog.Waiting+backlog.InFlight > 0 {
		return false, fmt.Sprintf("as it must be, with messages left: %+v", backlog), err
	}
	return c.running(w.deployment), "its worker has died", nil
}
