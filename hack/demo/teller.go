package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// teller writes what happens, each line with the seconds since the beginning.
type teller struct {
	start time.Time
	logs  string // where more can be read, for errors
	// check answers an error when waiting is of no use any more; nil never does.
	check func() error

	mu   sync.Mutex
	out  io.Writer
	part []byte // of a line that was written in pieces
}

func newTeller(out io.Writer, logs string) *teller {
	return &teller{start: time.Now(), logs: logs, out: out}
}

// say writes one line.
func (t *teller) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(fmt.Sprintf(format, args...))
}

func (t *teller) line(s string) { fmt.Fprintf(t.out, "[%4ds] %s\n", t.seconds(), s) }

func (t *teller) seconds() int { return int(time.Since(t.start).Seconds()) }

// Write takes the messages of others, line by line.
func (t *teller) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.part = append(t.part, p...)
	for {
		line, rest, whole := bytes.Cut(t.part, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		t.line(string(line))
		t.part = rest
	}
}

// print writes text as it is.
func (t *teller) print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out, strings.TrimRight(text, "\n"))
}

// await polls until look says that it is done, and says what it sees whenever
// that has changed. An error of look may pass; await fails when a check does or
// when the limit is over.
func (t *teller) await(ctx context.Context, what string, limit time.Duration, look func(context.Context) (done bool, seen string, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last, said := "", time.Time{}
	for {
		done, seen, err := look(ctx)
		if seen != last && seen != "" && (done || time.Since(said) >= time.Second) {
			t.say("  %s", seen)
			last, said = seen, time.Now()
		}
		if done && err == nil {
			return nil
		}
		if t.check != nil && t.check() != nil {
			return fmt.Errorf("wait until %s: %w", what, t.check())
		}
		select {
		case <-ctx.Done():
			return t.gaveUp(what, context.Cause(ctx), seen, err)
		case <-tick.C:
		}
	}
}

func (t *teller) gaveUp(what string, cause error, seen string, err error) error {
	text := "nothing yet"
	if seen != "" {
		text = seen
	}
	if err != nil {
		text = err.Error()
	}
	return fmt.Errorf("wait until %s: %w; last seen: %s; see the logs in %s", what, cause, text, t.logs)
}
