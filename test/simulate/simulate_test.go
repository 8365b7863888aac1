package simulate

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seeds = flag.Int("seeds", 200, "how many seeds to simulate")
	seed  = flag.Int("seed", -1, "simulate this seed alone, and print all that happens")

	lost, duplicates, wrong, kills, done atomic.Int64
	inexact                              atomic.Bool
)

// TestMain prints what `make simulate` ends with.
func TestMain(m *testing.M) {
	flag.Parse()
	begin := time.Now()
	code := m.Run()
	if done.Load() > 0 {
		counters := "exact"
		if inexact.Load() {
			counters = "wrong"
		}
		fmt.Printf("simulate: kills=%d broken=%d\n", kills.Load(), wrong.Load())
		fmt.Printf("simulate: seeds=%d lost=%d duplicates=%d counters=%s seconds=%d\n",
			done.Load(), lost.Load(), duplicates.Load(), counters, int(time.Since(begin).Seconds()))
	}
	os.Exit(code)
}

// one simulates a seed.
func one(t *testing.T, seed uint64, keepLog bool) (w *world, v verdict) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(seed, keepLog)
		w.run(t.Context())
		v = w.judge(t.Context())
	})
	return w, v
}

// Row 9 of the failure matrix, with the real worker, tally and sweep.
func TestRow9Simulation(t *testing.T) {
	t.Parallel()
	if *seed >= 0 {
		w, _ := one(t, uint64(*seed), true)
		t.Log("\n" + strings.Join(w.log, "\n"))
		if len(w.wrong) > 0 {
			t.Errorf("seed %d:\n%s", *seed, strings.Join(w.wrong, "\n"))
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for n := next.Add(1) - 1; n < int64(*seeds); n = next.Add(1) - 1 {
				account(t, n)
			}
		})
	}
	all.Wait()
}

func account(t *testing.T, n int64) {
	w, v := one(t, uint64(n), false)
	done.Add(1)
	lost.Add(int64(v.lost))
	duplicates.Add(int64(v.duplicates))
	kills.Add(int64(w.killed))
	if !v.exact {
		inexact.Store(true)
	}
	if len(w.wrong) > 0 {
		wrong.Add(1)
		t.Errorf("seed %d; replay it with: go test ./test/simulate -run Simulation -v -seed %d\n%s", n, n, strings.Join(w.wrong, "\n"))
	}
}

// A seed that fails must fail again.
func TestASeedDecidesAll(t *testing.T) {
	t.Parallel()
	for n := range uint64(10) {
		a, _ := one(t, n, true)
		b, _ := one(t, n, true)
		if a.trace == b.trace {
			continue
		}
		for i := range min(len(a.log), len(b.log)) {
			if a.log[i] != b.log[i] {
				from := max(0, i-10)
				t.Errorf("seed %d differs at line %d:\n%s\n\n%s", n, i, strings.Join(a.log[from:i+3], "\n"), strings.Join(b.log[from:i+3], "\n"))
				break
			}
		}
	}
}
