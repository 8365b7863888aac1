package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// daemonCommand is what up starts in the background; it is not for people.
const daemonCommand = "daemon"

// lockFD is the file descriptor by which up hands its lock on.
const lockFD = 3

// state is what a daemon says of itself once everything runs.
type state struct {
	PID        int    `json:"pid"`
	Kubeconfig string `json:"kubeconfig"`
	Kubectl    string `json:"kubectl"`
	NATS       string `json:"nats"`
	Receiver   string `json:"receiver"`
	Operator   string `json:"operatorLog"`
	Worker     string `json:"workerLog"`
	Accepted   string `json:"receiverLog"`
}

const (
	stateFile = "state.json"
	logFile   = "demo.log"
	upLimit   = 45 * time.Minute // the first time Kubernetes is built
	downLimit = 45 * time.Second
)

// up is the command: it starts the daemon, if there is none, and shows its
// beginning until everything runs.
func up(ctx context.Context, out io.Writer) error {
	p, err := placeOf("up")
	if err != nil {
		return err
	}
	lock, err := p.lock()
	if errors.Is(err, errBusy) {
		fmt.Fprintln(out, "It is running already.")
		return p.showState(ctx, out)
	}
	if err != nil {
		return err
	}
	err = p.launch(lock)
	lock.Close() // the daemon has its own
	if err != nil {
		return err
	}
	err = p.showState(ctx, out)
	if err == nil {
		return nil
	}
	return errors.Join(err, p.end())
}

// launch starts the daemon in a session of its own, with the lock.
func (p place) launch(lock *os.File) error {
	if err := errors.Join(setOwner(lock, 0), p.empty()); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	log, err := os.Create(p.file(logFile))
	if err != nil {
		return fmt.Errorf("make the log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(self, daemonCommand)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{lock} // becomes lockFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	return errors.Join(setOwner(lock, cmd.Process.Pid), cmd.Process.Release())
}

// showState copies the daemon's log until it says that everything runs, and
// prints what it says.
func (p place) showState(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, upLimit, fmt.Errorf("not within %s", upLimit))
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var log *os.File
	for {
		alive := p.busy() // before the log is read: nothing is missed
		if data, err := os.ReadFile(p.file(stateFile)); err == nil {
			return showState(out, data)
		}
		if log == nil {
			if f, err := os.Open(p.file(logFile)); err == nil {
				defer f.Close()
				log = f
			}
		}
		if log != nil {
			_, _ = io.Copy(out, log)
		}
		if !alive {
			return fmt.Errorf("start in the background: it has ended; see %s", p.file(logFile))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start in the background: %w; see %s", context.Cause(ctx), p.file(logFile))
		case <-tick.C:
		}
	}
}

func showState(out io.Writer, data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	_, err := fmt.Fprintf(out, `
It runs in the background, as process %d:
  KUBECONFIG    %s
  NATS          %s
  receiver      %s
Logs:
  operator      %s
  worker        %s
  receiver      %s
Try:
  export KUBECONFIG=%s
  %s get reminderschedules,reminderchannels -n %s -o wide
End it with: make dev-down
`, s.PID, s.Kubeconfig, s.NATS, s.Receiver, s.Operator, s.Worker, s.Accepted, s.Kubeconfig, s.Kubectl, namespace)
	return err
}

// daemon runs everything until it is told to end.
func daemon(ctx context.Context, out io.Writer) error {
	p, err := placeOf("up")
	if err != nil {
		return err
	}
	if !p.handedOver() {
		return fmt.Errorf("unknown command %q: %w", daemonCommand, errUsage)
	}
	t := newTeller(out, p.dir)
	s, err := start(ctx, t, p.dir)
	if err != nil {
		return err
	}
	defer s.close()
	due := time.Now().Add(30 * time.Second).Truncate(time.Second)
	if err := s.apply(ctx, due, schedules...); err != nil {
		return err
	}
	if err := p.writeState(ctx, s); err != nil {
		return err
	}
	t.say("Everything runs; the first reminders fall due at %s", due.UTC().Format(time.TimeOnly))
	<-ctx.Done()
	t.say("Ending everything")
	return nil
}

func (p place) writeState(ctx context.Context, s *site) error {
	obj, err := s.channel(ctx)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(state{
		PID: os.Getpid(), Kubeconfig: s.Kube.Kubeconfig, Kubectl: filepath.Join(s.Kube.Bin, "kubectl"),
		NATS: s.NATS.URL, Receiver: s.statsURL(), Operator: s.Controllers[0].LogFile(),
		Worker:   filepath.Join(p.dir, "workers", obj.Status.DeploymentName+"-0.log"),
		Accepted: p.file("receiver.accepted.jsonl"),
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	if err := os.WriteFile(p.file(stateFile+".new"), data, 0o600); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	if err := os.Rename(p.file(stateFile+".new"), p.file(stateFile)); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	return nil
}

// down is the command: it ends the daemon and removes what it left.
func down(_ context.Context, out io.Writer) error {
	p, err := placeOf("up")
	if err != nil {
		return err
	}
	was := p.busy()
	if err := p.end(); err != nil {
		return err
	}
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("remove the state folder: %w", err)
	}
	if !was {
		_, err = fmt.Fprintln(out, "Nothing was running.")
		return err
	}
	_, err = fmt.Fprintln(out, "Ended.")
	return err
}

// end has the daemon end, in order if it does that soon, and waits for it. What
// it started dies with it in any case.
func (p place) end() error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !p.busy() {
			return nil
		}
		pid, known := p.owner()
		if known {
			if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("end process %d: %w", pid, err)
			}
		}
		if p.awaitEnd(downLimit) {
			return nil
		}
	}
	return fmt.Errorf("end what runs in %s: it does not end", p.dir)
}

// awaitEnd waits until nobody works in the place, and tells whether that is so.
func (p place) awaitEnd(limit time.Duration) bool {
	expired := time.After(limit)
	for p.busy() {
		select {
		case <-expired:
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return true
}
