package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Command says what a [Process] runs.
type Command struct {
	Name    string   // for messages; the base name of Path when empty
	Path    string   // of the program
	Args    []string // without the program's name
	Env     []string // "NAME=value", added to the environment of this process
	OnlyEnv bool     // Env is the whole environment
	Dir     string   // working folder; that of this process when empty
	LogFile string   // where stdout and stderr are appended; discarded when empty
}

// Process is a child process. It may be started again after it ended; its
// methods then speak of the latest run. It dies with this process.
type Process struct {
	command Command

	mu  sync.Mutex
	run *run
}

// run is one run of a process. err may be read once ended is closed.
type run struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
}

// StartProcess starts a child process.
func StartProcess(c Command) (*Process, error) {
	if c.Name == "" {
		c.Name = filepath.Base(c.Path)
	}
	p := &Process{command: c}
	return p, p.Start()
}

// Start starts the same command again, after it ended.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.start()
}

// StartWithEnv is like Start, but with other variables than the Command's Env
// from now on: without the failpoint that ended the last run, say.
func (p *Process) StartWithEnv(env ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command.Env = env
	return p.start()
}

func (p *Process) start() error {
	if p.run != nil && !p.run.hasEnded() {
		return fmt.Errorf("start %s: it runs already as process %d", p.command.Name, p.run.cmd.Process.Pid)
	}
	r, err := startRun(p.command)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.command.Name, err)
	}
	p.run = r
	return nil
}

func startRun(c Command) (*run, error) {
	r := &run{cmd: exec.Command(c.Path, c.Args...), ended: make(chan struct{})}
	r.cmd.Env = append(r.cmd.Environ(), c.Env...)
	if c.OnlyEnv {
		r.cmd.Env = append([]string{}, c.Env...) // not nil: that would mean all of ours
	}
	r.cmd.Dir = c.Dir
	r.cmd.SysProcAttr = childAttr()
	if c.LogFile != "" {
		f, err := os.OpenFile(c.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r.cmd.Stdout, r.cmd.Stderr = f, f
	}
	var err error
	forker()(func() { err = r.cmd.Start() })
	if err != nil {
		return nil, err
	}
	go r.wait()
	return r, nil
}

// wait waits for the end and then ends what the process left behind in its group.
func (r *run) wait() {
	r.err = r.cmd.Wait()
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // mostly nobody is left
	close(r.ended)
}

func (r *run) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (p *Process) current() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// Name is what messages call the process.
func (p *Process) Name() string { return p.command.Name }

// LogFile is where the output goes, of all runs.
func (p *Process) LogFile() string { return p.command.LogFile }

// Pid is the process id of the latest run.
func (p *Process) Pid() int { return p.current().cmd.Process.Pid }

// Exited is closed when the latest run has ended.
func (p *Process) Exited() <-chan struct{} { return p.current().ended }

// Running reports whether the latest run goes on.
func (p *Process) Running() bool { return !p.current().hasEnded() }

// Wait waits for the latest run to end. It returns nil when that exited with
// code 0, an [exec.ExitError] when it did not, and the context's error when
// the context ends first.
func (p *Process) Wait(ctx context.Context) error {
	r := p.current()
	select {
	case <-r.ended:
	case <-ctx.Done():
		return fmt.Errorf("wait for %s: %w", p.command.Name, context.Cause(ctx))
	}
	if r.err != nil {
		return fmt.Errorf("run %s: %w", p.command.Name, r.err)
	}
	return nil
}

// Signal sends a signal to the process itself. A process that has ended takes none.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.current().cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal %s with %s: %w", p.command.Name, s, err)
	}
	return nil
}

// Pause stops the process where it is (SIGSTOP), without its noticing.
func (p *Process) Pause() error { return p.Signal(syscall.SIGSTOP) }

// Resume lets a paused process go on (SIGCONT).
func (p *Process) Resume() error { return p.Signal(syscall.SIGCONT) }

// Kill ends the process and its children at once (SIGKILL) and waits until it
// is gone. A process that has ended already is no error.
func (p *Process) Kill() error {
	r := p.current()
	if r.hasEnded() {
		return nil
	}
	// The group's number is the process's: it cannot be taken anew before Wait has returned.
	if err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %s: %w", p.command.Name, err)
	}
	<-r.ended
	return nil
}

// Stop asks the process to end (SIGTERM), waits for the grace period and then
// kills it and its children. Any end is fine.
func (p *Process) Stop(grace time.Duration) error {
	r := p.current()
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-r.ended:
		return nil
	case <-time.After(grace):
		return p.Kill()
	}
}

// Tail returns the last lines of the log file, for messages.
func (p *Process) Tail(lines int) string {
	data, err := os.ReadFile(p.command.LogFile)
	if err != nil {
		return ""
	}
	data = bytes.TrimRight(data, "\n")
	at := len(data)
	for ; lines > 0 && at > 0; lines-- {
		at = max(bytes.LastIndexByte(data[:at], '\n'), 0)
	}
	return string(bytes.TrimLeft(data[at:], "\n"))
}
