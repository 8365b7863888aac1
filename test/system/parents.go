package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// WithParents returns a context that ends when `go run` or make, which started
// this program, has gone: killed, they cannot hand a signal on.
func WithParents(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	chain := parents()
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if gone(chain) {
				cancel(errors.New("the process that started it has gone"))
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// parents are the ids of the parent process and, while they are go or make,
// those above it.
func parents() []int {
	pid := os.Getppid()
	chain := []int{pid}
	for {
		name, parent := inspect(pid)
		if name != "go" && name != "make" {
			return chain
		}
		above, _ := inspect(parent)
		if above != "go" && above != "make" {
			return chain
		}
		chain, pid = append(chain, parent), parent
	}
}

// gone tells whether one of the processes no longer is the parent of the next.
func gone(chain []int) bool {
	if os.Getppid() != chain[0] {
		return true
	}
	for i := range len(chain) - 1 {
		if _, parent := inspect(chain[i]); parent != chain[i+1] {
			return true
		}
	}
	return false
}

// inspect reads name and parent of a process; zero values where that is not known.
func inspect(pid int) (name string, parent int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	// pid (name) state ppid …, and the name may hold anything.
	head, tail := strings.Index(string(data), "("), strings.LastIndex(string(data), ")")
	if head < 0 || tail < head {
		return "", 0
	}
	if fields := strings.Fields(string(data[tail+1:])); len(fields) > 1 {
		parent, _ = strconv.Atoi(fields[1])
	}
	return string(data[head+1 : tail]), parent
}
