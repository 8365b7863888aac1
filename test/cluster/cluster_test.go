package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// One control plane serves all tests that need one: it is the slow part.
func TestCluster(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := cluster.StartT(t, cluster.Options{CRDDir: "testdata/crds", NATSConfig: cluster.NATSConfig{SyncAlways: true}})
	t.Logf("the cluster was ready after %s", time.Since(began))
	for _, test := range []struct {
		name string
		run  func(*testing.T, *cluster.Cluster)
	}{
		{"kubectl creates a custom resource", customResource},
		{"another user may do what RBAC grants", otherUser},
		{"a kept message survives a killed nats-server", killNATS},
		{"a Deployment runs as processes", runDeployment},
		{"a ConfigMap survives a killed API server", killAPIServer}, // the last: it disturbs the others
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

func kubeClient(t *testing.T, c *rest.Config) client.Client {
	t.Helper()
	k, err := client.New(c, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data:       map[string]string{"key": "value"},
	}
}

func killAPIServer(t *testing.T, c *cluster.Cluster) {
	k := kubeClient(t, c.Kube.RESTConfig())
	if err := k.Create(t.Context(), configMap("kept")); err != nil {
		t.Fatal(err)
	}
	if err := c.Kube.Kill(); err != nil {
		t.Fatal(err)
	}
	var got corev1.ConfigMap
	if err := k.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "kept"}, &got); err == nil {
		t.Error("the API server answers after it was killed")
	}
	if err := c.Kube.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := k.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "kept"}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(configMap("kept").Data, got.Data); diff != "" {
		t.Errorf("the ConfigMap's data (-want +got):\n%s", diff)
	}
}

func customResource(t *testing.T, c *cluster.Cluster) {
	if _, err := c.Kube.Kubectl(t.Context(), "create", "-f", "testdata/widget.yaml"); err != nil {
		t.Fatal(err)
	}
	out, err := c.Kube.Kubectl(t.Context(), "get", "widgets", "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("widget.example.com/one\n", out); diff != "" {
		t.Errorf("kubectl get widgets (-want +got):\n%s", diff)
	}
}

func otherUser(t *testing.T, c *cluster.Cluster) {
	ada, err := c.Kube.UserConfig("ada", "readers")
	if err != nil {
		t.Fatal(err)
	}
	k := kubeClient(t, ada)
	if err := k.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default")); !apierrors.IsForbidden(err) {
		t.Fatalf("without a grant the list ended with %v, want forbidden", err)
	}
	for _, grant := range [][]string{
		{"create", "role", "reader", "--verb=list", "--resource=configmaps"},
		{"create", "rolebinding", "readers", "--role=reader", "--group=readers"},
	} {
		if _, err := c.Kube.Kubectl(t.Context(), grant...); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the grant is effective", func() bool {
		return k.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default")) == nil
	})
	if err := k.Create(t.Context(), configMap("forbidden")); !apierrors.IsForbidden(err) {
		t.Errorf("the create ended with %v, want forbidden", err)
	}
}

func killNATS(t *testing.T, c *cluster.Cluster) {
	nc, err := nats.Connect(c.NATS.URL, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s.one", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := c.NATS.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.NATS.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message is read again", func() bool {
		m, err := s.GetMsg(t.Context(), 1)
		return err == nil && string(m.Data) == "kept"
	})
}

func TestNATSReplicatesOverACluster(t *testing.T) {
	t.Parallel()
	servers, err := cluster.StartNATSCluster(t.Context(), t.TempDir(), t.Output(), 3, cluster.NATSConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, n := range servers {
			_ = n.Kill()
		}
	})
	nc, err := nats.Connect(servers[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a stream with three replicas is made", func() bool {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Replicas: 3})
		return err == nil
	})
}

func TestStartSaysWhyAServerDoesNotStart(t *testing.T) {
	t.Parallel()
	_, err := cluster.Start(t.Context(), cluster.Options{NoKube: true, NATSConfig: cluster.NATSConfig{Server: "no_such_setting: true"}})
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("it ended with %v, want the server's own words", err)
	}
}

// A state folder that was given outlives its cluster.
func TestAGivenStateFolderIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for run := range 2 {
		c, err := cluster.Start(t.Context(), cluster.Options{Dir: dir, CRDDir: "testdata/crds"})
		if err != nil {
			t.Fatal(err)
		}
		k := kubeClient(t, c.Kube.RESTConfig())
		if run == 0 {
			err = k.Create(t.Context(), configMap("kept"))
		} else {
			err = k.Get(t.Context(), client.ObjectKeyFromObject(configMap("kept")), configMap(""))
		}
		c.Stop()
		if err != nil {
			t.Fatalf("run %d: %v", run, err)
		}
	}
}
