package system

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/controllers"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Patience is how long a test waits for what must become true.
const Patience = 90 * time.Second

// Eventually polls until ok is true; it fails the test with what was seen last
// when that takes longer than Patience.
func Eventually(t testing.TB, what string, ok func() (bool, string)) {
	t.Helper()
	EventuallyWithin(t, Patience, what, ok)
}

// EventuallyWithin is Eventually with another patience.
func EventuallyWithin(t testing.TB, patience time.Duration, what string, ok func() (bool, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		done, last := ok()
		if done {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %s; last seen: %s", what, patience, last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// HTTPChannel is a channel to the system's receiver, with a short timeout.
func (s *System) HTTPChannel(name string, idempotency v1alpha1.Idempotency) *v1alpha1.ReminderChannel {
	return &v1alpha1.ReminderChannel{
		ObjectMeta: metav1.ObjectMeta{Namespace: Tenant, Name: name},
		Spec: v1alpha1.ReminderChannelSpec{
			Type: v1alpha1.ChannelTypeHTTP, Idempotency: idempotency,
			HTTP: &v1alpha1.HTTPChannel{URL: s.ReceiverURL, SecretName: SecretName, Timeout: &metav1.Duration{Duration: time.Second}},
		},
	}
}

// LogChannel is a channel that writes a line.
func LogChannel(name string) *v1alpha1.ReminderChannel {
	return &v1alpha1.ReminderChannel{
		ObjectMeta: metav1.ObjectMeta{Namespace: Tenant, Name: name},
		Spec:       v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeLog, Log: &v1alpha1.LogChannel{}},
	}
}

// OneOff is a schedule that falls due once, for n recipients with addresses
// <address><i>@example.com, with quick retries.
func OneOff(name, channel string, at time.Time, n int, address string) *v1alpha1.ReminderSchedule {
	s := &v1alpha1.ReminderSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: Tenant, Name: name},
		Spec: v1alpha1.ReminderScheduleSpec{
			Schedule:    v1alpha1.ScheduleSpec{At: at.UTC().Truncate(time.Second).Format(time.RFC3339)},
			ChannelName: channel,
			Message:     v1alpha1.MessageSpec{Subject: "For {{ recipient.attributes.name }}", Body: "Hello {{ recipient.attributes.name }}"},
			Delivery: &v1alpha1.DeliverySpec{
				Deadline: &metav1.Duration{Duration: 10 * time.Minute},
				Retry:    &v1alpha1.RetrySpec{Attempts: new(int32(10)), InitialDelay: &metav1.Duration{Duration: time.Second}, MaxDelay: &metav1.Duration{Duration: 2 * time.Second}},
			},
		},
	}
	for i := range n {
		s.Spec.Recipients = append(s.Spec.Recipients, v1alpha1.Recipient{
			ID: fmt.Sprintf("acct_%04d", i), Address: fmt.Sprintf("%s%d@example.com", address, i), Attributes: map[string]string{"name": fmt.Sprintf("Customer %d", i)},
		})
	}
	return s
}

// Create makes objects, and fails the test when it cannot.
func (s *System) Create(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, obj := range objects {
		if err := s.Client.Create(t.Context(), obj); err != nil {
			t.Fatalf("create %T %s: %v", obj, obj.GetName(), err)
		}
	}
}

// Schedule reads a schedule.
func (s *System) Schedule(t testing.TB, name string) *v1alpha1.ReminderSchedule {
	t.Helper()
	obj := &v1alpha1.ReminderSchedule{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: Tenant, Name: name}, obj); err != nil {
		t.Fatalf("get schedule %s: %v", name, err)
	}
	return obj
}

// Channel reads a channel.
func (s *System) Channel(t testing.TB, name string) *v1alpha1.ReminderChannel {
	t.Helper()
	obj := &v1alpha1.ReminderChannel{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: Tenant, Name: name}, obj); err != nil {
		t.Fatalf("get channel %s: %v", name, err)
	}
	return obj
}

// WaitCounts waits until the counts in status are as wanted.
func (s *System) WaitCounts(t testing.TB, name, what string, ok func(v1alpha1.ReminderCounts) bool) {
	t.Helper()
	Eventually(t, name+": "+what, func() (bool, string) {
		obj := &v1alpha1.ReminderSchedule{}
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: Tenant, Name: name}, obj); err != nil {
			return false, err.Error()
		}
		if obj.Status.Counts == nil {
			return false, fmt.Sprintf("no counts; conditions %+v", obj.Status.Conditions)
		}
		return ok(*obj.Status.Counts), fmt.Sprintf("%+v", *obj.Status.Counts)
	})
}

// WaitStatus waits until a schedule's status, of its present spec, is as wanted.
func (s *System) WaitStatus(t testing.TB, name, what string, ok func(v1alpha1.ReminderScheduleStatus) bool) {
	t.Helper()
	Eventually(t, name+": "+what, func() (bool, string) {
		obj := &v1alpha1.ReminderSchedule{}
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: Tenant, Name: name}, obj); err != nil {
			return false, err.Error()
		}
		return obj.Status.ObservedGeneration == obj.Generation && ok(obj.Status), fmt.Sprintf("generation %d, status %+v", obj.Generation, obj.Status)
	})
}

// WaitReason waits until a schedule's Ready condition has a reason.
func (s *System) WaitReason(t testing.TB, name, reason string) {
	t.Helper()
	Eventually(t, name+" becomes "+reason, func() (bool, string) {
		obj := &v1alpha1.ReminderSchedule{}
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: Tenant, Name: name}, obj); err != nil {
			return false, err.Error()
		}
		for _, c := range obj.Status.Conditions {
			if c.Type == v1alpha1.ReadyCondition {
				return c.Reason == reason, c.Reason + ": " + c.Message
			}
		}
		return false, "no Ready condition"
	})
}

// Records are the latest records of a schedule, by recipient and slot.
func (s *System) Records(t testing.TB, schedule string) []reminder.Record {
	t.Helper()
	records, err := s.RecordsOf(t.Context(), schedule)
	if err != nil {
		t.Logf("read the ledger: %v", err)
	}
	return records
}

// RecordsOf is Records for programs that are no tests.
func (s *System) RecordsOf(ctx context.Context, schedule string) ([]reminder.Record, error) {
	found := map[string]reminder.Record{}
	err := s.Broker.Ledger.Of(ctx, Tenant, schedule, func(r broker.Revision) error {
		if r.Err != nil {
			return r.Err
		}
		found[r.Token] = r.Record
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(found), func(a, b reminder.Record) int { return compare(a.Key.String(), b.Key.String()) }), nil
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// WaitRecords waits until there are n records of a schedule and all are as wanted.
func (s *System) WaitRecords(t testing.TB, schedule, what string, n int, ok func(reminder.Record) bool) {
	t.Helper()
	Eventually(t, schedule+": "+what, func() (bool, string) {
		records := s.Records(t, schedule)
		good, seen := 0, map[reminder.State]int{}
		for _, r := range records {
			seen[r.State]++
			if ok(r) {
				good++
			}
		}
		if good == n && len(records) == n {
			return true, ""
		}
		return false, fmt.Sprintf("%d of %d are so; states %v; conditions %v", good, len(records), seen, s.conditions(t, schedule))
	})
}

// conditions are those of a schedule, in short.
func (s *System) conditions(t testing.TB, name string) []string {
	obj := &v1alpha1.ReminderSchedule{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: Tenant, Name: name}, obj); err != nil {
		return []string{err.Error()}
	}
	var all []string
	for _, c := range obj.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return all
}

// Deployments are the names of the worker Deployments.
func (s *System) Deployments() []string {
	var list appsv1.DeploymentList
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Client.List(ctx, &list, client.InNamespace(OperatorNamespace)); err != nil {
		return nil
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// WorkersOf waits for the Deployment of a channel's workers and answers its name.
func (s *System) WorkersOf(t testing.TB, channel string) string {
	t.Helper()
	name := ""
	Eventually(t, "Deployment of "+channel, func() (bool, string) {
		var list appsv1.DeploymentList
		err := s.Client.List(t.Context(), &list, client.InNamespace(OperatorNamespace),
			client.MatchingLabels{controllers.LabelChannel: channel})
		if err != nil || len(list.Items) == 0 {
			return false, fmt.Sprintf("none, %v", err)
		}
		name = list.Items[0].Name
		return true, name
	})
	return name
}

// WaitWorkers waits until the channel has so many live workers, by their
// heartbeats.
func (s *System) WaitWorkers(t testing.TB, channel string, n int) {
	t.Helper()
	Eventually(t, "workers of "+channel, func() (bool, string) {
		live, err := s.Broker.Registry.Workers(t.Context(), Tenant, channel)
		return err == nil && len(live) >= n, fmt.Sprintf("%d live, %v", len(live), err)
	})
}
