package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

func shell(t *testing.T, script string) *cluster.Process {
	t.Helper()
	p, err := cluster.StartProcess(cluster.Command{
		Name: "script", Path: "/bin/sh", Args: []string{"-c", script},
		Env: []string{"GREETING=hello"}, LogFile: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

func TestProcessReportsItsEnd(t *testing.T) {
	t.Parallel()
	p := shell(t, `echo one; echo two; echo $GREETING >&2; exit 3`)
	err := p.Wait(t.Context())
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v, want exit status 3", err)
	}
	if diff := cmp.Diff("two\nhello", p.Tail(2)); diff != "" {
		t.Errorf("the end of the log (-want +got):\n%s", diff)
	}
	if p.Running() {
		t.Error("it counts as running after its end")
	}
}

func TestProcessIsKilledWithItsChildren(t *testing.T) {
	t.Parallel()
	p := shell(t, `sleep 600 & echo $!; wait`)
	eventually(t, "it prints the id of its child", func() bool { return p.Tail(1) != "" })
	child, err := strconv.Atoi(p.Tail(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child has gone", func() bool { return gone(child) })
}

func TestProcessStopsByForceAfterItsGrace(t *testing.T) {
	t.Parallel()
	p := shell(t, `trap "" TERM; echo deaf; while :; do sleep 0.05; done`)
	eventually(t, "it ignores SIGTERM", func() bool { return p.Tail(1) == "deaf" })
	if err := p.Stop(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if p.Running() {
		t.Error("it runs after Stop")
	}
}

func TestProcessStartsAgain(t *testing.T) {
	t.Parallel()
	p := shell(t, `echo run`)
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := p.Pid()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Pid() == first {
		t.Error("it has the same id as before")
	}
	if diff := cmp.Diff("run\nrun", p.Tail(9)); diff != "" {
		t.Errorf("the log of both runs (-want +got):\n%s", diff)
	}
}

func TestProcessWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := shell(t, `sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want the context's error", err)
	}
}

// A parent that is killed cannot clean up: the kernel must.
func TestNoProcessOutlivesAKilledParent(t *testing.T) {
	t.Parallel()
	for name, kube := range map[string]string{"nats-server only": "", "with a control plane": "yes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent, pids := startParent(t, kube)
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait()
			for _, pid := range pids {
				eventually(t, "process "+strconv.Itoa(pid)+" has gone", func() bool { return gone(pid) })
			}
		})
	}
}

// startParent starts this test binary as a program that runs a cluster, and
// returns it and the ids of the cluster's processes.
func startParent(t *testing.T, kube string) (*exec.Cmd, []int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=parent", "CLUSTER_TEST_DIR="+t.TempDir(), "CLUSTER_TEST_KUBE="+kube)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the parent said %q", lines.Text())
		}
		if gone(pid) {
			t.Fatalf("process %d does not run", pid)
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		t.Fatal("the parent started nothing")
	}
	return cmd, pids
}

// gone reports whether a process has ended. One that ended may still wait for
// the machine's first process to collect it.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
