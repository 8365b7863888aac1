package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// startTimeout bounds how long a server may take to become ready. A machine
// under load needs many times what an idle one does.
const startTimeout = 3 * time.Minute

// Kube is a running control plane: etcd and an API server with RBAC.
type Kube struct {
	Kubeconfig string   // path of an administrator's kubeconfig
	URL        string   // of the API server
	EtcdURL    string   // of etcd
	Bin        string   // folder with kubectl
	APIServer  *Process // may be killed and started again: see Restart
	Etcd       *Process

	dir       string
	authority *authority
	admin     *rest.Config
}

// startKube starts a control plane with its state in dir.
func startKube(ctx context.Context, dir string, log io.Writer) (*Kube, error) {
	bin, err := KubeBin(ctx, log)
	if err != nil {
		return nil, err
	}
	k := &Kube{Bin: bin, dir: dir}
	if err := k.prepare(); err != nil {
		return nil, err
	}
	if err := k.start(ctx); err != nil {
		k.stop()
		return nil, err
	}
	return k, nil
}

// prepare writes the certificates and the administrator's kubeconfig, and chooses ports.
func (k *Kube) prepare() (err error) {
	if k.authority, err = newAuthority(); err != nil {
		return err
	}
	if err := k.authority.writePKI(filepath.Join(k.dir, "pki")); err != nil {
		return err
	}
	ports := [2]int{}
	for i := range ports {
		if ports[i], err = FreePort(); err != nil {
			return err
		}
	}
	k.EtcdURL, k.URL = "http://"+loopback(ports[0]), "https://"+loopback(ports[1])
	if k.Kubeconfig, err = k.User("admin", "system:masters"); err != nil {
		return err
	}
	if k.admin, err = k.config(k.Kubeconfig); err != nil {
		return err
	}
	return nil
}

// start starts both processes and waits until the API server serves.
func (k *Kube) start(ctx context.Context) (err error) {
	peer, err := FreePort()
	if err != nil {
		return err
	}
	k.Etcd, err = StartProcess(Command{
		Name: "etcd", Path: filepath.Join(k.Bin, "etcd"), Args: k.etcdArgs("http://" + loopback(peer)),
		LogFile: filepath.Join(k.dir, "etcd.log"),
	})
	if err != nil {
		return err
	}
	k.APIServer, err = StartProcess(Command{
		Name: "kube-apiserver", Path: filepath.Join(k.Bin, "kube-apiserver"), Args: k.apiServerArgs(),
		LogFile: filepath.Join(k.dir, "kube-apiserver.log"),
	})
	if err != nil {
		return err
	}
	return k.WaitReady(ctx)
}

func (k *Kube) etcdArgs(peer string) []string {
	return []string{
		"--name=test", "--data-dir=" + filepath.Join(k.dir, "etcd"),
		"--listen-client-urls=" + k.EtcdURL, "--advertise-client-urls=" + k.EtcdURL,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=test=" + peer,
		"--unsafe-no-fsync", // processes are killed here, machines are not
		"--log-level=warn",
	}
}

func (k *Kube) apiServerArgs() []string {
	pki := func(name string) string { return filepath.Join(k.dir, "pki", name) }
	return []string{
		"--etcd-servers=" + k.EtcdURL,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + k.URL[strings.LastIndex(k.URL, ":")+1:],
		"--endpoint-reconciler-type=none", // a loopback address cannot be an endpoint
		"--service-cluster-ip-range=10.0.0.0/24",
		"--client-ca-file=" + pki("ca.crt"), "--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file=" + pki("sa.key"), "--service-account-key-file=" + pki("sa.crt"),
		"--authorization-mode=RBAC", "--allow-privileged", "--profiling=false",
		"--disable-admission-plugins=ServiceAccount", // nobody makes the default accounts here
	}
}

// WaitReady waits until the API server is ready and the default namespace exists.
func (k *Kube) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client, err := rest.HTTPClientFor(k.admin)
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	var last error
	ready := poll(ctx.Done(), 50*time.Millisecond, func() bool {
		if last = errors.Join(ended(k.Etcd), ended(k.APIServer)); last != nil {
			cancel()
			return false
		}
		last = errors.Join(get(ctx, client, k.URL+"/readyz"), get(ctx, client, k.URL+"/api/v1/namespaces/default"))
		return last == nil
	})
	if !ready {
		return fmt.Errorf("wait for the API server: %w", last)
	}
	return nil
}

// ended describes the end of a process that should run.
func ended(p *Process) error {
	if p.Running() {
		return nil
	}
	return fmt.Errorf("%s ended: %w; it said last:\n%s", p.Name(), p.current().err, p.Tail(15))
}

// get makes one request that must answer 200.
func get(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return fmt.Errorf("get %s: %s: %s", url, res.Status, body)
	}
	return nil
}

// RESTConfig is an administrator's client configuration, without a client-side
// rate limit. It is the caller's to change.
func (k *Kube) RESTConfig() *rest.Config { return rest.CopyConfig(k.admin) }

// User makes a kubeconfig of another user and returns its path. RBAC applies
// to the user as to anyone; a service account is "system:serviceaccount:<namespace>:<name>"
// in the groups "system:serviceaccounts" and "system:serviceaccounts:<namespace>".
func (k *Kube) User(name string, groups ...string) (string, error) {
	p, err := k.authority.client(name, groups...)
	if err != nil {
		return "", err
	}
	c := clientcmdapi.NewConfig()
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: k.URL, CertificateAuthorityData: k.authority.pem}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: p.cert, ClientKeyData: p.key}
	c.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: name, Namespace: "default"}
	c.CurrentContext = "test"
	path := filepath.Join(k.dir, strings.NewReplacer(":", "-", "/", "-").Replace(name)+".kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		return "", fmt.Errorf("write the kubeconfig of %s: %w", name, err)
	}
	return path, nil
}

// UserConfig is like [Kube.User] but returns the client configuration.
func (k *Kube) UserConfig(name string, groups ...string) (*rest.Config, error) {
	path, err := k.User(name, groups...)
	if err != nil {
		return nil, err
	}
	return k.config(path)
}

func (k *Kube) config(kubeconfig string) (*rest.Config, error) {
	c, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read a kubeconfig: %w", err)
	}
	c.QPS = -1
	return c, nil
}

// Kubectl runs kubectl as the administrator and returns what it printed on stdout.
func (k *Kube) Kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(k.Bin, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+k.Kubeconfig)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return string(out), fmt.Errorf("run kubectl %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// Kill kills the API server (SIGKILL). etcd goes on.
func (k *Kube) Kill() error { return k.APIServer.Kill() }

// Pause stops the API server where it is (SIGSTOP).
func (k *Kube) Pause() error { return k.APIServer.Pause() }

// Resume lets a paused API server go on (SIGCONT).
func (k *Kube) Resume() error { return k.APIServer.Resume() }

// Restart starts the API server again after it was killed, on the same port
// and data, and waits until it is ready. One that still runs is killed first.
func (k *Kube) Restart(ctx context.Context) error {
	if err := k.APIServer.Kill(); err != nil {
		return err
	}
	if err := k.APIServer.Start(); err != nil {
		return err
	}
	return k.WaitReady(ctx)
}

// stop kills both: etcd keeps its data through that, and an orderly end of the API server takes seconds.
func (k *Kube) stop() {
	for _, p := range []*Process{k.APIServer, k.Etcd} {
		if p != nil {
			_ = p.Kill()
		}
	}
}
