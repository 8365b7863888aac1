// Package install_test proves that what people install, the chart and the
// kustomize tree, applies to a real API server, runs under the strictest Pod
// Security level, and gives each role the rights that it should have and no more.
package install_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/test/cluster"
)

const (
	chartNamespace     = "reminders"                // of hack/tools/chart
	kustomizeNamespace = "reminder-operator-system" // of config/default
	tenantNamespace    = "shop"
	chartOperator      = "system:serviceaccount:reminders:trial-reminder-operator"
	kustomizeOperator  = "system:serviceaccount:reminder-operator-system:reminder-operator-controller-manager"
	chartWorker        = "system:serviceaccount:reminders:trial-reminder-operator-worker"
	restricted         = "pod-security.kubernetes.io/enforce"
)

type fixture struct {
	client.Client

	kube *cluster.Kube
}

// The subtests follow one another: the later ones look at what the earlier ones installed.
func TestInstall(t *testing.T) {
	t.Parallel()
	c := cluster.StartT(t, cluster.Options{NoNATS: true})
	api, err := client.New(c.Kube.RESTConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{api, c.Kube}
	// A bare cluster: the CRDs come with the chart.
	if out, err := c.Kube.Kubectl(t.Context(), "delete", "crd", "--all"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f.namespace(t, chartNamespace)
	f.namespace(t, tenantNamespace)

	t.Run("the chart applies with default values", func(t *testing.T) { f.apply(t, "defaults") })
	t.Run("the chart applies with everything set", func(t *testing.T) { f.apply(t, "everything set") })
	t.Run("the kustomize tree applies", func(t *testing.T) { f.apply(t, "kustomize") })
	t.Run("the chart's pods are allowed where restricted is enforced", func(t *testing.T) {
		f.admits(t, chartNamespace, "trial-reminder-operator")
		f.admits(t, chartNamespace, "ro")
	})
	t.Run("the tree's pods are allowed where restricted is enforced", func(t *testing.T) {
		f.admits(t, kustomizeNamespace, "reminder-operator-controller-manager")
	})
	t.Run("nobody has more rights than meant", f.rights)
	t.Run("who edits schedules may not replay", f.replayRights)
}

func (f fixture) namespace(t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{restricted: "restricted"}}}
	if err := f.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
}

// apply renders a case of hack/tools/chart and applies it as `kubectl apply` does.
func (f fixture) apply(t *testing.T, name string) {
	t.Helper()
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	render := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(root, "hack/tools/chart"), "run", ".",
		"-chart", filepath.Join(root, "charts/reminder-operator"), "-kustomize", filepath.Join(root, "config/default"), "-print", name)
	render.Stderr = t.Output()
	manifest, err := render.Output()
	if err != nil {
		t.Fatalf("render %s: %v", name, err)
	}
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := f.kube.Kubectl(t.Context(), "apply", "--server-side", "--validate=strict", "-f", file)
	if err != nil {
		t.Fatalf("apply %s: %v\n%s", name, err, out)
	}
}

// admits asks the API server for the Deployment's pod, without making it.
func (f fixture) admits(t *testing.T, namespace, deployment string) {
	t.Helper()
	d := &appsv1.Deployment{}
	if err := f.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: deployment}, d); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
	pod.Namespace, pod.Name = namespace, deployment
	// The class is an example that no cluster has.
	pod.Spec.PriorityClassName = ""
	if err := f.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Errorf("pod of %s/%s: %v", namespace, deployment, err)
	}
}

// A right is a user's, a verb and a resource in a namespace ("" for all).
type right struct {
	user, verb, resource, namespace string
}

func (f fixture) rights(t *testing.T) {
	for user, role := range map[string]string{
		"viewer":   "trial-reminder-operator-reminders-viewer",
		"editor":   "trial-reminder-operator-reminders-editor",
		"replayer": "trial-reminder-operator-reminders-replayer",
		"admin":    "trial-reminder-operator-reminders-admin",
	} {
		f.bind(t, user, role)
	}
	operators := map[string]string{chartOperator: chartNamespace, kustomizeOperator: kustomizeNamespace}
	granted := map[right]bool{
		{"viewer", "list", "reminderschedules", tenantNamespace}:          true,
		{"viewer", "get", "reminderreplays/status", tenantNamespace}:      true,
		{"viewer", "update", "reminderschedules", tenantNamespace}:        false,
		{"editor", "create", "reminderschedules", tenantNamespace}:        true,
		{"editor", "create", "reminderchannels", tenantNamespace}:         true,
		{"editor", "create", "reminderreplays", tenantNamespace}:          false,
		{"editor", "update", "reminderschedules/status", tenantNamespace}: false,
		{"editor", "update", "reminderreplays/status", tenantNamespace}:   false,
		{"viewer", "create", "reminderreplays", tenantNamespace}:          false,
		{"replayer", "create", "reminderreplays", tenantNamespace}:        true,
		{"replayer", "delete", "reminderreplays", tenantNamespace}:        true,
		{"replayer", "update", "reminderreplays/status", tenantNamespace}: false,
		{"replayer", "create", "reminderreplays", chartNamespace}:         false,
		{"replayer", "create", "reminderschedules", tenantNamespace}:      false,
		{"replayer", "update", "reminderschedules", tenantNamespace}:      false,
		{"admin", "create", "reminderreplays", tenantNamespace}:           true,
		{"admin", "create", "reminderreplays", chartNamespace}:            false,
		{"admin", "update", "reminderschedules/status", tenantNamespace}:  false,
		{chartWorker, "get", "secrets", chartNamespace}:                   false,
		{chartWorker, "get", "reminderschedules", tenantNamespace}:        false,
	}
	for operator, own := range operators {
		maps.Copy(granted, map[right]bool{
			{operator, "watch", "reminderschedules", ""}:                     true,
			{operator, "patch", "reminderschedules/status", tenantNamespace}: true,
			{operator, "create", "leases", own}:                              true,
			{operator, "create", "deployments", own}:                         true,
			{operator, "create", "deployments", tenantNamespace}:             false,
			{operator, "create", "secrets", own}:                             true,
			{operator, "create", "secrets", tenantNamespace}:                 false,
			{operator, "list", "secrets", ""}:                                false,
			{operator, "create", "clusterrolebindings", ""}:                  false,
		})
	}
	for r, want := range granted {
		if got := f.may(t, r); got != want {
			t.Errorf("may %s %s %s in %q: %v, want %v", r.user, r.verb, r.resource, r.namespace, got, want)
		}
	}
}

// replayRights lets people try it: who may edit schedules may not replay, and the other
// way round.
func (f fixture) replayRights(t *testing.T) {
	schedule := &v1alpha1.ReminderSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: "tried"},
		Spec: v1alpha1.ReminderScheduleSpec{
			Schedule: v1alpha1.ScheduleSpec{Cron: "0 9 * * *"}, ChannelName: "mail", Message: v1alpha1.MessageSpec{Body: "Hello"},
			Recipients: []v1alpha1.Recipient{{ID: "ada", Address: "ada@example.com"}},
		},
	}
	replay := &v1alpha1.ReminderReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: "tried"},
		Spec:       v1alpha1.ReminderReplaySpec{ScheduleName: "tried", Action: v1alpha1.ActionReplay, Reason: "The gateway was down"},
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		user string
		obj  client.Object
		may  bool
	}{
		{"editor", schedule, true},
		{"editor", replay, false},
		{"viewer", replay, false},
		{"replayer", replay, true},
		{"replayer", schedule, false},
		{"admin", replay, true},
	} {
		config := rest.CopyConfig(f.kube.RESTConfig())
		config.Impersonate = rest.ImpersonationConfig{UserName: tt.user}
		person, err := client.New(config, client.Options{Scheme: scheme})
		if err != nil {
			t.Fatal(err)
		}
		err = person.Create(t.Context(), tt.obj.DeepCopyObject().(client.Object), client.DryRunAll)
		if got := err == nil; got != tt.may || err != nil && !apierrors.IsForbidden(err) {
			t.Errorf("%s creates a %T: %v, want %t", tt.user, tt.obj, err, tt.may)
		}
	}
}

func (f fixture) bind(t *testing.T, user, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if err := f.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

var groups = map[string]string{
	"leases": "coordination.k8s.io", "deployments": "apps", "secrets": "", "clusterrolebindings": rbacv1.GroupName,
}

func (f fixture) may(t *testing.T, r right) bool {
	t.Helper()
	resource, subresource, _ := strings.Cut(r.resource, "/")
	attributes := &authorizationv1.ResourceAttributes{
		Namespace: r.namespace, Verb: r.verb, Group: "reminders.dev", Resource: resource, Subresource: subresource,
	}
	if group, known := groups[resource]; known {
		attributes.Group = group
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: r.user, ResourceAttributes: attributes}}
	if err := f.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}
