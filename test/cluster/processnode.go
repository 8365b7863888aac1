package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ProcessNodeOptions says which Deployments a [ProcessNode] runs, and as what.
type ProcessNodeOptions struct {
	Config    *rest.Config // of a user who may read Deployments and Secrets and write the Deployments' status
	Namespace string       // of the Deployments
	Selector  string       // of the Deployments' labels; all when empty
	Binary    string       // the program that stands for every image's entrypoint
	Env       []string     // "NAME=value", added to the environment of each child, failpoints, say
	Dir       string       // state folder, with a log file per pod; a temporary one, removed by Stop, when empty
	Log       io.Writer    // where it says what it does; nil discards
	NoRestart bool         // leave dead children dead; see also SetRestart
}

// ProcessNode stands in for the parts of a cluster that turn a Deployment into
// running containers, where there is no kubelet: each replica is a child
// process, named <deployment>-<index>. It does what a worker's Deployment needs:
//
//   - one container, whose image's entrypoint is Binary; args and env, with
//     $(NAME) and the name and namespace of the pod;
//   - volumes of Secrets, kept up to date, and emptyDir. A path below a mount
//     in args or env is rewritten to the folder on this machine;
//   - container ports: each child gets a port of its own, and an address such
//     as ":8080" in args or env is rewritten to it;
//   - readiness by httpGet or tcpSocket; a changed template replaces the pods
//     one after another; a dead child is started again;
//   - an end by SIGTERM and, after terminationGracePeriodSeconds, SIGKILL;
//   - the Deployment's status.
//
// It knows no limits, no liveness probes, no network policies and no Pod
// objects: those need a real node.
type ProcessNode struct {
	options   ProcessNodeOptions
	client    client.Client
	cache     cache.Cache
	wakeUp    chan struct{}
	cancel    context.CancelFunc
	ended     chan struct{} // closed when the loop has ended
	temporary bool

	mu        sync.Mutex
	sets      map[string]podSet // by Deployment
	noRestart map[string]bool   // by Deployment
}

// StartProcessNode starts to run Deployments. Stop ends it; the context only bounds the start.
func StartProcessNode(ctx context.Context, o ProcessNodeOptions) (_ *ProcessNode, err error) {
	n := &ProcessNode{
		options: o, wakeUp: make(chan struct{}, 1), ended: make(chan struct{}),
		sets: map[string]podSet{}, noRestart: map[string]bool{},
	}
	if n.options.Log == nil {
		n.options.Log = io.Discard
	}
	if o.Dir == "" {
		n.temporary = true
		if n.options.Dir, err = os.MkdirTemp("", "reminder-node-"); err != nil {
			return nil, fmt.Errorf("make the state folder: %w", err)
		}
	}
	if err := os.MkdirAll(n.options.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	if err := n.connect(); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	go func() { _ = n.cache.Start(run) }()
	if err := n.watch(ctx); err != nil {
		cancel()
		return nil, err
	}
	go n.loop(run)
	return n, nil
}

// connect makes the clients.
func (n *ProcessNode) connect() error {
	selector, err := labels.Parse(n.options.Selector)
	if err != nil {
		return fmt.Errorf("parse the selector: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(appsv1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return fmt.Errorf("make a scheme: %w", err)
	}
	if n.client, err = client.New(n.options.Config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	n.cache, err = cache.New(n.options.Config, cache.Options{
		Scheme:            scheme,
		DefaultNamespaces: map[string]cache.Config{n.options.Namespace: {}},
		ByObject:          map[client.Object]cache.ByObject{&appsv1.Deployment{}: {Label: selector}},
	})
	if err != nil {
		return fmt.Errorf("make a cache: %w", err)
	}
	return nil
}

// watch has every change of a Deployment or a Secret wake the loop.
func (n *ProcessNode) watch(ctx context.Context) error {
	for _, o := range []client.Object{&appsv1.Deployment{}, &corev1.Secret{}} {
		informer, err := n.cache.GetInformer(ctx, o)
		if err != nil {
			return fmt.Errorf("watch %T: %w", o, err)
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { n.wake() },
			UpdateFunc: func(any, any) { n.wake() },
			DeleteFunc: func(any) { n.wake() },
		})
		if err != nil {
			return fmt.Errorf("watch %T: %w", o, err)
		}
	}
	return nil
}

// wake has the loop look at everything again, soon.
func (n *ProcessNode) wake() {
	select {
	case n.wakeUp <- struct{}{}:
	default: // it is about to
	}
}

func (n *ProcessNode) loop(ctx context.Context) {
	defer close(n.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wakeUp:
			if err := n.sync(ctx); err != nil && ctx.Err() == nil {
				n.logf("%v", err)
				time.AfterFunc(500*time.Millisecond, n.wake)
			}
		}
	}
}

// sync brings the children in line with the Deployments, and their status with the children.
func (n *ProcessNode) sync(ctx context.Context) error {
	var list appsv1.DeploymentList
	if err := n.cache.List(ctx, &list, client.InNamespace(n.options.Namespace)); err != nil {
		return fmt.Errorf("list Deployments: %w", err)
	}
	var errs []error
	live := map[string]bool{}
	for i := range list.Items {
		d := &list.Items[i]
		if d.DeletionTimestamp == nil {
			live[d.Name] = true
			errs = append(errs, n.writeStatus(ctx, d, n.syncSet(d)))
		}
	}
	n.dropSets(live)
	return errors.Join(errs...)
}

// syncSet brings the pods of one Deployment in line with it and counts them.
func (n *ProcessNode) syncSet(d *appsv1.Deployment) counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.sets[d.Name]
	if !ok {
		s = podSet{}
		n.sets[d.Name] = s
	}
	return s.sync(n, d)
}

// dropSets ends the pods of Deployments that are gone.
func (n *ProcessNode) dropSets(live map[string]bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, s := range n.sets {
		if live[name] {
			continue
		}
		s.scale(0)
		if len(s) == 0 {
			delete(n.sets, name)
		}
	}
}

// Stop ends all children and waits for that: in order when they do that within
// ten seconds. The Deployments are left as they are.
func (n *ProcessNode) Stop() {
	n.cancel()
	<-n.ended
	n.mu.Lock()
	var all []*pod
	for _, s := range n.sets {
		for _, p := range s {
			p.hurry()
			p.stop()
			all = append(all, p)
		}
	}
	n.mu.Unlock()
	for _, p := range all {
		<-p.done
	}
	if n.temporary {
		_ = os.RemoveAll(n.options.Dir)
	}
}

// logf writes a line to the log.
func (n *ProcessNode) logf(format string, args ...any) {
	fmt.Fprintf(n.options.Log, "process node: "+format+"\n", args...)
}

// podDir is the folder of one pod's volumes; its log lies beside it.
func (n *ProcessNode) podDir(name string) string { return filepath.Join(n.options.Dir, name) }
