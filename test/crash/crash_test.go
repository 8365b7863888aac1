package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // the clients' chatter; the product's processes log to files
	m.Run()
}

// A fixed part of the matrix: the answer is read and not recorded, and the record
// is written and its message not published; make crash runs all of it.
func TestASmallPartOfTheCrashMatrix(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c, err := start(t.Context(), t.TempDir(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	c.out = &out
	workers := workerCells(options{cell: "W4", repeats: 1})
	schedulers := schedulerCells(options{cell: "C2", schedulerRepeats: 1})
	if len(workers) != 12 || len(schedulers) != 3 {
		t.Fatalf("%d and %d runs, want 12 and 3", len(workers), len(schedulers))
	}
	if err := c.runAll(t.Context(), options{batch: len(workers)}, workers, schedulers); err != nil {
		t.Error(err)
	}
	c.printLast()
	t.Log(out.String())
	if !strings.Contains(out.String(), "crash: runs=15 lost=0 duplicates=0 counters=exact seconds=") || c.failed() {
		t.Error("not all is as it must be")
	}
}

func TestTheTableOfWorkersIsWhole(t *testing.T) {
	t.Parallel()
	if n := len(workerCells(options{repeats: 1})); n != 9*4*3 {
		t.Errorf("%d cells, want 108", n)
	}
	for policy, rows := range workerTable {
		for answer, cells := range rows {
			for i, cell := range cells {
				want, dies, err := parseWant(cell)
				name := workerPoints[i] + "/" + policy + "/" + answer
				switch {
				case err != nil:
					t.Errorf("%s: %v", name, err)
				case policy == "ByKey" && want.effects > 1, policy == "Park" && want.effects > 1:
					t.Errorf("%s allows %d effects", name, want.effects)
				case policy == "Park" && want.arrivals > 1:
					t.Errorf("%s allows %d submissions", name, want.arrivals)
				case !want.dead() && want.effects == 0, want.dead() && want.state != parked && want.effects > 0:
					t.Errorf("%s says %s with %d effects", name, want.state, want.effects)
				case !dies && workerPoints[i] != "W2" && workerPoints[i] != "W6":
					t.Errorf("%s has a point that is never met", name)
				}
			}
		}
	}
}

func TestCellsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, cell := range []string{"", "Sent", "Sent a", "Sent x1", "Sent aa"} {
		if _, _, err := parseWant(cell); err == nil {
			t.Errorf("%q is read", cell)
		}
	}
}

// Failpoints are not in a release build: neither their names nor a call of them. A
// build with failpoints shows that they would be found.
func TestAReleaseBuildHasNoFailpoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tags  []string
		found bool
	}{{nil, false}, {[]string{"failpoint"}, true}} {
		path, err := cluster.BuildBinary(c.tags...)
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(program, []byte("REMINDER_FAILPOINT")); got != c.found {
			t.Errorf("built with tags %v: names the environment variable: %t, want %t", c.tags, got, c.found)
		}
		symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(symbols, []byte("internal/failpoint.Hit")); got != c.found {
			t.Errorf("built with tags %v: has the symbol Hit: %t, want %t", c.tags, got, c.found)
		}
	}
}
