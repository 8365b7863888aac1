package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// NATSConfig is what a test may want to differ from the defaults of nats-server.
type NATSConfig struct {
	SyncAlways bool   // fsync each write, as an installation that survives power loss does
	JetStream  string // further lines of the jetstream block, in the server's own syntax
	Server     string // further lines of the configuration (authorization, say)
}

// NATS is a running nats-server with JetStream on files.
type NATS struct {
	URL        string   // for clients
	MonitorURL string   // of the monitoring port
	StoreDir   string   // of JetStream
	Process    *Process // may be killed and started again: see Restart

	name string
	file string // its configuration
}

// startNATS starts one server with its state in dir.
func startNATS(ctx context.Context, dir string, log io.Writer, c NATSConfig) (*NATS, error) {
	bin, err := natsBin(ctx, log)
	if err != nil {
		return nil, err
	}
	n, err := launchNATS(bin, dir, "nats", c)
	if err != nil {
		return nil, err
	}
	if err := n.WaitReady(ctx); err != nil {
		_ = n.Kill()
		return nil, err
	}
	return n, nil
}

// StartNATSCluster starts servers that form one NATS cluster, for streams with
// replicas, and waits until its JetStream is healthy. The caller stops each.
func StartNATSCluster(ctx context.Context, dir string, log io.Writer, size int, c NATSConfig) (_ []*NATS, err error) {
	bin, err := natsBin(ctx, log)
	if err != nil {
		return nil, err
	}
	routes := make([]string, size)
	for i := range routes {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		routes[i] = loopback(port)
	}
	var servers []*NATS
	defer func() {
		if err != nil {
			stopAll(servers)
		}
	}()
	for i, route := range routes {
		member := c
		member.Server += fmt.Sprintf("\ncluster { name: test, listen: %q, routes: [\"nats://%s\"] }\n", route, strings.Join(routes, `", "nats://`))
		name := fmt.Sprintf("nats-%d", i)
		n, err := launchNATS(bin, filepath.Join(dir, name), name, member)
		if err != nil {
			return nil, err
		}
		servers = append(servers, n)
	}
	for _, n := range servers {
		if err := n.wait(ctx, "/healthz"); err != nil {
			return nil, err
		}
	}
	return servers, nil
}

func stopAll(servers []*NATS) {
	for _, n := range servers {
		_ = n.Kill()
	}
}

// launchNATS starts a server and does not wait for it.
func launchNATS(bin, dir, name string, c NATSConfig) (*NATS, error) {
	var ports [2]int
	for i := range ports {
		var err error
		if ports[i], err = FreePort(); err != nil {
			return nil, err
		}
	}
	n := &NATS{
		URL: "nats://" + loopback(ports[0]), MonitorURL: "http://" + loopback(ports[1]),
		StoreDir: filepath.Join(dir, "store"), name: name, file: filepath.Join(dir, name+".conf"),
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of nats-server: %w", err)
	}
	if err := n.configure(c); err != nil {
		return nil, err
	}
	p, err := StartProcess(Command{Name: name, Path: bin, Args: []string{"-c", n.file}, LogFile: filepath.Join(dir, name+".log")})
	n.Process = p
	return n, err
}

// configure writes the configuration file.
func (n *NATS) configure(c NATSConfig) error {
	js := fmt.Sprintf("store_dir: %q\n", n.StoreDir)
	if c.SyncAlways {
		js += "sync_interval: always\n"
	}
	text := fmt.Sprintf("server_name: %s\nlisten: %q\nhttp: %q\njetstream {\n%s%s\n}\n%s\n", n.name,
		strings.TrimPrefix(n.URL, "nats://"), strings.TrimPrefix(n.MonitorURL, "http://"), js, c.JetStream, c.Server)
	if err := os.WriteFile(n.file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the configuration of nats-server: %w", err)
	}
	return nil
}

// Reload changes the configuration of the running server (SIGHUP); what it
// cannot change while it runs needs a Restart. The server applies it a moment later.
func (n *NATS) Reload(c NATSConfig) error {
	if err := n.configure(c); err != nil {
		return err
	}
	return n.Process.Signal(syscall.SIGHUP)
}

// WaitReady waits until the server has recovered its streams and takes clients.
func (n *NATS) WaitReady(ctx context.Context) error {
	return n.wait(ctx, "/healthz?js-enabled-only=true")
}

// wait waits until a health check of the server passes.
func (n *NATS) wait(ctx context.Context, check string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var last error
	ready := poll(ctx.Done(), 10*time.Millisecond, func() bool {
		if last = ended(n.Process); last != nil {
			cancel()
			return false
		}
		last = get(ctx, http.DefaultClient, n.MonitorURL+check)
		return last == nil
	})
	if !ready {
		return fmt.Errorf("wait for %s: %w", n.name, last)
	}
	return nil
}

// WaitHealthy waits until the server has caught up with all streams that it has a
// part of.
func (n *NATS) WaitHealthy(ctx context.Context) error { return n.wait(ctx, "/healthz") }

// Name is the server's name, as it stands in the leaders of streams.
func (n *NATS) Name() string { return n.name }

// Kill kills the server (SIGKILL).
func (n *NATS) Kill() error { return n.Process.Kill() }

// Pause stops the server where it is (SIGSTOP).
func (n *NATS) Pause() error { return n.Process.Pause() }

// Resume lets a paused server go on (SIGCONT).
func (n *NATS) Resume() error { return n.Process.Resume() }

// Restart starts the server again after it ended, on the same port and store,
// and waits until it is ready. One that still runs is killed first.
func (n *NATS) Restart(ctx context.Context) error {
	if err := n.Process.Kill(); err != nil {
		return err
	}
	if err := n.Process.Start(); err != nil {
		return err
	}
	return n.WaitReady(ctx)
}

// RestartWith is Restart with another configuration.
func (n *NATS) RestartWith(ctx context.Context, c NATSConfig) error {
	if err := n.configure(c); err != nil {
		return err
	}
	return n.Restart(ctx)
}

// stop ends the server in order, so that a kept store opens fast the next time.
func (n *NATS) stop() {
	_ = n.Resume() // it may stand still, or have ended
	_ = n.Process.Stop(5 * time.Second)
}
