package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// schedulerCell is one run of a cell of schedulerTable: a schedule that falls due
// once, and controllers that are armed for it.
type schedulerCell struct {
	run
	schedulerRow
	leader string
	want   outcome
}

// schedulerCells are the runs that the options ask for.
func schedulerCells(o options) []schedulerCell {
	var all []schedulerCell
	for _, leader := range leaders {
		for _, row := range schedulerTable {
			name := row.point + "/" + leader
			for repeat := 1; repeat <= o.schedulerRepeats && strings.HasPrefix(name, o.cell); repeat++ {
				all = append(all, schedulerCell{run: run{name, repeat}, schedulerRow: row, leader: leader, want: row.want()})
			}
		}
	}
	return all
}

// number of controllers that are armed.
func (s schedulerCell) number() int {
	if s.leader == "doubled" {
		return 2
	}
	return 1
}

// sink is the channel of all schedules of this part.
const sink = "sink"

// runSchedulers runs the cells one after another. The controllers of a run repair
// what those of the run before have left, and then die in their turn.
func (c *crash) runSchedulers(ctx context.Context, cells []schedulerCell) error {
	if len(cells) == 0 {
		return nil
	}
	armed, err := c.arm(schedulerCell{run: run{cell: "none"}, schedulerRow: schedulerRow{point: "none"}})
	if err != nil {
		return err
	}
	if err := c.Client.Create(ctx, c.HTTPChannel(sink, v1alpha1.IdempotencyByKey)); err != nil {
		return err
	}
	err = c.await(ctx, "the worker", func(ctx context.Context) (bool, string, error) {
		live, err := c.Broker.Registry.Workers(ctx, system.Tenant, sink)
		return len(live) > 0, fmt.Sprintf("%d are live", len(live)), err
	})
	if err != nil {
		return err
	}
	for i, cell := range cells {
		kill(armed)
		if armed, err = c.runScheduler(ctx, cell); err != nil {
			return fmt.Errorf("%s, run %d: %w; run it again by: go run ./test/crash -cell %s", cell.cell, cell.repeat, err, cell.cell)
		}
		if (i+1)%10 == 0 || i+1 == len(cells) {
			c.say("Schedulers: %d of %d runs, to %s; %d failed", i+1, len(cells), cell.cell, len(c.failures))
		}
	}
	return c.awaitSchedulers(ctx, cells)
}

// arm starts the controllers of a run.
func (c *crash) arm(s schedulerCell) ([]*cluster.Process, error) {
	var all []*cluster.Process
	for i := range s.number() {
		p, err := c.StartController(fmt.Sprintf("controller-%s-%d", s.name(), i), "REMINDER_FAILPOINT="+s.point, "REMINDER_FAILPOINT_IN="+s.name())
		if err != nil {
			kill(all)
			return nil, err
		}
		all = append(all, p)
		c.Controllers = append(c.Controllers, p)
	}
	return all, nil
}

func kill(all []*cluster.Process) {
	for _, p := range all {
		_ = p.Kill() // Stop ends what is left
	}
}

// runScheduler has one run's controllers die, and answers those that repair it.
func (c *crash) runScheduler(ctx context.Context, s schedulerCell) ([]*cluster.Process, error) {
	armed, err := c.arm(s)
	if err != nil {
		return nil, err
	}
	lead := 3 * time.Second
	if s.deleted {
		lead = 2 * time.Minute // nothing of it falls due
	}
	due := time.Now().Add(lead)
	if err := c.Client.Create(ctx, system.OneOff(s.name(), sink, due, recipients, "ada")); err != nil {
		return nil, err
	}
	if s.deleted {
		if err := c.deletePlanned(ctx, s); err != nil {
			return nil, err
		}
	}
	if err := c.awaitDeath(ctx, armed); err != nil {
		return nil, err
	}
	if s.leader == "dead" {
		if err := c.whileDead(ctx, s, due); err != nil {
			return nil, err
		}
	}
	return c.repair(ctx, s, armed)
}

// repair waits until the run's schedule is planned, or gone, by the controllers that
// live, or by a new one once all have died.
func (c *crash) repair(ctx context.Context, s schedulerCell, armed []*cluster.Process) ([]*cluster.Process, error) {
	err := c.await(ctx, "the repair", func(ctx context.Context) (bool, string, error) {
		if !slices.ContainsFunc(armed, (*cluster.Process).Running) {
			next, err := c.arm(schedulerCell{run: run{cell: "after-" + s.cell, repeat: s.repeat}, schedulerRow: schedulerRow{point: "none"}})
			if armed = append(armed, next...); err != nil {
				return false, "", err
			}
		}
		done, seen, err := c.observed(ctx, s)
		if s.deleted {
			return apierrors.IsNotFound(err), "it is there", client.IgnoreNotFound(err)
		}
		return done, seen, err
	})
	return armed, err
}

// deletePlanned deletes the schedule once its reminders are planned.
func (c *crash) deletePlanned(ctx context.Context, s schedulerCell) error {
	err := c.await(ctx, "planning", func(ctx context.Context) (bool, string, error) { return c.observed(ctx, s) })
	if err != nil {
		return err
	}
	obj := &v1alpha1.ReminderSchedule{}
	obj.Namespace, obj.Name = system.Tenant, s.name()
	return c.Client.Delete(ctx, obj)
}

// awaitDeath waits until one of the controllers has died.
func (c *crash) awaitDeath(ctx context.Context, armed []*cluster.Process) error {
	return c.await(ctx, "the death of a controller", func(context.Context) (bool, string, error) {
		return slices.ContainsFunc(armed, func(p *cluster.Process) bool { return !p.Running() }), "all are alive", nil
	})
}

// whileDead waits until the reminders are due, and those of them are sent whose
// messages were published. What was deleted has no message any more.
func (c *crash) whileDead(ctx context.Context, s schedulerCell, due time.Time) error {
	return c.await(ctx, "what is sent while no controller lives", func(ctx context.Context) (bool, string, error) {
		records, err := c.RecordsOf(ctx, s.name())
		if err != nil {
			return false, "", err
		}
		if s.deleted {
			return c.withdrawn(ctx, records)
		}
		sent := 0
		for i := range records {
			if records[i].State == reminder.Sent {
				sent++
			}
		}
		return sent >= s.leastOut && time.Now().After(due.Add(time.Second)), fmt.Sprintf("%d are sent, want %d", sent, s.leastOut), nil
	})
}

func (c *crash) withdrawn(ctx context.Context, records []reminder.Record) (bool, string, error) {
	for i := range records {
		standing, err := c.Broker.Queue.Standing(ctx, records[i].Key)
		if standing || err != nil {
			return false, "a message stands for " + records[i].Key.String(), err
		}
	}
	return len(records) == recipients, fmt.Sprintf("%d records", len(records)), nil
}

// observed tells whether a controller has planned the schedule and said so.
func (c *crash) observed(ctx context.Context, s schedulerCell) (bool, string, error) {
	obj := &v1alpha1.ReminderSchedule{}
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: system.Tenant, Name: s.name()}, obj)
	return err == nil && obj.Status.ObservedGeneration == obj.Generation, fmt.Sprintf("%+v", obj.Status), err
}

// awaitSchedulers waits until all runs are as they must be.
func (c *crash) awaitSchedulers(ctx context.Context, cells []schedulerCell) error {
	open, seen := slices.Clone(cells), map[string]string{}
	err := c.await(ctx, "the outcomes", func(ctx context.Context) (bool, string, error) {
		open = slices.DeleteFunc(open, func(s schedulerCell) bool {
			ok, said, err := c.settled(ctx, s.run, s.want)
			if seen[s.name()] = said; err != nil {
				seen[s.name()] = err.Error()
			}
			return ok && err == nil
		})
		if len(open) == 0 {
			return true, "", nil
		}
		return false, fmt.Sprintf("%d are open, such as %s: %s", len(open), open[0].cell, seen[open[0].name()]), nil
	})
	for _, s := range open {
		c.fail(s.run, "%s; want %s", seen[s.name()], s.want)
	}
	if ctx.Err() != nil {
		return err
	}
	return nil
}
