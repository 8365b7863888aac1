package controllers

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Labels of what the operator makes for a channel in its own namespace, where
// an owner reference to the tenant's object is not possible.
const (
	labelName             = "app.kubernetes.io/name"
	labelManagedBy        = "app.kubernetes.io/managed-by"
	LabelChannelNamespace = "reminders.dev/channel-namespace"
	LabelChannel          = "reminders.dev/channel"
	// WorkerName is the value of app.kubernetes.io/name on worker Deployments.
	WorkerName   = "reminder-worker"
	operatorName = "reminder-operator"
)

// secretDir is where a worker finds the channel's Secret.
const secretDir = "/etc/reminder-operator/channel" //nolint:gosec // a path, not a credential

// credentialsDir is where a worker finds its NATS credentials.
const credentialsDir = "/etc/reminder-operator/nats" //nolint:gosec // a path, not a credential

// WorkerTemplate is what all worker Deployments have in common.
type WorkerTemplate struct {
	// Image is the operator's own; its entrypoint has the command `worker`.
	Image string
	// NATSURL is where workers reach the broker.
	NATSURL string
	// CredentialsSecret names a Secret in the operator's namespace with the key
	// nats.creds; empty for none.
	CredentialsSecret string
	// ServiceAccount of the pods; they mount no token.
	ServiceAccount string
	// Retention is passed on, so that workers keep records as long as the operator.
	Retention time.Duration
	// EgressAllow and EgressDeny are passed on: ranges that workers may dial
	// although they are not public, and may not although they are.
	EgressAllow, EgressDeny []string
}

// workerName is the name of a channel's Deployment and of its Secret's copy:
// readable in front, unique by the hash behind, which is long enough that no
// tenant finds a channel name with another tenant's hash.
func workerName(namespace, name string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + name))
	head := namespace + "-" + name
	if len(head) > 30 {
		head = head[:30]
	}
	return dns1123(head) + "-" + hex.EncodeToString(sum[:10])
}

// dns1123 replaces dots, which a name in a pod's host name may not have.
func dns1123(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c == '.' {
			out[i] = '-'
		}
	}
	return string(out)
}

func workerLabels(obj *v1alpha1.ReminderChannel) map[string]string {
	return map[string]string{
		labelName: WorkerName, labelManagedBy: operatorName,
		LabelChannelNamespace: obj.Namespace, LabelChannel: obj.Name,
	}
}

// workerDeployment is the Deployment of a channel's workers.
func workerDeployment(obj *v1alpha1.ReminderChannel, operatorNamespace string, t WorkerTemplate) *appsv1.Deployment {
	labels := workerLabels(obj)
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: workerName(obj.Namespace, obj.Name), Namespace: operatorNamespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(convert.Replicas(obj)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: workerPod(obj, t)},
		},
	}
}

func workerPod(obj *v1alpha1.ReminderChannel, t WorkerTemplate) corev1.PodSpec {
	volumes, mounts := workerVolumes(obj, t)
	return corev1.PodSpec{
		ServiceAccountName:            t.ServiceAccount,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		TerminationGracePeriodSeconds: new(int64(math.Ceil((graceOf(obj) + 5*time.Second).Seconds()))),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), FSGroup: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Volumes: volumes,
		Containers: []corev1.Container{{
			Name:         "worker",
			Image:        t.Image,
			Args:         workerArgs(obj, t),
			Env:          []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}},
			Resources:    workerResources(obj),
			VolumeMounts: mounts,
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}

// graceOf is how long a stopping worker may take for what it has in flight.
func graceOf(obj *v1alpha1.ReminderChannel) time.Duration {
	return convert.Channel(obj).AckWait
}

func workerArgs(obj *v1alpha1.ReminderChannel, t WorkerTemplate) []string {
	args := []string{
		"worker",
		"--namespace=" + obj.Namespace,
		"--channel=" + obj.Name,
		"--nats-url=" + t.NATSURL,
		"--retention=" + t.Retention.String(),
		"--grace=" + graceOf(obj).String(),
	}
	if t.CredentialsSecret != "" {
		args = append(args, "--nats-credentials="+credentialsDir+"/nats.creds")
	}
	if convert.SecretName(obj) != "" {
		args = append(args, "--secret-dir="+secretDir)
	}
	for _, allow := range t.EgressAllow {
		args = append(args, "--egress-allow="+allow)
	}
	for _, deny := range t.EgressDeny {
		args = append(args, "--egress-deny="+deny)
	}
	return args
}

func workerResources(obj *v1alpha1.ReminderChannel) corev1.ResourceRequirements {
	if w := obj.Spec.Workers; w != nil && w.Resources != nil {
		return *w.Resources
	}
	return corev1.ResourceRequirements{}
}

// workerVolumes mounts Secrets as files, never as environment.
func workerVolumes(obj *v1alpha1.ReminderChannel, t WorkerTemplate) ([]corev1.Volume, []corev1.VolumeMount) {
	var volumes []corev1.Volume
	var mounts []corev1.VolumeMount
	add := func(name, secret, path string) {
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}})
		mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: true})
	}
	if convert.SecretName(obj) != "" {
		add("channel-secret", workerName(obj.Namespace, obj.Name), secretDir)
	}
	if t.CredentialsSecret != "" {
		add("nats-credentials", t.CredentialsSecret, credentialsDir)
	}
	return volumes, mounts
}

// secretCopy is the channel's Secret in the operator's namespace, where its
// workers can mount it: of its keys those that they read.
func secretCopy(obj *v1alpha1.ReminderChannel, operatorNamespace string, original *corev1.Secret) *corev1.Secret {
	data := map[string][]byte{}
	for key, value := range original.Data {
		if channel.IsSecretKey(reminder.ChannelType(obj.Spec.Type), key) {
			data[key] = value
		}
	}
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: workerName(obj.Namespace, obj.Name), Namespace: operatorNamespace, Labels: workerLabels(obj)},
		Type:       corev1.SecretTypeOpaque,
		Data:       data,
	}
}
