package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Child is one pod of a [ProcessNode], as it is at the moment.
type Child struct {
	Name    string            // of the pod: <deployment>-<index>
	Process *Process          // nil as long as it cannot start, for want of a Secret, say; the same over restarts
	Ready   bool              // by the readiness probe
	Ports   map[string]string // "127.0.0.1:<port>" by the name and by the number of a container port
	Mounts  map[string]string // folder on this machine by mountPath
	Problem string            // why it does not start
}

// Children returns the pods of a Deployment, by index.
func (n *ProcessNode) Children(deployment string) []Child {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.sets[deployment]
	var children []Child
	for _, index := range s.indexes() {
		children = append(children, s[index].child())
	}
	return children
}

// Kill kills all children of a Deployment (SIGKILL).
func (n *ProcessNode) Kill(deployment string) error { return n.each(deployment, (*Process).Kill) }

// Pause stops all children of a Deployment where they are (SIGSTOP).
func (n *ProcessNode) Pause(deployment string) error { return n.each(deployment, (*Process).Pause) }

// Resume lets all paused children of a Deployment go on (SIGCONT).
func (n *ProcessNode) Resume(deployment string) error { return n.each(deployment, (*Process).Resume) }

func (n *ProcessNode) each(deployment string, do func(*Process) error) error {
	var errs []error
	for _, c := range n.Children(deployment) {
		if c.Process != nil {
			errs = append(errs, do(c.Process))
		}
	}
	return errors.Join(errs...)
}

// SetRestart says whether dead children of a Deployment are started again.
func (n *ProcessNode) SetRestart(deployment string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.noRestart[deployment] = !on
}

// SetEnv replaces the options' Env for children that are started or started again from now on.
func (n *ProcessNode) SetEnv(env ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.options.Env = env
}

func (n *ProcessNode) env() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.options.Env
}

// restarts reports whether dead children of a Deployment are started again.
func (n *ProcessNode) restarts(deployment string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	off, said := n.noRestart[deployment]
	if said {
		return !off
	}
	return !n.options.NoRestart
}

// WaitReady waits until a Deployment has exactly so many children and all are ready.
func (n *ProcessNode) WaitReady(ctx context.Context, deployment string, replicas int) error {
	notReady := func(c Child) bool { return !c.Ready }
	var last []Child
	ok := poll(ctx.Done(), 20*time.Millisecond, func() bool {
		last = n.Children(deployment)
		return len(last) == replicas && !slices.ContainsFunc(last, notReady)
	})
	if !ok {
		return fmt.Errorf("wait for %d ready children of %s: %w; they are %+v", replicas, deployment, context.Cause(ctx), last)
	}
	return nil
}
