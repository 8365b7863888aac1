package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// leaderOf is the server that leads a stream, or a consumer of it; nil while nobody does.
func leaderOf(t *testing.T, s *system.System, js jetstream.JetStream, stream, consumer string) *cluster.NATS {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	handle, err := js.Stream(ctx, stream)
	if err != nil {
		return nil
	}
	info := handle.CachedInfo().Cluster
	if consumer != "" {
		c, err := handle.Consumer(ctx, consumer)
		if err != nil {
			return nil
		}
		info = c.CachedInfo().Cluster
	}
	for _, n := range s.Servers {
		if info != nil && n.Name() == info.Leader {
			return n
		}
	}
	return nil
}

// Row 23: of three servers, those that lead the jobs, the ledger and the consumer are
// killed, one after the other, while reminders fall due. make broker-faults kills more.
func TestRow23LeadersOfAClusterKilled(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Options: cluster.Options{Servers: 3}})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	js := jetStream(t, s)
	const n = 40
	leads := [][2]string{{"REMINDERS-0", ""}, {"KV_reminders-ledger-0", ""}, {"REMINDERS-0", "shop_mail"}}
	for i, what := range leads {
		s.Create(t, system.OneOff("burst-"+strconv.Itoa(i), "mail", time.Now().Add(3*time.Second), n, "ada"))
		var leader *cluster.NATS
		system.Eventually(t, "somebody leads", func() (bool, string) {
			leader = leaderOf(t, s, js, what[0], what[1])
			return leader != nil, fmt.Sprint(what)
		})
		if err := leader.Kill(); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		system.Eventually(t, "another one leads", func() (bool, string) {
			next := leaderOf(t, s, js, what[0], what[1])
			return next != nil && next != leader, fmt.Sprint(what)
		})
		t.Logf("%s was killed; another leads %v after %s", leader.Name(), what, time.Since(killed).Round(100*time.Millisecond))
		if err := leader.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := leader.WaitHealthy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range leads {
		s.WaitCounts(t, "burst-"+strconv.Itoa(i), "all sent", sent(n))
	}
	if got := s.Receiver.Stats(); got.Accepted != len(leads)*n || got.Duplicates != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d; want %d and 0", got.Accepted, got.Duplicates, len(leads)*n)
	}
}

// probes asks a controller for its health as a kubelet does, until the test ends.
type probes struct {
	address string
	mu      sync.Mutex
	alive   int
	dead    []string
	ready   bool
}

// probe starts to ask. Its system must be started with the option.
func (p *probes) probe(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			health, ready := p.get(ctx, "/healthz"), p.get(ctx, "/readyz")
			if ctx.Err() != nil {
				return
			}
			p.mu.Lock()
			if p.ready = ready == ""; health == "" {
				p.alive++
			} else {
				p.dead = append(p.dead, health)
			}
			p.mu.Unlock()
		}
	})
	t.Cleanup(func() { cancel(); asking.Wait() })
}

// get answers why a probe fails; nothing when it does not.
func (p *probes) get(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // the machine may be busy
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		return err.Error()
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return res.Status
	}
	return ""
}

// isReady waits until the readiness probe says so, or says no.
func (p *probes) isReady(t *testing.T, want bool) {
	t.Helper()
	system.Eventually(t, fmt.Sprintf("/readyz says %t", want), func() (bool, string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ready == want, fmt.Sprintf("%t", p.ready)
	})
}

// lived: the liveness probe has been answered all along, and nobody was started again.
func (p *probes) lived(t *testing.T, s *system.System, before []int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.dead) > 0 || p.alive == 0 {
		t.Errorf("/healthz failed %d times of %d: %v", len(p.dead), p.alive+len(p.dead), p.dead)
	}
	if now := pids(t, s); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("processes are %v, they were %v", now, before)
	}
}

// pids are the processes of controllers and workers.
func pids(t *testing.T, s *system.System) []int {
	t.Helper()
	var all []int
	for _, c := range s.Controllers {
		all = append(all, c.Pid())
	}
	for _, child := range s.Node.Children(s.WorkersOf(t, "mail")) {
		all = append(all, child.Process.Pid())
	}
	return all
}

// probed starts a system whose controller has probes.
func probed(t *testing.T, o system.Options) (*system.System, *probes) {
	t.Helper()
	port, err := cluster.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	p := &probes{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	o.ControllerArgs = append(o.ControllerArgs, "--health-addr="+p.address)
	s := system.StartT(t, o)
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	p.probe(t)
	p.isReady(t, true)
	p.mu.Lock()
	p.dead = nil // it may not have been up at once
	p.mu.Unlock()
	return s, p
}

// Row 24: the broker stands still, for five seconds while reminders fall due, and then
// for as long as it takes until everybody has noticed.
func TestRow24BrokerStandsStill(t *testing.T) {
	t.Parallel()
	s, p := probed(t, system.Options{})
	before := pids(t, s)
	const n = 50
	s.Create(t, system.OneOff("short", "mail", time.Now().Add(4*time.Second), n, "ada"))
	s.WaitRecords(t, "short", "planned", n, func(reminder.Record) bool { return true })
	standStill(t, s, func() { waitUntil(t, time.Now().Add(5*time.Second)) })
	s.WaitCounts(t, "short", "all sent", sent(n))
	// Both of these wait; one of them is edited meanwhile.
	far := time.Now().Add(10 * time.Minute)
	s.Create(t, system.OneOff("idle", "mail", far, n, "ada"), system.OneOff("due", "mail", time.Now().Add(6*time.Second), n, "ada"))
	s.WaitReason(t, "idle", v1alpha1.ReasonPlanned)
	s.WaitReason(t, "due", v1alpha1.ReasonPlanned)
	standStill(t, s, func() {
		s.WaitReason(t, "idle", v1alpha1.ReasonBrokerUnavailable)
		s.WaitReason(t, "due", v1alpha1.ReasonBrokerUnavailable)
		p.isReady(t, false)
	})
	s.WaitReason(t, "idle", v1alpha1.ReasonPlanned)
	s.WaitReason(t, "due", v1alpha1.ReasonFinished)
	s.WaitCounts(t, "due", "all sent", sent(n))
	p.isReady(t, true)
	p.lived(t, s, before)
	if got := s.Receiver.Stats(); got.Accepted != 2*n || got.Duplicates != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d; want %d and 0", got.Accepted, got.Duplicates, 2*n)
	}
}

// standStill stops the broker while something goes on.
func standStill(t *testing.T, s *system.System, meanwhile func()) {
	t.Helper()
	if err := s.NATS.Pause(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	meanwhile()
	t.Logf("the broker stood still for %s", time.Since(began).Round(100*time.Millisecond))
	if err := s.NATS.Resume(); err != nil {
		t.Fatal(err)
	}
}

// Row 25: nothing comes through to the broker, and then nothing from it, while
// connections seem to stand.
func TestRow25TheNetworkDropsOneWay(t *testing.T) {
	t.Parallel()
	net := newNetwork(t)
	s, p := probed(t, system.Options{Via: net.via})
	before := pids(t, s)
	const n = 20
	for i, w := range []way{toServer, toClient} {
		name := "row25-" + strconv.Itoa(i)
		s.Create(t, system.OneOff(name, "mail", time.Now().Add(5*time.Second), n, "ada"))
		s.WaitReason(t, name, v1alpha1.ReasonPlanned)
		net.drop(w, true)
		s.WaitReason(t, name, v1alpha1.ReasonBrokerUnavailable)
		net.drop(w, false)
		s.WaitReason(t, name, v1alpha1.ReasonFinished)
		s.WaitCounts(t, name, "all sent, "+string(w), sent(n))
	}
	p.lived(t, s, before)
	if got := s.Receiver.Stats(); got.Accepted != 2*n || got.Duplicates != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d; want %d and 0", got.Accepted, got.Duplicates, 2*n)
	}
}
