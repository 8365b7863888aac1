package controllers

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// site is a real broker, an API server in memory, and a clock that is moved by
// hand. The API server counts what is written to it.
type site struct {
	Options
	t      *testing.T
	url    string
	api    client.WithWatch
	events *events.FakeRecorder

	mu       sync.Mutex
	at       time.Time
	lastEdit time.Time // as managed fields tell it
	writes   int
	meddler  func(client.Object) // called before each read of the cache
}

func newSite(t *testing.T, objects ...client.Object) *site {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &site{t: t, url: brokertest.URL(t), events: events.NewFakeRecorder(100), at: time.Now().UTC().Truncate(time.Second).Add(1500 * time.Millisecond), meddler: func(client.Object) {}}
	s.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithReturnManagedFields().
		WithStatusSubresource(&v1alpha1.ReminderSchedule{}, &v1alpha1.ReminderChannel{}, &v1alpha1.ReminderReplay{}).Build()
	cached := interceptor.NewClient(s.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			s.tellEdits(obj)
			s.meddler(obj)
			return err
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			s.mu.Lock()
			s.writes++
			s.mu.Unlock()
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	})
	s.Options = Options{
		Client: cached, Reader: s.reader(), Events: s.events, Broker: brokertest.Connect(t, s.url), Namespace: "reminders-system",
		LookAhead: lookAhead, StatusInterval: 10 * time.Second, CleanupPatience: time.Minute, Now: s.now,
		Worker: WorkerTemplate{Image: "operator:1", NATSURL: "nats://nats:4222", ServiceAccount: "reminder-worker", Retention: 168 * time.Hour},
	}
	return s
}

// reader reads past the cache; edits have the site's time.
func (s *site) reader() client.Reader {
	return interceptor.NewClient(s.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			s.tellEdits(obj)
			return err
		},
	})
}

// tellEdits sets when an object was edited.
func (s *site) tellEdits(obj client.Object) {
	fields := obj.GetManagedFields()
	for i := range fields {
		fields[i].Time = &metav1.Time{Time: s.lastEdit.Truncate(time.Second)}
	}
	obj.SetManagedFields(fields)
}

func (s *site) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func (s *site) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = s.at.Add(d)
}

// schedules is one process's controller of schedules.
func (s *site) schedules() *scheduleReconciler {
	return &scheduleReconciler{
		Options: s.Options, status: &condition.Writer{Client: s.Client, Interval: s.StatusInterval, Now: s.now}, done: map[types.NamespacedName]progress{}, reduced: map[types.NamespacedName]reduction{},
	}
}

func (s *site) channels() *channelReconciler {
	return &channelReconciler{Options: s.Options, status: &condition.Writer{Client: s.Client, Interval: s.StatusInterval, Now: s.now}}
}

// another connects as another process does, to the same API server and broker.
func (s *site) another() *scheduleReconciler {
	r := s.schedules()
	r.Broker = brokertest.Connect(s.t, s.url)
	return r
}

var renewal = types.NamespacedName{Namespace: "shop", Name: "renewal"}

// hourly is a schedule with n occurrences inside the window, for two recipients.
func (s *site) hourly(n int, changes ...change) *v1alpha1.ReminderSchedule {
	start := s.now().Add(time.Minute).Truncate(time.Second)
	when := v1alpha1.ScheduleSpec{
		Every: duration(time.Minute), StartTime: &metav1.Time{Time: start}, EndTime: &metav1.Time{Time: start.Add(time.Duration(n)*time.Minute - time.Second)},
	}
	obj := aSchedule(when, append([]change{func(o *v1alpha1.ReminderSchedule) {
		o.CreationTimestamp.Time = s.now().Truncate(time.Second)
		o.Spec.Recipients = []v1alpha1.Recipient{{ID: "ada", Address: "ada@example.com"}, {ID: "bob", Address: "bob@example.com"}}
	}}, changes...)...)
	return obj
}

func (s *site) create(objects ...client.Object) {
	s.t.Helper()
	for _, obj := range objects {
		if err := s.api.Create(s.t.Context(), obj); err != nil {
			s.t.Fatalf("create %s: %v", obj.GetName(), err)
		}
	}
}

// edit changes the schedule as a user does.
func (s *site) edit(how change) {
	s.t.Helper()
	obj := s.schedule()
	obj.Generation++
	how(obj)
	s.lastEdit = s.now()
	if err := s.api.Update(s.t.Context(), obj); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) schedule() *v1alpha1.ReminderSchedule {
	s.t.Helper()
	obj := &v1alpha1.ReminderSchedule{}
	if err := s.api.Get(s.t.Context(), renewal, obj); err != nil {
		s.t.Fatal(err)
	}
	return obj
}

// pass reconciles the schedule, without an error.
func (s *site) pass(r *scheduleReconciler) ctrl.Result {
	s.t.Helper()
	result, err := r.Reconcile(s.t.Context(), ctrl.Request{NamespacedName: renewal})
	if err != nil {
		s.t.Fatalf("reconcile: %v", err)
	}
	return result
}

func (s *site) entry() reminder.Schedule {
	s.t.Helper()
	entry, _, err := s.Broker.Registry.Schedule(s.t.Context(), renewal.Namespace, renewal.Name)
	if err != nil {
		s.t.Fatal(err)
	}
	return entry
}

// records counts the reminders of the schedule by state and reason.
func (s *site) records() map[string]int {
	s.t.Helper()
	all := map[string]int{}
	err := s.Broker.Ledger.Of(s.t.Context(), renewal.Namespace, renewal.Name, func(r broker.Revision) error {
		text := string(r.Record.State)
		if r.Record.Reason != "" {
			text += " " + string(r.Record.Reason)
		}
		all[text]++
		return r.Err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// revisions are the latest ones of the schedule's reminders.
func (s *site) revisions() (all []broker.Revision) {
	s.t.Helper()
	err := s.Broker.Ledger.Of(s.t.Context(), renewal.Namespace, renewal.Name, func(r broker.Revision) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// messages counts what lies in the jobs stream.
func (s *site) messages() int { return len(brokertest.Messages(s.t, s.url, brokertest.JobsStream)) }

// audience counts the recipients in the bucket, with the marker.
func (s *site) audience() int {
	s.t.Helper()
	n := 0
	for subject := range brokertest.Messages(s.t, s.url, "KV_reminders-recipients") {
		if len(subject) > 0 {
			n++
		}
	}
	return n
}

// told are the events so far.
func (s *site) told() []string {
	var all []string
	for {
		select {
		case e := <-s.events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// ready is the condition Ready of the schedule: reason and message.
func (s *site) ready() (reason, message string) {
	s.t.Helper()
	for _, c := range s.schedule().Status.Conditions {
		if c.Type == v1alpha1.ReadyCondition {
			return c.Reason, c.Message
		}
	}
	return "", ""
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// brokenBroker is a broker that cannot be reached.
func (s *site) brokenBroker() *broker.Broker {
	s.t.Helper()
	b, err := broker.Connect(broker.Options{URL: "nats://127.0.0.1:1", Name: "broken"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Close)
	return b
}
