package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestLaunchTranslatesAContainer(t *testing.T) {
	t.Parallel()
	c := &corev1.Container{
		Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8080}},
		Env: []corev1.EnvVar{
			{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "OWNER", Value: "$(NS)/$(POD)"},
			{Name: "CREDS", Value: "/etc/nats/user.creds"},
		},
		Args: []string{
			"worker", "--metrics=:8080", "--probe=:8081", "--nats=nats://127.0.0.1:8080", "--owner=$(POD)",
			"--file=/etc/nats/user.creds", "--dirs=/etc/nats,/etc/nats2,/etc/nats/tls/ca.crt", "--url=http://x/etc/nats",
		},
	}
	mounts := map[string]string{"/etc/nats": "/m/nats", "/etc/nats/tls": "/m/tls"}
	l, err := newLaunch(c, podNames{name: "w-0", namespace: "ns"}, mounts, func() (int, error) { return 20001, nil })
	if err != nil {
		t.Fatal(err)
	}
	wantEnv := []string{"POD=w-0", "OWNER=$(NS)/w-0", "CREDS=/m/nats/user.creds"}
	if diff := cmp.Diff(wantEnv, l.env); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
	wantArgs := []string{
		"worker", "--metrics=127.0.0.1:20001", "--probe=:8081", "--nats=nats://127.0.0.1:8080", "--owner=w-0",
		"--file=/m/nats/user.creds", "--dirs=/m/nats,/etc/nats2,/m/tls/ca.crt", "--url=http://x/etc/nats",
	}
	if diff := cmp.Diff(wantArgs, l.args); diff != "" {
		t.Errorf("the arguments (-want +got):\n%s", diff)
	}
}

func TestLaunchRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]corev1.Container{
		"a command": {Name: "worker", Command: []string{"sh"}},
		"a value from a Secret": {Name: "worker", Env: []corev1.EnvVar{{
			Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "token"}},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newLaunch(&c, podNames{}, nil, FreePort)
			if err == nil || !strings.Contains(err.Error(), "run container worker") {
				t.Errorf("it ended with %v, want an error that names the container", err)
			}
		})
	}
}
