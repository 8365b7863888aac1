package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// printer writes progress, each line with the seconds since the beginning.
type printer struct {
	out   io.Writer
	start time.Time
	mu    sync.Mutex
}

func newPrinter(out io.Writer) *printer { return &printer{out: out, start: time.Now()} }

func (p *printer) seconds() int { return int(time.Since(p.start).Seconds()) }

func (p *printer) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "[%4ds] "+format+"\n", append([]any{p.seconds()}, args...)...)
}

// Write takes the messages of the servers' start, and drops those of single pods.
func (p *printer) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "process node:") {
			p.say("%s", strings.TrimRight(line, "\n"))
		}
	}
	return len(text), nil
}

// patience is how long anything may take that must come.
const patience = 3 * time.Minute

// await polls until look says that it is done, and shows every few seconds what
// it sees. An error of look may pass.
func (p *printer) await(ctx context.Context, what string, look func(context.Context) (done bool, seen string, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not within %s", patience))
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last, said := "", time.Now()
	for {
		done, seen, err := look(ctx)
		if done && err == nil {
			return nil
		}
		if seen != last && time.Since(said) > 10*time.Second {
			p.say("  waiting for %s: %s", what, seen)
			last, said = seen, time.Now()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last seen: %s", what, errors.Join(context.Cause(ctx), err), seen)
		case <-tick.C:
		}
	}
}
