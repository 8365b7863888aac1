package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var mail = types.NamespacedName{Namespace: "shop", Name: "mail"}

func signing(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "signing"}, Data: data}
}

var goodKey = map[string][]byte{"signingKey": []byte("whsec_cmVtaW5kZXItb3BlcmF0b3ItdGVzdC1rZXktMDAwMQ==")}

// passChannel reconciles the channel, without an error.
func (s *site) passChannel(r *channelReconciler) ctrl.Result {
	s.t.Helper()
	result, err := r.Reconcile(s.t.Context(), ctrl.Request{NamespacedName: mail})
	if err != nil {
		s.t.Fatalf("reconcile: %v", err)
	}
	return result
}

func (s *site) channel() *v1alpha1.ReminderChannel {
	s.t.Helper()
	obj := &v1alpha1.ReminderChannel{}
	if err := s.api.Get(s.t.Context(), mail, obj); err != nil {
		s.t.Fatal(err)
	}
	return obj
}

func (s *site) editChannel(how func(*v1alpha1.ReminderChannel)) {
	s.t.Helper()
	obj := s.channel()
	obj.Generation++
	how(obj)
	if err := s.api.Update(s.t.Context(), obj); err != nil {
		s.t.Fatal(err)
	}
}

// made reads what was made for the channel; false when it is not there.
func (s *site) made(obj client.Object) bool {
	s.t.Helper()
	err := s.api.Get(s.t.Context(), client.ObjectKey{Namespace: "reminders-system", Name: workerName("shop", "mail")}, obj)
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	return err == nil
}

func (s *site) wantChannel(reason string, says ...string) {
	s.t.Helper()
	obj := s.channel()
	for _, c := range obj.Status.Conditions {
		if c.Type != v1alpha1.ReadyCondition {
			continue
		}
		if c.Reason != reason {
			s.t.Errorf("Ready is %s: %s; want %s", c.Reason, c.Message, reason)
		}
		for _, part := range says {
			if !strings.Contains(c.Message, part) {
				s.t.Errorf("it says %q, want %q in it", c.Message, part)
			}
		}
	}
	if faults := condition.Check(obj.Status.Conditions, obj.Generation); len(faults) > 0 || obj.Status.ObservedGeneration != obj.Generation {
		s.t.Errorf("observed generation %d of %d, faults %v", obj.Status.ObservedGeneration, obj.Generation, faults)
	}
}

func TestAChannelBecomesAnEntryAConsumerAndADeployment(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(), signing(goodKey))
	r := s.channels()
	s.passChannel(r)
	s.wantChannel(v1alpha1.ReasonAvailable)
	deployment, secret := &appsv1.Deployment{}, &corev1.Secret{}
	if !s.made(deployment) || !s.made(secret) || *deployment.Spec.Replicas != 1 || len(secret.Data) != 1 {
		t.Errorf("deployment %+v, secret with %d keys", deployment.Spec.Replicas, len(secret.Data))
	}
	if entry, _, err := s.Broker.Registry.Channel(t.Context(), "shop", "mail"); err != nil || !entry.Signed || entry.HTTP.URL == "" {
		t.Errorf("entry %v, error %v", entry, err)
	}
	obj := s.channel()
	if obj.Status.DesiredWorkers != 1 || obj.Status.Workers != 0 || obj.Status.DeploymentName != deployment.Name {
		t.Errorf("status %+v", obj.Status)
	}
	for range 3 { // nothing changes by looking again
		s.wait(11 * time.Second)
		s.passChannel(r)
	}
	if after := s.channel(); after.ResourceVersion != obj.ResourceVersion {
		t.Error("idle passes wrote status")
	}
	s.wait(11 * time.Second)
	for _, name := range []string{"w1", "w2"} {
		if err := s.Broker.Registry.Beat(t.Context(), reminder.Worker{Namespace: "shop", Channel: "mail", Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if result := s.passChannel(r); s.channel().Status.Workers != 2 || result.RequeueAfter > channelCheck {
		t.Errorf("%d workers, comes back after %s", s.channel().Status.Workers, result.RequeueAfter)
	}
	if got := s.told(); len(got) != 0 {
		t.Errorf("events %q of a channel that just became ready", got)
	}
}

// O12: a Secret that comes later, is too weak, or goes; the channel says what is
// missing, and goes on when it is there.
func TestASecretThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel())
	r := s.channels()
	if result := s.passChannel(r); result.RequeueAfter != s.StatusInterval {
		t.Errorf("comes back after %s, want %s", result.RequeueAfter, s.StatusInterval)
	}
	s.wantChannel(v1alpha1.ReasonSecretUnavailable, "Secret signing does not exist", "signingKey")
	if s.made(&appsv1.Deployment{}) {
		t.Error("workers are started that could not sign")
	}
	weak := signing(map[string][]byte{"signingKey": []byte("CANARY")})
	s.create(weak)
	s.wait(11 * time.Second)
	s.passChannel(r)
	s.wantChannel(v1alpha1.ReasonSecretUnavailable, "Secret signing", "signingKey")
	for _, c := range s.channel().Status.Conditions {
		if strings.Contains(c.Message, "CANARY") {
			t.Error("the key is in the message")
		}
	}
	weak.Data = goodKey
	if err := s.api.Update(t.Context(), weak); err != nil {
		t.Fatal(err)
	}
	s.wait(11 * time.Second)
	s.passChannel(r)
	s.wantChannel(v1alpha1.ReasonAvailable)
	if !s.made(&appsv1.Deployment{}) {
		t.Error("no workers are started")
	}
	told := strings.Join(s.told(), "\n")
	if !strings.Contains(told, "Warning SecretUnavailable") || !strings.Contains(told, "Normal Available") {
		t.Errorf("events %q, want one of each change", told)
	}
}

func TestARelaysSecretHasUsernameAndPassword(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(relays))
	r := s.channels()
	s.passChannel(r)
	s.wantChannel(v1alpha1.ReasonSecretUnavailable, "Secret signing does not exist", "the keys username and password")
	s.create(signing(map[string][]byte{"username": []byte("u"), "password": []byte("p"), "other": []byte("x")}))
	s.wait(11 * time.Second)
	s.passChannel(r)
	s.wantChannel(v1alpha1.ReasonAvailable)
	secret := &corev1.Secret{}
	if !s.made(secret) || len(secret.Data) != 2 || !s.made(&appsv1.Deployment{}) {
		t.Errorf("the copy has %d keys, want 2; and a Deployment", len(secret.Data))
	}
	if entry, _, err := s.Broker.Registry.Channel(t.Context(), "shop", "mail"); err != nil || !entry.Signed || entry.Dedupes || entry.SMTP == nil || entry.SMTP.Port != 587 {
		t.Errorf("entry %+v, error %v", entry, err)
	}
}

func TestACopyOfASecretGoesWithItsMention(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(), signing(goodKey))
	r := s.channels()
	s.passChannel(r)
	s.editChannel(func(o *v1alpha1.ReminderChannel) { o.Spec.HTTP.SecretName = "" })
	s.wait(11 * time.Second)
	s.passChannel(r)
	if s.made(&corev1.Secret{}) {
		t.Error("the copy is still there")
	}
	deployment := &appsv1.Deployment{}
	if !s.made(deployment) || len(deployment.Spec.Template.Spec.Volumes) != 0 {
		t.Errorf("volumes %v", deployment.Spec.Template.Spec.Volumes)
	}
}

func TestAChannelThatIsNotSupportedSaysWhatStays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(logs))
	r := s.channels()
	s.passChannel(r)
	s.editChannel(func(o *v1alpha1.ReminderChannel) {
		o.Spec.Workers = &v1alpha1.WorkersSpec{MaxReplicas: new(int32(5))}
	})
	s.wait(11 * time.Second)
	s.passChannel(r)
	s.wantChannel(v1alpha1.ReasonNotSupportedYet, "spec.workers.maxReplicas", "as its last supported spec had it")
	deployment := &appsv1.Deployment{}
	if !s.made(deployment) || *deployment.Spec.Replicas != 1 {
		t.Errorf("replicas %v, want 1 as before", deployment.Spec.Replicas)
	}
}

func TestANewChannelThatIsNotSupported(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]func(*site) *broker.Broker{
		"with the broker": func(s *site) *broker.Broker { return s.Broker }, "without it": (*site).brokenBroker,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(aChannel(logs, func(o *v1alpha1.ReminderChannel) { o.Spec.Workers = &v1alpha1.WorkersSpec{MaxReplicas: new(int32(3))} }))
			c := s.channels()
			c.Broker = r(s)
			s.passChannel(c)
			s.wantChannel(v1alpha1.ReasonNotSupportedYet, "spec.workers.maxReplicas")
		})
	}
}

func TestAChannelMadeAnewByASlowClockTakesOver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(logs))
	r := s.channels()
	s.passChannel(r)
	old := s.channel()
	old.Finalizers = nil
	if err := s.api.Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := s.api.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	s.create(aChannel(logs, func(o *v1alpha1.ReminderChannel) {
		o.UID, o.CreationTimestamp.Time = "uid-2", old.CreationTimestamp.Add(-time.Hour)
	}))
	s.passChannel(r)
	if entry, _, err := s.Broker.Registry.Channel(t.Context(), "shop", "mail"); err != nil || entry.UID != "uid-2" {
		t.Errorf("registered is %s, error %v", entry.UID, err)
	}
	stale := s.channels() // whose cache is behind
	s.meddler = func(obj client.Object) {
		if o, ok := obj.(*v1alpha1.ReminderChannel); ok {
			old.DeepCopyInto(o)
			o.Finalizers = []string{Finalizer}
		}
	}
	if result := s.passChannel(stale); result.RequeueAfter != time.Second {
		t.Errorf("a cache that is behind comes back after %s, want 1s", result.RequeueAfter)
	}
	if entry, _, err := s.Broker.Registry.Channel(t.Context(), "shop", "mail"); err != nil || entry.UID != "uid-2" {
		t.Errorf("a cache that is behind has registered %s, error %v", entry.UID, err)
	}
}

func TestADeletedChannelLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(), signing(goodKey))
	r := s.channels()
	s.passChannel(r)
	if err := s.api.Delete(t.Context(), s.channel()); err != nil {
		t.Fatal(err)
	}
	s.passChannel(r)
	if s.made(&appsv1.Deployment{}) || s.made(&corev1.Secret{}) {
		t.Error("Deployment or Secret is left")
	}
	if _, _, err := s.Broker.Registry.Channel(t.Context(), "shop", "mail"); err == nil {
		t.Error("the entry is left")
	}
	if _, err := s.Broker.Queue.Backlog(t.Context(), "shop", "mail"); err == nil {
		t.Error("the consumer is left")
	}
	if err := s.api.Get(t.Context(), mail, &v1alpha1.ReminderChannel{}); !apierrors.IsNotFound(err) {
		t.Errorf("the channel is left: %v", err)
	}
}

func TestADeletedChannelDoesNotWaitForTheBrokerForEver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(aChannel(logs))
	r := s.channels()
	s.passChannel(r)
	if err := s.api.Delete(t.Context(), s.channel()); err != nil {
		t.Fatal(err)
	}
	r.Broker = s.brokenBroker()
	s.passChannel(r)
	if s.made(&appsv1.Deployment{}) {
		t.Error("the Deployment waits for the broker")
	}
	s.wait(s.StatusInterval)
	s.passChannel(r)
	if c := s.channel().Status.Conditions; !strings.Contains(fmt.Sprint(c), "the deletion waits") {
		t.Errorf("conditions %+v, want what the deletion waits for", c)
	}
	s.told()
	s.wait(s.CleanupPatience)
	s.passChannel(r)
	if err := s.api.Get(t.Context(), mail, &v1alpha1.ReminderChannel{}); !apierrors.IsNotFound(err) {
		t.Errorf("the channel is left: %v", err)
	}
	if got := s.told(); len(got) != 1 || !strings.Contains(got[0], "BrokerUnavailable") || !strings.Contains(got[0], "consumer in NATS") {
		t.Errorf("events %q", got)
	}
}

func TestWorkersAvailable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		live, desired int32
		status        metav1.ConditionStatus
		reason        string
	}{
		"as many as wanted":       {2, 2, metav1.ConditionTrue, v1alpha1.ReasonWorkersReady},
		"more, during a roll-out": {3, 2, metav1.ConditionTrue, v1alpha1.ReasonWorkersReady},
		"fewer":                   {1, 2, metav1.ConditionTrue, v1alpha1.ReasonWorkersStarting},
		"none":                    {0, 2, metav1.ConditionFalse, v1alpha1.ReasonNoWorkers},
		"none wanted":             {0, 0, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero},
		"none wanted, one left":   {1, 0, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero},
	}
	for name, c := range cases {
		s := v1alpha1.ReminderChannelStatus{Workers: c.live, DesiredWorkers: c.desired}
		describeWorkers(&s, 3)
		if got := s.Conditions[0]; got.Status != c.status || got.Reason != c.reason || got.ObservedGeneration != 3 {
			t.Errorf("%s: %s %s", name, got.Status, got.Reason)
		}
	}
}

func TestDeploymentsAreThoseOfChannels(t *testing.T) {
	t.Parallel()
	d := workerDeployment(aChannel(), "reminders-system", WorkerTemplate{})
	if got := channelOfDeployment(t.Context(), d); len(got) != 1 || got[0].NamespacedName != mail {
		t.Errorf("requests %v, want that of the channel", got)
	}
	if got := channelOfDeployment(t.Context(), &appsv1.Deployment{}); len(got) != 0 {
		t.Errorf("requests %v of a foreign Deployment", got)
	}
}
