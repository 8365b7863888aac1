package cluster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	podTick       = 100 * time.Millisecond // how often a pod looks at its process
	firstRestart  = 100 * time.Millisecond // the delay doubles with each early death
	slowest       = 5 * time.Second        // restart delay, at most
	stable        = 10 * time.Second       // a run this long resets the delay
	defaultGrace  = 30 * time.Second
	hurriedGrace  = 10 * time.Second
	waitingForEnv = "waiting for its volumes"
)

// pod runs one replica of a Deployment as a child process. Its goroutine alone
// changes it; mu guards what others read.
type pod struct {
	node             *ProcessNode
	deployment, name string
	hash             string // of its template
	template         corev1.PodTemplateSpec
	volumes          volumes
	grace            atomic.Int64 // nanoseconds
	stopOnce         sync.Once
	stopping         chan struct{}
	again            chan struct{} // something may have changed
	done             chan struct{}

	delay, started, restart time.Duration // see tick; times since epoch
	epoch                   time.Time

	mu   sync.Mutex
	view Child
}

// startPod starts the pod of an index; it runs until it is stopped.
func startPod(n *ProcessNode, d *appsv1.Deployment, index int, hash string) *pod {
	name := fmt.Sprintf("%s-%d", d.Name, index)
	p := &pod{
		node: n, deployment: d.Name, name: name, hash: hash, template: *d.Spec.Template.DeepCopy(),
		stopping: make(chan struct{}), again: make(chan struct{}, 1), done: make(chan struct{}),
		delay: firstRestart, epoch: time.Now(), view: Child{Name: name, Problem: waitingForEnv},
	}
	p.volumes = volumes{dir: n.podDir(name), namespace: d.Namespace, reader: n.cache}
	p.grace.Store(int64(defaultGrace))
	if s := p.template.Spec.TerminationGracePeriodSeconds; s != nil {
		p.grace.Store(*s * int64(time.Second))
	}
	go p.run()
	return p
}

// run is the pod's life.
func (p *pod) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer p.node.wake()
	defer close(p.done)
	defer os.RemoveAll(p.volumes.dir)
	defer cancel()
	tick := time.NewTicker(podTick)
	defer tick.Stop()
	var l *launch
	for {
		select {
		case <-p.stopping:
			p.end()
			return
		case <-p.again:
			p.refresh(ctx)
		case <-tick.C:
		}
		if l == nil {
			l = p.start(ctx)
			continue
		}
		p.tick(ctx, l)
	}
}

// start starts the process when its volumes are complete. It returns nil when it did not.
func (p *pod) start(ctx context.Context) *launch {
	l, process, err := p.tryStart(ctx)
	p.mu.Lock()
	old := p.view.Problem
	if err == nil {
		p.view.Process, p.view.Ports, p.view.Mounts, p.view.Problem = process, l.ports, l.mounts, ""
		p.started = time.Since(p.epoch)
	} else {
		p.view.Problem = err.Error()
	}
	p.mu.Unlock()
	if err != nil {
		if err.Error() != old {
			p.node.logf("pod %s does not start: %v", p.name, err)
		}
		return nil
	}
	p.node.logf("pod %s started as process %d", p.name, process.Pid())
	return l
}

func (p *pod) tryStart(ctx context.Context) (*launch, *Process, error) {
	if len(p.template.Spec.Containers) != 1 {
		return nil, nil, fmt.Errorf("run pod %s: it has %d containers, and only one can be run here", p.name, len(p.template.Spec.Containers))
	}
	container := &p.template.Spec.Containers[0]
	mounts, err := p.volumes.mount(ctx, p.template.Spec.Volumes, container.VolumeMounts)
	if err != nil {
		return nil, nil, err
	}
	l, err := newLaunch(container, podNames{name: p.name, namespace: p.volumes.namespace}, mounts, FreePort)
	if err != nil {
		return nil, nil, err
	}
	process, err := StartProcess(Command{
		Name: p.name, Path: p.node.options.Binary, Args: l.args, OnlyEnv: true,
		Env: p.environment(l), LogFile: p.node.podDir(p.name) + ".log",
	})
	return l, process, err
}

// environment is that of a process that is started now: little of ours, as in a container.
func (p *pod) environment(l *launch) []string {
	env := []string{"HOSTNAME=" + p.name}
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(append(env, p.node.env()...), l.env...)
}

// tick looks at the process: whether it is ready, whether it must be started again.
func (p *pod) tick(ctx context.Context, l *launch) {
	process := p.child().Process
	if process.Running() {
		p.setReady(l.probe(ctx))
		p.restart = 0
		return
	}
	p.setReady(false)
	now := time.Since(p.epoch)
	if p.restart == 0 { // it died just now
		if now-p.started > stable {
			p.delay = firstRestart
		}
		p.restart = now + p.delay
		p.delay = min(2*p.delay, slowest)
		p.node.logf("pod %s ended", p.name)
	}
	if now < p.restart || !p.node.restarts(p.deployment) {
		return
	}
	p.started, p.restart = now, 0
	if err := process.StartWithEnv(p.environment(l)...); err != nil {
		p.node.logf("%v", err)
		return
	}
	p.node.logf("pod %s started again as process %d", p.name, process.Pid())
}

// refresh brings the volumes of a running pod up to date. A Secret that has
// gone leaves the files as they were, as a kubelet does.
func (p *pod) refresh(ctx context.Context) {
	if p.child().Process == nil {
		return
	}
	container := &p.template.Spec.Containers[0]
	if _, err := p.volumes.mount(ctx, p.template.Spec.Volumes, container.VolumeMounts); err != nil {
		p.node.logf("pod %s keeps its volumes: %v", p.name, err)
	}
}

// end ends the process, in order if it can.
func (p *pod) end() {
	p.setReady(false)
	process := p.child().Process
	if process == nil {
		return
	}
	if err := process.Stop(time.Duration(p.grace.Load())); err != nil {
		p.node.logf("%v", err)
	}
	p.node.logf("pod %s was ended", p.name)
}

// stop has the pod end. It does not wait for that.
func (p *pod) stop() { p.stopOnce.Do(func() { close(p.stopping) }) }

// hurry shortens the grace period, and has a paused process take the signal.
func (p *pod) hurry() {
	p.grace.Store(min(p.grace.Load(), int64(hurriedGrace)))
	if process := p.child().Process; process != nil {
		_ = process.Resume() // it may have ended
	}
}

// lookAgain has the pod compare its volumes with the Secrets.
func (p *pod) lookAgain() {
	select {
	case p.again <- struct{}{}:
	default:
	}
}

func (p *pod) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// child is the pod as others see it.
func (p *pod) child() Child {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.view
	c.Ports, c.Mounts = maps.Clone(c.Ports), maps.Clone(c.Mounts)
	return c
}

// setReady notes whether the pod is ready and has the node report a change.
func (p *pod) setReady(ready bool) {
	p.mu.Lock()
	changed := p.view.Ready != ready
	p.view.Ready = ready
	p.mu.Unlock()
	if changed {
		p.node.wake()
	}
}
