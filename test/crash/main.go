// Command crash kills real processes of the product at each boundary of its two
// protocols, and compares what became of every reminder with what the failure
// matrix says must (make crash):
//
//	go run ./test/crash [-cell W4/Park] [-repeats 3] [-batch 18]
//
// Workers die at W0 to W8, beside a receiver that accepts, rejects, or lets the
// sender time out with or without having accepted, under each of the three policies
// (a channel that deduplicates, and Retry and Park on one that does not). They send
// themselves SIGKILL at a failpoint, and inside the call are killed from outside
// while the receiver holds the request. Controllers die at C0 to C6: the leader is
// started again at once (alive), or only when the reminders are due (dead), or two
// of them work at once (doubled). All runs share one control plane.
//
// What must be true of each cell is a table: see expect.go. It prints progress and
// ends with
//
//	crash: runs=<n> lost=0 duplicates=0 counters=exact seconds=<n>
//
// A cell that is not as it must be is named, with the command that runs it again,
// and the exit code is 1.
//
// With -broker (make broker-faults) it is the broker that suffers, beside 10,000
// reminders for each kind of fault: one server is killed twenty times, of three the
// leaders ten times, and one stands still for 5, 30 and 120 s:
//
//	go run ./test/crash -broker [-cell kill|leader|stop] [-reminders 10000] [-faults n] [-stops 5s,30s]
//
// What was acknowledged must be stored and must have an outcome, and no liveness
// probe may fail. Its last line is
//
//	broker: faults=33 acked=30000 stored=30000 terminal=30000 lost=0 duplicates=0 counters=exact seconds=<n>
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// options say which part of the matrix runs.
type options struct {
	cell             string // a cell, or the beginning of its name; all when empty
	repeats          int    // of a worker cell
	schedulerRepeats int
	batch            int // worker cells at a time, one process each
	keep             bool

	broker            bool
	reminders, faults int             // of each kind of broker fault
	stops             []time.Duration // how long the broker stands still
}

func main() {
	var o options
	flag.StringVar(&o.cell, "cell", "", "run this cell only, such as W4/Park/reject or C3/dead, or all whose name begins so")
	flag.IntVar(&o.repeats, "repeats", 3, "runs of each worker cell")
	flag.IntVar(&o.schedulerRepeats, "scheduler-repeats", 5, "runs of each scheduler cell")
	flag.IntVar(&o.batch, "batch", 18, "worker cells at a time; each is a process")
	flag.BoolVar(&o.keep, "keep", false, "keep the logs although all went well")
	flag.BoolVar(&o.broker, "broker", false, "faults of the broker instead")
	flag.IntVar(&o.reminders, "reminders", 10_000, "with -broker: reminders beside each kind of fault")
	flag.IntVar(&o.faults, "faults", 0, "with -broker: at most so many of each kind; 0 means all")
	stops := flag.String("stops", "5s,30s,120s", "with -broker: how long the server stands still")
	flag.Parse()
	for text := range strings.SplitSeq(*stops, ",") {
		d, err := time.ParseDuration(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, "crash: -stops:", err)
			os.Exit(2)
		}
		o.stops = append(o.stops, d)
	}
	ctrl.SetLogger(logr.Discard()) // the clients' chatter; the product's processes log to files
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := system.WithParents(ctx)
	err := runMatrix(ctx, o, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

// runMatrix runs the matrix and fails when a cell is not as it must be.
func runMatrix(ctx context.Context, o options, out io.Writer) error {
	if o.broker {
		return runBrokerFaults(ctx, o, newPrinter(out))
	}
	workers, schedulers := workerCells(o), schedulerCells(o)
	if len(workers)+len(schedulers) == 0 || flag.NArg() > 0 || o.batch < 1 {
		return fmt.Errorf("no cell is named %q; names are like W4/Park/reject and C3/dead, and -h explains", o.cell)
	}
	dir, err := os.MkdirTemp("", "reminder-crash-")
	if err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	c, err := start(ctx, dir, out)
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := c.runAll(ctx, o, workers, schedulers); err != nil {
		return fmt.Errorf("%w; logs are in %s", err, dir)
	}
	c.printLast()
	if c.failed() {
		return fmt.Errorf("%d cells are not as they must be; logs are in %s", len(c.failures), dir)
	}
	if o.keep {
		return nil
	}
	return os.RemoveAll(dir)
}

// start starts the product without controllers.
func start(ctx context.Context, dir string, out io.Writer) (*crash, error) {
	c := &crash{printer: newPrinter(out)}
	c.say("Starting the control plane")
	var err error
	c.System, err = system.Start(ctx, system.Options{
		Options: cluster.Options{Dir: dir, Log: c.printer}, Controllers: -1, Failpoints: true,
	})
	if err != nil {
		return nil, fmt.Errorf("start the product: %w", err)
	}
	return c, nil
}

// runAll runs the cells, and looks at all of them again at the end: nothing may
// have come that nobody waited for.
func (c *crash) runAll(ctx context.Context, o options, workers []workerCell, schedulers []schedulerCell) error {
	if err := c.runWorkers(ctx, o, workers); err != nil {
		return err
	}
	if err := c.runSchedulers(ctx, schedulers); err != nil {
		return err
	}
	c.say("Looking at all %d runs once more", len(workers)+len(schedulers))
	for _, cell := range workers {
		c.judge(ctx, cell.run, cell.want)
	}
	for _, cell := range schedulers {
		c.judge(ctx, cell.run, cell.want)
	}
	c.judgeBooks()
	return ctx.Err()
}
