//go:build failpoint

package failpoint

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestMain is also the process that is killed: it passes two points three times.
func TestMain(m *testing.M) {
	if os.Getenv("REMINDER_FAILPOINT") == "" {
		os.Exit(m.Run())
	}
	for i := range 3 {
		fmt.Fprintf(os.Stdout, "%d ", i)
		Hit(W1Claimed)
		fmt.Fprintf(os.Stdout, "claimed ")
		Hit(W5Recorded)
		HitIn(C2Recorded, fmt.Sprintf("schedule-%d", i))
	}
	os.Exit(0)
}

// pass runs the process with an armed point until it ends or stops, and answers
// what it has written, how it ended, and how to let it go on.
func pass(t *testing.T, armed string) (wrote func() string, status syscall.WaitStatus, goOn func() syscall.WaitStatus) {
	t.Helper()
	var out bytes.Buffer
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0]) // without arguments it runs TestMain alone
	point, schedule, _ := strings.Cut(armed, " ")
	c.Env, c.Stdout = append(os.Environ(), "REMINDER_FAILPOINT="+point, "REMINDER_FAILPOINT_IN="+schedule), w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	wait := func(options int) syscall.WaitStatus {
		var s syscall.WaitStatus
		for {
			_, err := syscall.Wait4(c.Process.Pid, &s, options, nil)
			if err == nil {
				return s
			}
			if err != syscall.EINTR {
				t.Fatal(err)
			}
		}
	}
	status = wait(syscall.WUNTRACED)
	read := func() string {
		buffer := make([]byte, 4096)
		n, _ := r.Read(buffer)
		out.Write(buffer[:n])
		return strings.TrimSpace(out.String())
	}
	return read, status, func() syscall.WaitStatus {
		if err := c.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		return wait(0)
	}
}

func TestAnArmedPointKillsTheProcess(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		armed string
		want  string
	}{
		"at its first time":         {"W1", "0"},
		"at its second time":        {"W1@2", "0 claimed 1"},
		"at another point":          {"W5@3", "0 claimed 1 claimed 2 claimed"},
		"a bad number is the first": {"W5@x", "0 claimed"},
		"of any schedule":           {"C2", "0 claimed"},
		"of one schedule":           {"C2 schedule-1", "0 claimed 1 claimed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrote, status, _ := pass(t, tt.armed)
			if !status.Signaled() || status.Signal() != syscall.SIGKILL {
				t.Errorf("ended with %x, want SIGKILL", status)
			}
			if got := wrote(); got != tt.want {
				t.Errorf("got as far as %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAPointThatIsNotArmedDoesNothing(t *testing.T) {
	t.Parallel()
	for _, armed := range []string{"W2", "W1@4", "W", "C2 schedule", "C2@2 schedule-1"} {
		wrote, status, _ := pass(t, armed)
		if !status.Exited() || status.ExitStatus() != 0 || wrote() != "0 claimed 1 claimed 2 claimed" {
			t.Errorf("%s: ended with %x after %q", armed, status, wrote())
		}
	}
}

// A stopped process has not done a single thing behind the point.
func TestAnArmedPointStopsTheProcessThere(t *testing.T) {
	t.Parallel()
	for range 50 {
		wrote, status, goOn := pass(t, "W1:stop@2")
		if !status.Stopped() {
			t.Fatalf("ended with %x, want stopped", status)
		}
		if got := wrote(); got != "0 claimed 1" {
			t.Fatalf("stopped at %q, want at %q", got, "0 claimed 1")
		}
		if end := goOn(); !end.Exited() || end.ExitStatus() != 0 {
			t.Fatalf("ended with %x after it was told to go on", end)
		}
	}
}
