package cluster_test

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// workers is a Deployment of playWorker.
func workers(replicas int32, args ...string) *appsv1.Deployment {
	labels := map[string]string{"app": "worker"}
	field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: new(int64(1)),
					Volumes: []corev1.Volume{{Name: "channel", VolumeSource: corev1.VolumeSource{
						Secret: &corev1.SecretVolumeSource{SecretName: "channel"},
					}}},
					Containers: []corev1.Container{{
						Name: "worker", Image: "worker:dev",
						Args:           append([]string{"-listen=:8080", "-secret=/etc/channel/token"}, args...),
						Env:            []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: field}},
						Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
						VolumeMounts:   []corev1.VolumeMount{{Name: "channel", MountPath: "/etc/channel"}},
						ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")}}},
					}},
				},
			},
		},
	}
}

func startNode(t *testing.T, c *cluster.Cluster) *cluster.ProcessNode {
	t.Helper()
	n, err := cluster.StartProcessNode(t.Context(), cluster.ProcessNodeOptions{
		Config: c.Kube.RESTConfig(), Namespace: "default", Selector: "app=worker", Binary: os.Args[0],
		Env: []string{roleEnv + "=worker", "MOOD=worse"}, Log: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return n
}

// runDeployment follows a Deployment through its life.
func runDeployment(t *testing.T, c *cluster.Cluster) {
	k, n := kubeClient(t, c.Kube.RESTConfig()), startNode(t, c)
	d := workers(2)
	if err := k.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pods wait for their Secret", func() bool {
		children := n.Children("worker")
		return len(children) == 2 && strings.Contains(children[1].Problem, "channel")
	})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "channel"}, StringData: map[string]string{"token": "old"}}
	if err := k.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	waitReady(t, n, k, 2)
	if diff := cmp.Diff([]string{"worker-0", "worker-1"}, ask(t, n, "/name")); diff != "" {
		t.Errorf("the pods' names (-want +got):\n%s", diff)
	}
	rotate(t, k, n, secret)
	killOne(t, k, n)
	replaceTemplate(t, k, n)
	if err := k.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all children are gone", func() bool { return len(n.Children("worker")) == 0 })
}

// rotate changes the Secret under running pods.
func rotate(t *testing.T, k client.Client, n *cluster.ProcessNode, secret *corev1.Secret) {
	secret.Data = map[string][]byte{"token": []byte("new")}
	if err := k.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pods see the new Secret", func() bool { return slices.Equal(ask(t, n, "/secret"), []string{"new", "new"}) })
}

// killOne kills a child, which must come back only when it may.
func killOne(t *testing.T, k client.Client, n *cluster.ProcessNode) {
	n.SetRestart("worker", false)
	victim := n.Children("worker")[0].Process
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment counts one ready replica", func() bool { return status(t, k).ReadyReplicas == 1 })
	if victim.Running() {
		t.Error("the child came back")
	}
	n.SetRestart("worker", true)
	n.SetEnv(roleEnv+"=worker", "MOOD=better")
	waitReady(t, n, k, 2)
	if diff := cmp.Diff([]string{"better", "worse"}, ask(t, n, "/mood")); diff != "" {
		t.Errorf("the moods after a restart of the first (-want +got):\n%s", diff)
	}
}

// replaceTemplate rolls out workers that do not end by SIGTERM, and scales down.
func replaceTemplate(t *testing.T, k client.Client, n *cluster.ProcessNode) {
	var old []int
	for _, c := range n.Children("worker") {
		old = append(old, c.Process.Pid())
	}
	d := workers(2, "-stubborn")
	if err := k.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new template is rolled out", func() bool {
		s := status(t, k)
		return s.ObservedGeneration == d.Generation && s.UpdatedReplicas == 2 && s.ReadyReplicas == 2 && s.Replicas == 2
	})
	for _, pid := range old {
		if !gone(pid) {
			t.Errorf("process %d of the old template runs", pid)
		}
	}
	stubborn := n.Children("worker")[1].Process
	d.Spec.Replicas, d.ResourceVersion = new(int32(1)), "" // the node wrote the status since
	if err := k.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	waitReady(t, n, k, 1)
	if stubborn.Running() {
		t.Error("a child that was scaled away runs")
	}
}

func waitReady(t *testing.T, n *cluster.ProcessNode, k client.Client, replicas int) {
	t.Helper()
	if err := n.WaitReady(t.Context(), "worker", replicas); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the status counts the ready replicas", func() bool { return status(t, k).ReadyReplicas == int32(replicas) })
}

func status(t *testing.T, k client.Client) appsv1.DeploymentStatus {
	t.Helper()
	var d appsv1.Deployment
	if err := k.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "worker"}, &d); err != nil {
		t.Fatal(err)
	}
	return d.Status
}

// ask makes a request to each child.
func ask(t *testing.T, n *cluster.ProcessNode, path string) (answers []string) {
	t.Helper()
	for _, c := range n.Children("worker") {
		res, err := http.Get("http://" + c.Ports["http"] + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, string(body))
	}
	return answers
}
