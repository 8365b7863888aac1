// Command bench measures the whole product on real parts (make bench): many
// schedules that fall due at one instant, on several channels of type Log with
// one worker each, beside a raw NATS loop of the same shape on a server with the
// same settings:
//
//	go run ./test/bench [-schedules 1000] [-recipients 10] [-channels 4]
//
// Correctness decides the exit code: every reminder is recorded as sent, none
// early, and the counts in status add up. Speed and memory are printed and never
// judged: they are those of this machine at that moment. Lateness is the ledger's
// FinishTime less ReleaseTime. It ends with lines such as
//
//	bench: schedules-1000 product=<p99 lateness> raw=<p99 lateness> ratio=<product/raw>
//	bench: memory controller-rss=<n>MiB schedules=1000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/reminder-operator/reminder-operator/test/system"
)

// options are the sizes of a run.
type options struct {
	schedules, recipients, channels, concurrency int
	lead                                         time.Duration
	raw                                          bool
}

func (o options) reminders() int { return o.schedules * o.recipients }

func main() {
	var o options
	flag.IntVar(&o.schedules, "schedules", 1000, "number of schedules")
	flag.IntVar(&o.recipients, "recipients", 10, "recipients of each")
	flag.IntVar(&o.channels, "channels", 4, "channels, with one worker each")
	flag.IntVar(&o.concurrency, "concurrency", 32, "reminders in flight per worker")
	flag.DurationVar(&o.lead, "lead", 0, "from the first object to the due time; default 30s and 60ms per schedule, so that planning is over by then")
	flag.BoolVar(&o.raw, "raw", true, "run the raw NATS loop too")
	flag.Parse()
	ctrl.SetLogger(logr.Discard()) // the clients' chatter; the product's processes log to files
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures, prints, and fails when something was not as it must be.
func run(ctx context.Context, o options, out io.Writer) error {
	if o.schedules < 1 || o.recipients < 1 || o.channels < 1 || o.concurrency < 1 || flag.NArg() > 0 {
		return errors.New("sizes are at least 1, and there are no other arguments; -h explains")
	}
	if o.lead == 0 {
		o.lead = 30*time.Second + time.Duration(o.schedules)*60*time.Millisecond
	}
	ctx, cancel := system.WithParents(ctx)
	defer cancel()
	dir, err := os.MkdirTemp("", "reminder-bench-")
	if err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	p := &printer{out: out, start: time.Now()}
	product, err := measureProduct(ctx, p, dir, o)
	if err == nil && o.raw {
		product.raw, err = measureRaw(ctx, p, dir, o)
	}
	if err != nil {
		return fmt.Errorf("%w; logs are in %s", err, dir)
	}
	product.print(out, o)
	if len(product.problems) > 0 {
		return fmt.Errorf("%d things are not as they must be; logs are in %s", len(product.problems), dir)
	}
	return os.RemoveAll(dir)
}

// printer writes progress, each line with the seconds since the beginning.
type printer struct {
	out   io.Writer
	start time.Time
	mu    sync.Mutex
}

func (p *printer) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "[%4ds] "+format+"\n", append([]any{int(time.Since(p.start).Seconds())}, args...)...)
}

// Write takes the messages of the servers' start.
func (p *printer) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		p.say("%s", strings.TrimRight(line, "\n"))
	}
	return len(text), nil
}

// await polls until look says that it is done, and shows every few seconds what
// it sees. An error of look may pass.
func (p *printer) await(ctx context.Context, what string, limit, every time.Duration, look func(context.Context) (done bool, seen string, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	last, said := "", time.Now()
	for {
		done, seen, err := look(ctx)
		if seen != last && (done || time.Since(said) > 4*time.Second) {
			p.say("  %s", seen)
			last, said = seen, time.Now()
		}
		if done && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last seen: %s", what, errors.Join(context.Cause(ctx), err), seen)
		case <-tick.C:
		}
	}
}
