package system

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/cmd"
	"github.com/reminder-operator/reminder-operator/controllers"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/receiver"
)

// Names that every system has.
const (
	// OperatorNamespace is where controllers and workers live.
	OperatorNamespace = "reminder-operator-system"
	// operatorAccount is the controllers' service account, as config/ names it.
	operatorAccount = "reminder-operator-controller-manager"
	// Tenant is the namespace of schedules and channels.
	Tenant = "shop"
	// SecretName is a Secret in Tenant with the receiver's signing key.
	SecretName = "receiver-signing"
	// SigningKey is in it. It protects nothing: it is in the source.
	SigningKey = "whsec_cmVtaW5kZXItb3BlcmF0b3ItZGVtby1zaWduaW5nLWtleQ=="
)

// Options say what to start; the zero value is one controller with leader
// election off and a receiver that dedupes.
type Options struct {
	cluster.Options
	// Controllers is their number; default 1, and -1 for none.
	Controllers int
	// ControllerArgs are added to each controller's command line.
	ControllerArgs []string
	// Failpoints builds the product with failpoints.
	Failpoints bool
	// NoWorkers starts no worker, although Deployments ask for them.
	NoWorkers bool
	// IgnoreKeys makes the receiver one that does not dedupe.
	IgnoreKeys bool
	// ReceiverLog gets one JSON line per acceptance; nil means none.
	ReceiverLog io.Writer
	// Credentials is the file of the test's own connection to the broker; none when empty.
	Credentials string
	// Via answers the URL by which controllers and workers reach the broker whose
	// URL it gets; nil means that URL itself. Tests put a bad network in between.
	Via func(url string) (string, error)
	// Bare makes nothing but the operator's namespace, and starts no receiver.
	Bare bool
}

// System is what Start started.
type System struct {
	*cluster.Cluster
	Client      client.Client
	Broker      *broker.Broker
	Controllers []*cluster.Process
	Node        *cluster.ProcessNode
	Receiver    *receiver.Receiver
	// ReceiverURL is where channels of type HTTP send.
	ReceiverURL string

	via      string // the URL of the broker for controllers and workers
	binary   string
	identity string // kubeconfig of the controllers' service account
	server   *httptest.Server
	o        Options
}

// Start starts a system and waits for its control plane and broker, not for its
// controllers. When it fails, nothing that it started is left.
func Start(ctx context.Context, o Options) (_ *System, err error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &System{o: o}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	var tags []string
	if o.Failpoints {
		tags = append(tags, "failpoint")
	}
	if s.binary, err = cluster.BuildPackage(ctx, o.Log, ".", tags...); err != nil {
		return nil, err
	}
	if s.Cluster, err = cluster.Start(ctx, o.Options); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{s.connect, s.prepare, s.receive, s.startControllers, s.startNode} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// StartT starts a system for a test and stops it with the test.
func StartT(t testing.TB, o Options) *System {
	t.Helper()
	if o.Log == nil {
		o.Log = t.Output()
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start a system: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, c := range s.Controllers {
				t.Logf("%s:\n%s", c.Name(), c.Tail(40))
			}
			s.logWorkers(t)
		}
		s.Stop()
	})
	return s
}

func (s *System) logWorkers(t testing.TB) {
	if s.Node == nil {
		return
	}
	for _, d := range s.Deployments() {
		for _, c := range s.Node.Children(d) {
			if c.Process != nil {
				t.Logf("%s:\n%s", c.Process.Name(), c.Process.Tail(40))
			}
		}
	}
}

// connect makes the tests' own connections to API server and broker.
func (s *System) connect(context.Context) (err error) {
	if s.Kube != nil {
		if s.Client, err = client.New(s.Kube.RESTConfig(), client.Options{Scheme: cmd.Scheme()}); err != nil {
			return fmt.Errorf("connect to the API server: %w", err)
		}
	}
	s.via = s.NATSURL()
	if s.o.Via != nil {
		if s.via, err = s.o.Via(s.via); err != nil {
			return err
		}
	}
	s.Broker, err = broker.Connect(broker.Options{URL: s.NATSURL(), Name: "test", CredentialsFile: s.o.Credentials})
	return err
}

// prepare installs what config/ has, so that controllers run with the rights
// that it gives them, and makes the tenant's namespace and Secret.
func (s *System) prepare(ctx context.Context) error {
	root, err := cluster.RepoRoot()
	if err != nil {
		return err
	}
	if _, err := s.Kube.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(root, "config", "default")); err != nil {
		return fmt.Errorf("install config/default: %w", err)
	}
	account := "system:serviceaccount:" + OperatorNamespace
	if s.identity, err = s.Kube.User(account+":"+operatorAccount, "system:serviceaccounts", "system:serviceaccounts:"+OperatorNamespace); err != nil {
		return err
	}
	var objects []client.Object
	if !s.o.Bare {
		objects = append(objects,
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Tenant}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Tenant, Name: SecretName}, StringData: map[string]string{"signingKey": SigningKey}})
	}
	for _, obj := range objects {
		if err := s.Client.Create(ctx, obj); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("make %T %s: %w", obj, obj.GetName(), err)
		}
	}
	return nil
}

func (s *System) receive(context.Context) (err error) {
	if s.o.Bare {
		return nil
	}
	s.Receiver, err = receiver.New(receiver.Options{Secrets: []string{SigningKey}, IgnoreKeys: s.o.IgnoreKeys, Log: s.o.ReceiverLog})
	if err != nil {
		return err
	}
	s.server = httptest.NewServer(s.Receiver)
	s.ReceiverURL = s.server.URL + "/hook"
	return nil
}

func (s *System) startControllers(context.Context) error {
	n := s.o.Controllers
	if n == 0 {
		n = 1
	}
	for i := range max(n, 0) {
		c, err := s.StartController("controller-" + strconv.Itoa(i))
		if err != nil {
			return err
		}
		s.Controllers = append(s.Controllers, c)
	}
	return nil
}

// StartController starts one more controller; env is added to its environment.
func (s *System) StartController(name string, env ...string) (*cluster.Process, error) {
	args := append([]string{
		"controller", "--kubeconfig=" + s.identity, "--namespace=" + OperatorNamespace, "--nats-url=" + s.via, "--nats-replicas=" + strconv.Itoa(len(s.Servers)),
		"--health-addr=0", "--sweep-grace=3s", "--sweep-every=1s", "--status-interval=2s",
		"--egress-allow=127.0.0.0/8", "--egress-allow=::1/128", // where the receivers of tests and of the demo listen
	}, s.o.ControllerArgs...)
	return cluster.StartProcess(cluster.Command{Name: name, Path: s.binary, Args: args, Env: env, LogFile: filepath.Join(s.Dir, name+".log")})
}

func (s *System) startNode(ctx context.Context) (err error) {
	if s.o.NoWorkers {
		return nil
	}
	dir := filepath.Join(s.Dir, "workers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the workers: %w", err)
	}
	s.Node, err = cluster.StartProcessNode(ctx, cluster.ProcessNodeOptions{
		Config: s.Kube.RESTConfig(), Namespace: OperatorNamespace, Selector: "app.kubernetes.io/name=" + controllers.WorkerName,
		Binary: s.binary, Dir: dir, Log: s.o.Log,
	})
	return err
}

// StartWorkers starts the workers of a system with NoWorkers.
func (s *System) StartWorkers(ctx context.Context) error {
	s.o.NoWorkers = false
	return s.startNode(ctx)
}

// Stop ends everything.
func (s *System) Stop() {
	if s.Node != nil {
		s.Node.Stop()
	}
	for _, c := range s.Controllers {
		_ = c.Resume()
		_ = c.Stop(5 * time.Second)
	}
	if s.server != nil {
		s.server.CloseClientConnections()
		s.server.Close()
	}
	if s.Broker != nil {
		s.Broker.Close()
	}
	if s.Cluster != nil {
		s.Cluster.Stop()
	}
}
