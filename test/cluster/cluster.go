package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Options says what to start. The zero value starts everything, in a temporary folder.
type Options struct {
	Dir        string     // state folder, kept after Stop; a temporary one, removed by Stop, when empty
	Log        io.Writer  // where progress goes; nil discards
	NATSConfig NATSConfig // of the nats-server
	Servers    int        // nats-servers that form one cluster; 0 means one server alone
	CRDDir     string     // manifests of CRDs to install; <checkout>/config/crd/bases, when that exists, when empty
	NoKube     bool       // start no control plane
	NoNATS     bool       // start no nats-server
}

// Cluster is what Start started.
type Cluster struct {
	Dir  string // state folder: logs lie under kube/ and nats/
	Kube *Kube  // nil with NoKube
	NATS *NATS  // nil with NoNATS; the first of Servers
	// Servers are all members of the NATS cluster, or the one server.
	Servers []*NATS

	temporary bool
}

// Start starts a cluster and waits until it is ready. When it fails, nothing
// that it started is left.
func Start(ctx context.Context, o Options) (_ *Cluster, err error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	c := &Cluster{Dir: o.Dir}
	if c.Dir == "" {
		c.temporary = true
		if c.Dir, err = os.MkdirTemp("", "reminder-cluster-"); err != nil {
			return nil, fmt.Errorf("make the state folder: %w", err)
		}
	}
	if err := c.start(ctx, o); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) (err error) {
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return fmt.Errorf("find the state folder: %w", err)
	}
	if !o.NoNATS {
		if c.Servers, err = startServers(ctx, filepath.Join(c.Dir, "nats"), o); err != nil {
			return err
		}
		c.NATS = c.Servers[0]
		fmt.Fprintf(o.Log, "nats-server is ready at %s\n", c.NATSURL())
	}
	if o.NoKube {
		return nil
	}
	if c.Kube, err = startKube(ctx, filepath.Join(c.Dir, "kube"), o.Log); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "kube-apiserver is ready at %s\n", c.Kube.URL)
	dir, err := crdDir(o.CRDDir)
	if err != nil || dir == "" {
		return err
	}
	return c.Kube.InstallCRDs(ctx, dir)
}

func startServers(ctx context.Context, dir string, o Options) ([]*NATS, error) {
	if o.Servers > 0 {
		return StartNATSCluster(ctx, dir, o.Log, o.Servers, o.NATSConfig)
	}
	n, err := startNATS(ctx, dir, o.Log, o.NATSConfig)
	return []*NATS{n}, err
}

// NATSURL names all servers, with commas between them.
func (c *Cluster) NATSURL() string {
	var urls []string
	for _, n := range c.Servers {
		urls = append(urls, n.URL)
	}
	return strings.Join(urls, ",")
}

// crdDir is the folder of CRDs to install, empty for none.
func crdDir(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	root, err := RepoRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "config", "crd", "bases")
	if _, err := os.Stat(dir); err != nil {
		return "", nil //nolint:nilerr // there are none yet
	}
	return dir, nil
}

// Stop ends everything and, when the state folder is a temporary one, removes it.
func (c *Cluster) Stop() {
	if c.Kube != nil {
		c.Kube.stop()
	}
	for _, n := range c.Servers {
		if n != nil {
			n.stop()
		}
	}
	if c.temporary {
		_ = os.RemoveAll(c.Dir)
	}
}

// StartT starts a cluster for a test, which it fails when it cannot, and stops
// it with the test. After a failure the test's log ends with what the servers said.
func StartT(t testing.TB, o Options) *Cluster {
	t.Helper()
	if o.Log == nil {
		o.Log = t.Output()
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start a cluster: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.tails(t)
		}
		c.Stop()
	})
	return c
}

// tails logs the ends of the servers' logs.
func (c *Cluster) tails(t testing.TB) {
	var processes []*Process
	if c.Kube != nil {
		processes = append(processes, c.Kube.Etcd, c.Kube.APIServer)
	}
	for _, n := range c.Servers {
		processes = append(processes, n.Process)
	}
	for _, p := range processes {
		t.Logf("%s said last:\n%s", p.Name(), p.Tail(20))
	}
}
