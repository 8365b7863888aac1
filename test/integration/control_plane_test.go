package integration

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// Row 35: the API server is killed and started again 5 times beside 1,000
// schedules; workers go on, and nothing happens twice.
func TestRow35APIServerKilledFiveTimes(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	const schedules = 1000
	at := time.Now().Add(75 * time.Second)
	kill := func() {
		t.Helper()
		if err := s.Kube.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := s.Kube.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range schedules {
		if i%200 == 100 {
			kill()
		}
		obj := system.OneOff("s-"+strconv.Itoa(i), "mail", at, 1, "ada")
		system.Eventually(t, "create a schedule", func() (bool, string) {
			err := s.Client.Create(t.Context(), obj.DeepCopy())
			return client.IgnoreAlreadyExists(err) == nil, fmt.Sprint(err)
		})
	}
	system.EventuallyWithin(t, 3*time.Minute, "all reminders accepted", func() (bool, string) {
		got := s.Receiver.Stats()
		return got.Accepted == schedules && got.Arrivals == schedules, fmt.Sprintf("%d arrivals, %d accepted, %d duplicates", got.Arrivals, got.Accepted, got.Duplicates)
	})
	system.EventuallyWithin(t, 3*time.Minute, "every status says so", func() (bool, string) { return allSent(t, s, schedules) })
}

func allSent(t *testing.T, s *system.System, want int) (bool, string) {
	t.Helper()
	var list v1alpha1.ReminderScheduleList
	if err := s.Client.List(t.Context(), &list, client.InNamespace(system.Tenant)); err != nil {
		return false, err.Error()
	}
	good := 0
	for i := range list.Items {
		obj := &list.Items[i]
		if c := obj.Status.Counts; c != nil && sent(1)(*c) && len(condition.Check(obj.Status.Conditions, obj.Generation)) == 0 {
			good++
		}
	}
	return good == want, fmt.Sprintf("%d of %d", good, want)
}

// Row 41: the leader is killed; the other takes over when the lease has ended.
func TestRow41LeaderKilled(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Controllers: 2, ControllerArgs: []string{"--leader-elect"}})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	s.Create(t, system.OneOff("planned", "mail", time.Now().Add(10*time.Second), 10, "ada"))
	s.WaitReason(t, "planned", v1alpha1.ReasonPlanned)
	killed := time.Now()
	holder := killLeader(t, s)
	s.Create(t, system.OneOff("next", "mail", time.Now().Add(10*time.Second), 10, "ada"))
	s.WaitCounts(t, "planned", "sent without a leader's help", sent(10))
	s.WaitCounts(t, "next", "sent by the new leader", sent(10))
	if now := leader(t, s); now == holder {
		t.Errorf("the leader is still %s", holder)
	}
	t.Logf("status of the new leader %s after the kill", time.Since(killed).Round(time.Second))
	if got := s.Receiver.Stats(); got.Accepted != 20 || got.Duplicates != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d; want 20 and 0", got.Accepted, got.Duplicates)
	}
}

func leader(t *testing.T, s *system.System) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	name := client.ObjectKey{Namespace: system.OperatorNamespace, Name: "controller.reminders.dev"}
	if err := s.Client.Get(t.Context(), name, lease); err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// killLeader finds out which controller leads by stopping one: leadership then
// stays or not. It reads the log, where the leader says that it started workers.
func killLeader(t *testing.T, s *system.System) string {
	t.Helper()
	holder := leader(t, s)
	if holder == "" {
		t.Fatal("nobody leads")
	}
	for _, c := range s.Controllers {
		if leads(c.LogFile()) {
			if err := c.Kill(); err != nil {
				t.Fatal(err)
			}
			return holder
		}
	}
	t.Fatal("no controller says that it leads")
	return ""
}

// Two operators at once, without leader election: one effect per reminder.
func TestRow43TwoOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{Controllers: 2})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	for i := range 10 {
		s.Create(t, system.OneOff("s-"+strconv.Itoa(i), "mail", time.Now().Add(5*time.Second), 10, "ada"))
	}
	minutely := system.OneOff("minutely", "mail", time.Now(), 2, "ada")
	minutely.Spec.Schedule = v1alpha1.ScheduleSpec{Cron: "* * * * *"}
	s.Create(t, minutely)
	for i := range 10 {
		s.WaitCounts(t, "s-"+strconv.Itoa(i), "all sent", sent(10))
	}
	s.WaitCounts(t, "minutely", "a first minute", func(c v1alpha1.ReminderCounts) bool { return c.Sent >= 2 && c.Sent == c.Due })
	got := s.Receiver.Stats()
	for key, k := range got.Keys {
		if k.Arrivals != 1 || k.Accepted != 1 {
			t.Errorf("%s: %d arrivals, %d accepted; want 1 and 1", key, k.Arrivals, k.Accepted)
		}
	}
}
