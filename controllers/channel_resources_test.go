package controllers

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// checkGolden holds an object against testdata/<name>.yaml.
func checkGolden(t *testing.T, name string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-golden +got):\n%s", path, diff)
	}
}

// aChannel is one of type HTTP that signs.
func aChannel(changes ...func(*v1alpha1.ReminderChannel)) *v1alpha1.ReminderChannel {
	obj := &v1alpha1.ReminderChannel{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mail", UID: "uid-1", Generation: 1, CreationTimestamp: metav1.Time{Time: clock("10:00:00")}},
		Spec: v1alpha1.ReminderChannelSpec{
			Type: v1alpha1.ChannelTypeHTTP, Idempotency: v1alpha1.IdempotencyByKey,
			HTTP: &v1alpha1.HTTPChannel{URL: "https://hooks.example.com/CANARY", SecretName: "signing", Headers: []v1alpha1.HTTPHeader{{Name: "X-Team", Value: "CANARY"}}},
		},
	}
	for _, change := range changes {
		change(obj)
	}
	return obj
}

func logs(o *v1alpha1.ReminderChannel) {
	o.Spec = v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeLog, Log: &v1alpha1.LogChannel{}}
}

func relays(o *v1alpha1.ReminderChannel) {
	o.Spec = v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeSMTP, SMTP: &v1alpha1.SMTPChannel{Host: "CANARY.example.com", From: "CANARY@example.com", SecretName: "signing"}}
}

func named(namespace, name string) func(*v1alpha1.ReminderChannel) {
	return func(o *v1alpha1.ReminderChannel) { o.Namespace, o.Name = namespace, name }
}

func workers(w v1alpha1.WorkersSpec) func(*v1alpha1.ReminderChannel) {
	return func(o *v1alpha1.ReminderChannel) { o.Spec.Workers = &w }
}

func TestWorkerDeployments(t *testing.T) {
	t.Parallel()
	template := WorkerTemplate{Image: "registry.example.com/reminder-operator:1.2.3", NATSURL: "nats://nats:4222", ServiceAccount: "reminder-worker", Retention: 168 * time.Hour}
	credentials := template
	credentials.CredentialsSecret = "nats-worker"
	ranges := template
	ranges.EgressAllow, ranges.EgressDeny = []string{"10.20.0.0/16", "fd00:10::/64"}, []string{"192.0.128.0/17"}
	quick := func(o *v1alpha1.ReminderChannel) { o.Spec.HTTP.Timeout = duration(100 * time.Millisecond) }
	cases := map[string]struct {
		channel  *v1alpha1.ReminderChannel
		template WorkerTemplate
	}{
		"deployment-http-signed":     {aChannel(), template},
		"deployment-smtp":            {aChannel(relays), template},
		"deployment-log":             {aChannel(logs), template},
		"deployment-credentials":     {aChannel(), credentials},
		"deployment-egress":          {aChannel(), ranges},
		"deployment-quick":           {aChannel(quick), template},
		"deployment-stopped":         {aChannel(logs, workers(v1alpha1.WorkersSpec{Replicas: new(int32(0))})), template},
		"deployment-names-with-dots": {aChannel(named("shop", "mail.eu-1.example.com")), template},
		"deployment-longest-names":   {aChannel(named(strings.Repeat("n", 63), strings.Repeat("c", 63))), template},
		"deployment-workers-and-more": {
			aChannel(logs, workers(v1alpha1.WorkersSpec{Replicas: new(int32(3)), Concurrency: new(int32(64)), Resources: &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
			}})), template,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := workerDeployment(c.channel, "reminders-system", c.template)
			checkGolden(t, name, d)
			if text := d.String(); strings.Contains(text, "CANARY") {
				t.Error("the endpoint is in the Deployment")
			}
			if faults := validation.IsDNS1123Label(d.Name); len(faults) > 0 || len(d.Name) > 52 {
				t.Errorf("name %s (%d characters): %v", d.Name, len(d.Name), faults)
			}
			for key, value := range d.Labels {
				if faults := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(faults) > 0 {
					t.Errorf("label %s=%s: %v", key, value, faults)
				}
			}
			if diff := cmp.Diff(d.Spec.Selector.MatchLabels, d.Spec.Template.Labels); diff != "" {
				t.Errorf("the selector does not select the pods (-selector +pods):\n%s", diff)
			}
			if grace := time.Duration(*d.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second; grace < graceOf(c.channel)+5*time.Second {
				t.Errorf("the pod is killed after %s, while its worker may take %s", grace, graceOf(c.channel))
			}
		})
	}
}

// The copy has what workers read, and nothing else of the tenant's Secret.
func TestSecretCopy(t *testing.T) {
	t.Parallel()
	original := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "signing", UID: "x", ResourceVersion: "7", Annotations: map[string]string{"a": "b"}},
		Type:       corev1.SecretTypeDockerConfigJson,
		Immutable:  new(true),
		Data:       map[string][]byte{"signingKey": []byte("one"), "previousSigningKey": []byte("two"), "password": []byte("three"), "header.Authorization": []byte("four"), "xheader.A": []byte("five")},
	}
	checkGolden(t, "secret", secretCopy(aChannel(), "reminders-system", original))
	original.Data["username"] = []byte("four")
	checkGolden(t, "secret-smtp", secretCopy(aChannel(relays), "reminders-system", original))
	delete(original.Data, "previousSigningKey")
	checkGolden(t, "secret-one-key", secretCopy(aChannel(), "reminders-system", original))
}

// Two channels never share a Deployment, and with it a Secret: not by a dot or a
// dash in another place, and not beyond what fits.
func TestWorkerNamesAreUnique(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 62)
	seen := map[string]string{}
	for _, c := range [][2]string{
		{"shop", "mail"}, {"shop-mail", "mail"}, {"shop", "mail-mail"}, {"shop-mail", "x"}, {"shop", "mail-x"}, {"shop", "mail.x"},
		{"a", "b.c"}, {"a", "b-c"}, {"a-b", "c"}, {long + "a", long + "b"}, {long + "a", long + "c"}, {long + "b", long + "b"},
	} {
		name := workerName(c[0], c[1])
		if other, ok := seen[name]; ok {
			t.Errorf("%v and %s share the name %s", c, other, name)
		}
		seen[name] = c[0] + "/" + c[1]
	}
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`)
		channel := rapid.StringMatching(`[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?`)
		a, b := [2]string{label.Draw(t, "namespace"), channel.Draw(t, "channel")}, [2]string{label.Draw(t, "namespace"), channel.Draw(t, "channel")}
		if a != b && workerName(a[0], a[1]) == workerName(b[0], b[1]) {
			t.Fatalf("%v and %v share a name", a, b)
		}
		if faults := validation.IsDNS1123Label(workerName(a[0], a[1])); len(faults) > 0 {
			t.Fatalf("%v: %v", a, faults)
		}
	})
}
