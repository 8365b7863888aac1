package integration

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/cmd"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// interval is the --status-interval of the system's controllers.
const interval = 2 * time.Second

// What people do to objects behind the operator's back, one after the other on one
// system; the broker goes away last.
func TestObjectsConverge(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{ControllerArgs: []string{"--orphans-every=1s", "--cleanup-patience=5s"}})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey), system.LogChannel("log"))
	s.WaitWorkers(t, "mail", 1)
	s.WaitWorkers(t, "log", 1)
	t.Run("a status edited by hand heals", func(t *testing.T) { statusEditedByHand(t, s) })
	t.Run("a finalizer removed by hand leaves no reminder", func(t *testing.T) { finalizerRemoved(t, s) })
	t.Run("deleted and made anew inside a second", func(t *testing.T) { madeAnew(t, s) })
	t.Run("O12: the channel comes after the schedule, and the Secret after the channel", func(t *testing.T) { referencesComeLate(t, s) })
	t.Run("O3: labels in a loop cause no storm of status writes", func(t *testing.T) { labelsInALoop(t, s) })
	t.Run("O4: deletions end in bounded time while the broker is away", func(t *testing.T) { deletionsWithoutBroker(t, s) })
}

func statusEditedByHand(t *testing.T, s *system.System) {
	once := system.OneOff("once", "log", time.Now().Add(2*time.Second), 3, "ada")
	daily := system.OneOff("daily", "log", time.Now(), 1, "ada")
	daily.Spec.Schedule = v1alpha1.ScheduleSpec{Every: &metav1.Duration{Duration: 24 * time.Hour}}
	s.Create(t, once, daily)
	s.WaitReason(t, "once", v1alpha1.ReasonFinished)
	s.WaitCounts(t, "once", "sent", sent(3))
	s.WaitReason(t, "daily", v1alpha1.ReasonPlanned)
	for _, name := range []string{"once", "daily"} {
		for what, spoil := range map[string]func(*v1alpha1.ReminderScheduleStatus){
			"the cursor in the future": func(st *v1alpha1.ReminderScheduleStatus) {
				st.PlannedThroughTime = &metav1.Time{Time: time.Now().Add(10_000 * time.Hour)}
			},
			"the cursor in the past": func(st *v1alpha1.ReminderScheduleStatus) {
				st.PlannedThroughTime = &metav1.Time{Time: time.Now().Add(-10_000 * time.Hour)}
			},
			"garbage everywhere": func(st *v1alpha1.ReminderScheduleStatus) {
				st.Counts = &v1alpha1.ReminderCounts{Sent: 99, Dead: 7}
				st.DeadLetters = &v1alpha1.DeadLetterStatus{Open: 5}
				st.FinishTime, st.TimeZone, st.ObservedGeneration, st.Conditions = &metav1.Time{Time: time.Now()}, "Mars/Base", 77, nil
			},
			"nothing": func(st *v1alpha1.ReminderScheduleStatus) { *st = v1alpha1.ReminderScheduleStatus{} },
		} {
			before := s.Schedule(t, name).Status
			spoilStatus(t, s, name, spoil)
			system.Eventually(t, name+" heals: "+what, func() (bool, string) { return healed(s.Schedule(t, name), before) })
		}
	}
	for name, n := range map[string]int{"once": 3, "daily": 0} {
		if records := s.Records(t, name); len(records) != n {
			t.Errorf("%s has %d reminders, want %d: a cursor has planned some", name, len(records), n)
		}
	}
}

func spoilStatus(t *testing.T, s *system.System, name string, spoil func(*v1alpha1.ReminderScheduleStatus)) {
	t.Helper()
	system.Eventually(t, "edit the status of "+name, func() (bool, string) {
		obj := s.Schedule(t, name)
		spoil(&obj.Status)
		err := s.Client.Status().Update(t.Context(), obj)
		return err == nil, fmt.Sprint(err)
	})
}

// healed tells whether a status says what it said before, in what does not go on with time.
func healed(obj *v1alpha1.ReminderSchedule, before v1alpha1.ReminderScheduleStatus) (bool, string) {
	now := obj.Status
	if now.Counts == nil || now.DeadLetters == nil || now.PlannedThroughTime == nil {
		return false, "parts are missing"
	}
	ahead := time.Until(now.PlannedThroughTime.Time)
	good := *now.Counts == *before.Counts && now.DeadLetters.Open == before.DeadLetters.Open && now.FinishTime.Equal(before.FinishTime) &&
		now.TimeZone == before.TimeZone && now.ObservedGeneration == obj.Generation && len(condition.Check(now.Conditions, obj.Generation)) == 0 &&
		ahead < 16*time.Minute && ahead > -time.Hour
	return good, fmt.Sprintf("%+v, planned through %s", now, now.PlannedThroughTime)
}

func finalizerRemoved(t *testing.T, s *system.System) {
	s.Create(t, system.OneOff("lost", "mail", time.Now().Add(5*time.Minute), 5, "ada"))
	s.WaitRecords(t, "lost", "planned", 5, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	system.Eventually(t, "the object is gone without its finalizer's work", func() (bool, string) {
		obj := &v1alpha1.ReminderSchedule{}
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: system.Tenant, Name: "lost"}, obj); apierrors.IsNotFound(err) {
			return true, ""
		}
		obj.Finalizers = nil
		err := s.Client.Update(t.Context(), obj)
		if err == nil {
			err = s.Client.Delete(t.Context(), obj)
		}
		return false, fmt.Sprint(err)
	})
	s.WaitRecords(t, "lost", "cancelled by the orphan sweep", 5, cancelled(reminder.ScheduleDeleted))
}

func madeAnew(t *testing.T, s *system.System) {
	at := time.Now().Add(25 * time.Second)
	fresh := func() *v1alpha1.ReminderSchedule { return system.OneOff("anew", "mail", at, 4, "ada") }
	before := s.Receiver.Stats()
	s.Create(t, fresh())
	s.WaitRecords(t, "anew", "planned", 4, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	first := s.Schedule(t, "anew").UID
	for range 3 {
		if err := s.Client.Delete(t.Context(), fresh()); err != nil {
			t.Fatal(err)
		}
		system.Eventually(t, "made anew", func() (bool, string) {
			err := s.Client.Create(t.Context(), fresh())
			return err == nil, fmt.Sprint(err)
		})
	}
	if s.Schedule(t, "anew").UID == first {
		t.Fatal("it is still the first object")
	}
	s.WaitCounts(t, "anew", "sent once", sent(4))
	if after := s.Receiver.Stats(); after.Arrivals-before.Arrivals != 4 || after.Duplicates != before.Duplicates {
		t.Errorf("%d arrivals, %d duplicates; want 4 and none", after.Arrivals-before.Arrivals, after.Duplicates-before.Duplicates)
	}
	s.WaitReason(t, "anew", v1alpha1.ReasonFinished)
}

func referencesComeLate(t *testing.T, s *system.System) {
	s.Create(t, system.OneOff("early", "later", time.Now().Add(3*time.Second), 2, "ada"))
	s.WaitReason(t, "early", v1alpha1.ReasonChannelNotFound)
	channel := s.HTTPChannel("later", v1alpha1.IdempotencyByKey)
	channel.Spec.HTTP.SecretName = "later-signing"
	s.Create(t, channel)
	s.WaitReason(t, "early", v1alpha1.ReasonChannelNotReady)
	s.Create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Tenant, Name: "later-signing"}, StringData: map[string]string{"signingKey": system.SigningKey},
	})
	s.WaitCounts(t, "early", "sent once everything is there", sent(2))
	s.WaitReason(t, "early", v1alpha1.ReasonFinished)
}

// change is one change of status that a watch has seen.
type change struct {
	at      time.Time
	version string
}

// watchStatus collects the changes of a schedule's status until ctx ends.
func watchStatus(ctx context.Context, t *testing.T, s *system.System, name string) (count *atomic.Int32, changes func() []change) {
	t.Helper()
	w, err := client.NewWithWatch(s.Kube.RESTConfig(), client.Options{Scheme: cmd.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	events, err := w.Watch(ctx, &v1alpha1.ReminderScheduleList{}, client.InNamespace(system.Tenant), client.MatchingFields{"metadata.name": name})
	if err != nil {
		t.Fatal(err)
	}
	var seen []change
	count = &atomic.Int32{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var last *v1alpha1.ReminderSchedule
		for e := range events.ResultChan() {
			obj, ok := e.Object.(*v1alpha1.ReminderSchedule)
			if !ok {
				continue
			}
			if last != nil && condition.Differs(last.Status, obj.Status) {
				seen = append(seen, change{time.Now(), obj.ResourceVersion})
				count.Add(1)
			}
			last = obj
		}
	}()
	return count, func() []change {
		<-ctx.Done()
		events.Stop()
		<-done
		return seen
	}
}

func labelsInALoop(t *testing.T, s *system.System) {
	deaf := s.HTTPChannel("deaf", v1alpha1.IdempotencyByKey)
	deaf.Spec.HTTP.URL = "http://127.0.0.1:9/refused" // so that reminders are retried, until the circuit opens and then one by one
	s.Create(t, deaf)
	s.WaitWorkers(t, "deaf", 1)
	const n = 200
	s.Create(t, system.OneOff("idle", "log", time.Now().Add(1000*time.Hour), 1, "ada"), system.OneOff("busy", "deaf", time.Now().Add(2*time.Second), n, "ada"))
	s.WaitReason(t, "idle", v1alpha1.ReasonPlanned)
	s.WaitCounts(t, "busy", "retried", func(c v1alpha1.ReminderCounts) bool { return c.Retried > 0 })
	config := rest.CopyConfig(s.Kube.RESTConfig())
	config.QPS, config.Burst = 1000, 1000
	quick, err := client.New(config, client.Options{Scheme: cmd.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	_, idleChanges := watchStatus(ctx, t, s, "idle")
	busyCount, busyChanges := watchStatus(ctx, t, s, "busy")
	labels, begin := 0, time.Now()
	for ; ctx.Err() == nil; labels++ {
		if time.Since(begin) > 12*time.Second && busyCount.Load() >= 2 {
			cancel() // a machine may be slow
		}
		for _, name := range []string{"idle", "busy"} {
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{"turn":"%d"}}}`, labels)
			obj := &v1alpha1.ReminderSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: system.Tenant, Name: name}}
			if err := quick.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch)); err != nil && ctx.Err() == nil {
				t.Fatal(err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	if got := idleChanges(); len(got) > 0 {
		t.Errorf("%d changes of the status of an idle schedule beside %d labels", len(got), labels)
	}
	changes, took := busyChanges(), time.Since(begin)
	t.Logf("%d changes of status beside %d labels", len(changes), labels)
	if len(changes) < 2 || len(changes) > int(took/interval)+1 {
		t.Errorf("%d changes of status in %s, want some and at most one every %s", len(changes), took, interval)
	}
	for i := 1; i < len(changes); i++ {
		if gap := changes[i].at.Sub(changes[i-1].at); gap < interval-500*time.Millisecond {
			t.Errorf("two changes of status within %s (versions %s and %s)", gap, changes[i-1].version, changes[i].version)
		}
	}
	s.WaitCounts(t, "busy", "all are there", func(c v1alpha1.ReminderCounts) bool { return c.Due == n && c.Dead+c.Pending == n })
}

func deletionsWithoutBroker(t *testing.T, s *system.System) {
	s.Create(t, system.OneOff("left", "mail", time.Now().Add(5*time.Minute), 5, "ada"), system.LogChannel("unused"))
	s.WaitRecords(t, "left", "planned", 5, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	s.WorkersOf(t, "unused")
	if err := s.NATS.Kill(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	doomed := []client.Object{s.Schedule(t, "left"), system.LogChannel("unused")}
	for _, obj := range doomed {
		if err := s.Client.Delete(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	for _, obj := range doomed {
		system.EventuallyWithin(t, 40*time.Second, obj.GetName()+" is let go", func() (bool, string) {
			return apierrors.IsNotFound(s.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)), "still there"
		})
	}
	t.Logf("let go after %s", time.Since(start).Round(time.Second))
	system.Eventually(t, "events say so", func() (bool, string) {
		var list eventsv1.EventList
		if err := s.Client.List(t.Context(), &list, client.InNamespace(system.Tenant)); err != nil {
			return false, err.Error()
		}
		told := map[string]bool{}
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Note, "Deleted although") {
				told[list.Items[i].Regarding.Name] = true
			}
		}
		return told["left"] && told["unused"], fmt.Sprint(told)
	})
	if err := s.NATS.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.WaitRecords(t, "left", "cancelled once the broker is back", 5, cancelled(reminder.ScheduleDeleted))
}
