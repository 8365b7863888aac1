package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/failpoint"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// blackout stands before the receiver and refuses everything while it is down: with
// 503, or where it shall refuse for good with 422, which says nothing of the endpoint,
// so that no circuit opens over it.
type blackout struct {
	next    http.Handler
	down    atomic.Bool
	forGood atomic.Bool
}

func (o *blackout) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case o.down.Load() && o.forGood.Load():
		http.Error(w, "no", http.StatusUnprocessableEntity)
		return
	case o.down.Load():
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	o.next.ServeHTTP(w, r)
}

// hospital is a system whose receiver can be down.
type hospital struct {
	*system.System
	outage *blackout
	url    string
}

func newHospital(t *testing.T, o system.Options) hospital {
	t.Helper()
	s := system.StartT(t, o)
	h := hospital{System: s, outage: &blackout{next: s.Receiver}}
	server := httptest.NewServer(h.outage)
	t.Cleanup(server.Close)
	h.url = server.URL + "/hook"
	return h
}

// start starts a controller that ends with the test at the latest.
func (h hospital) start(t *testing.T, name string, env ...string) *cluster.Process {
	t.Helper()
	c, err := h.StartController(name, env...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s:\n%s", name, c.Tail(40))
		}
		if c.Running() {
			_ = c.Kill()
		}
	})
	return c
}

// bury makes a channel and a schedule of n reminders that all die in an outage, which
// is over then.
func (h hospital) bury(t *testing.T, name string, n int, reason reminder.Reason, change func(*v1alpha1.ReminderSchedule)) {
	t.Helper()
	channel := h.HTTPChannel(name, v1alpha1.IdempotencyByKey)
	channel.Spec.HTTP.URL = h.url
	h.Create(t, channel)
	h.WaitWorkers(t, name, 1)
	h.outage.forGood.Store(reason == reminder.PermanentFailure)
	h.outage.down.Store(true)
	schedule := system.OneOff(name, name, time.Now().Add(2*time.Second), n, "ada")
	schedule.Spec.Delivery.Retry.Attempts = new(int32(2))
	schedule.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: v1alpha1.CatchUpAll} // however late it is planned
	if change != nil {
		change(schedule)
	}
	h.Create(t, schedule)
	h.WaitRecords(t, name, "all dead", n, func(r reminder.Record) bool { return r.State == reminder.Dead && r.Reason == reason })
	h.WaitStatus(t, name, "dead letters in status", func(s v1alpha1.ReminderScheduleStatus) bool {
		return s.DeadLetters != nil && s.DeadLetters.Open == int64(n) && s.DeadLetters.Total == int64(n)
	})
	h.outage.down.Store(false)
}

func replayOf(schedule, name string, changes ...func(*v1alpha1.ReminderReplaySpec)) *v1alpha1.ReminderReplay {
	obj := &v1alpha1.ReminderReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Tenant, Name: name},
		Spec:       v1alpha1.ReminderReplaySpec{ScheduleName: schedule, Action: v1alpha1.ActionReplay, Reason: "The receiver was down"},
	}
	for _, change := range changes {
		change(&obj.Spec)
	}
	return obj
}

// replayed is what a test expects of a ReminderReplay that has ended.
type replayed struct {
	Matched, Replayed, Discarded int64
	Refused                      map[string]int64
	Reason                       string
}

// waitReplay waits until a ReminderReplay has ended.
func (h hospital) waitReplay(t *testing.T, name string) replayed {
	t.Helper()
	var got replayed
	system.Eventually(t, name+" ends", func() (bool, string) {
		obj := &v1alpha1.ReminderReplay{}
		if err := h.Client.Get(t.Context(), client.ObjectKey{Namespace: system.Tenant, Name: name}, obj); err != nil {
			return false, err.Error()
		}
		s := obj.Status
		if s.CompletionTime == nil {
			return false, fmt.Sprintf("%+v", s)
		}
		if faults := condition.Check(s.Conditions, obj.Generation); len(faults) > 0 {
			t.Errorf("conditions of %s: %v", name, faults)
		}
		got = replayed{Matched: s.Matched, Replayed: s.Replayed, Discarded: s.Discarded, Refused: map[string]int64{}}
		for _, r := range s.Refused {
			got.Refused[r.Reason] = r.Count
		}
		for _, c := range s.Conditions {
			if c.Type == v1alpha1.SucceededCondition {
				got.Reason = c.Reason
			}
		}
		return true, ""
	})
	return got
}

func (h hospital) expectReplay(t *testing.T, name string, want replayed) {
	t.Helper()
	if diff := cmp.Diff(want, h.waitReplay(t, name), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// expectSent waits until all n reminders of a schedule that was replayed are sent, and
// holds status, ledger and receiver against each other.
func (h hospital) expectSent(t *testing.T, name string, n int) {
	t.Helper()
	h.WaitRecords(t, name, "all sent", n, func(r reminder.Record) bool { return r.State == reminder.Sent && len(r.Replays) == 1 })
	h.WaitStatus(t, name, "status as the ledger", func(s v1alpha1.ReminderScheduleStatus) bool {
		c, d, all := s.Counts, s.DeadLetters, int64(n)
		return c.Due == all && c.Sent == all && c.Dead == 0 && c.Pending == 0 && d.Open == 0 && d.Total == all && d.Replayed == all && d.Discarded == 0 && len(d.Recent) == 0
	})
	for key, stats := range h.Receiver.Stats().Keys {
		if stats.Accepted > 1 {
			t.Errorf("I2: the receiver accepted %s %d times", key, stats.Accepted)
		}
	}
	for _, r := range h.Records(t, name) {
		if got := h.Receiver.Stats().Keys[r.Key.String()].Accepted; got != 1 {
			t.Errorf("the receiver accepted %s %d times", r.Key, got)
		}
	}
}

// Row 54 on the whole product, with two controllers and no leader election.
func TestRow54DeadLettersAreReplayed(t *testing.T) {
	t.Parallel()
	h := newHospital(t, system.Options{Controllers: 2})
	t.Run("by two objects at once, each once", func(t *testing.T) {
		const n = 30
		h.bury(t, "twice", n, reminder.PermanentFailure, nil)
		quick := func(s *v1alpha1.ReminderReplaySpec) { s.PerSecond = new(int32(100)) }
		h.Create(t, replayOf("twice", "one", quick), replayOf("twice", "two", quick))
		one, two := h.waitReplay(t, "one"), h.waitReplay(t, "two")
		if one.Replayed+two.Replayed != n || one.Matched != one.Replayed || two.Matched != two.Replayed {
			t.Errorf("one %+v, two %+v; want %d together", one, two, n)
		}
		h.expectSent(t, "twice", n)
		h.Create(t, replayOf("twice", "once-more"))
		h.expectReplay(t, "once-more", replayed{Reason: v1alpha1.ReasonNothingMatched})
		first := h.Records(t, "twice")[0].Key.String()
		h.Create(t, replayOf("twice", "sent", func(s *v1alpha1.ReminderReplaySpec) { s.Keys = []string{first} }))
		h.expectReplay(t, "sent", replayed{Matched: 1, Refused: map[string]int64{"AlreadySent": 1}, Reason: v1alpha1.ReasonPartlyRefused})
	})
	t.Run("past the deadline only where it is extended", func(t *testing.T) {
		h.bury(t, "late", 3, reminder.DeadlineReached, func(o *v1alpha1.ReminderSchedule) {
			// No second attempt could start in time.
			o.Spec.Delivery.Deadline.Duration = 30 * time.Second
			o.Spec.Delivery.Retry = &v1alpha1.RetrySpec{Attempts: new(int32(2)), Delays: []metav1.Duration{{Duration: time.Minute}}}
		})
		deadline := h.Records(t, "late")[0].DeadlineTime
		system.Eventually(t, "the deadline passes", func() (bool, string) { return time.Now().After(deadline), "not yet" })
		h.Create(t, replayOf("late", "too-late"))
		h.expectReplay(t, "too-late", replayed{Matched: 3, Refused: map[string]int64{"DeadlineReached": 3}, Reason: v1alpha1.ReasonPartlyRefused})
		h.Create(t, replayOf("late", "extended", func(s *v1alpha1.ReminderReplaySpec) { s.ExtendDeadline = &metav1.Duration{Duration: time.Hour} }))
		h.expectReplay(t, "extended", replayed{Matched: 3, Replayed: 3, Reason: v1alpha1.ReasonCompleted})
		h.expectSent(t, "late", 3)
	})
	t.Run("what may have been accepted only where it is named", func(t *testing.T) {
		h.Create(t, h.HTTPChannel("parked", v1alpha1.IdempotencyNone))
		h.WaitWorkers(t, "parked", 1)
		schedule := system.OneOff("parked", "parked", time.Now().Add(2*time.Second), 2, "slow-once")
		schedule.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: v1alpha1.CatchUpAll}
		h.Create(t, schedule)
		h.WaitRecords(t, "parked", "parked", 2, func(r reminder.Record) bool { return r.Reason == reminder.ReconciliationRequired })
		h.Create(t, replayOf("parked", "unnamed"))
		h.expectReplay(t, "unnamed", replayed{Matched: 2, Refused: map[string]int64{"ReconciliationRequired": 2}, Reason: v1alpha1.ReasonPartlyRefused})
		h.Create(t, replayOf("parked", "named", func(s *v1alpha1.ReminderReplaySpec) { s.Reasons = []v1alpha1.DeadReason{"ReconciliationRequired"} }))
		h.expectReplay(t, "named", replayed{Matched: 2, Replayed: 2, Reason: v1alpha1.ReasonCompleted})
		h.expectSent(t, "parked", 2)
	})
	t.Run("discarded without a send", func(t *testing.T) {
		h.bury(t, "closed", 3, reminder.RetryBudgetExhausted, nil)
		before := h.Receiver.Stats().Arrivals
		h.Create(t, replayOf("closed", "close", func(s *v1alpha1.ReminderReplaySpec) { s.Action = v1alpha1.ActionDiscard }))
		h.expectReplay(t, "close", replayed{Matched: 3, Discarded: 3, Reason: v1alpha1.ReasonCompleted})
		h.WaitStatus(t, "closed", "status as the ledger", func(s v1alpha1.ReminderScheduleStatus) bool {
			d := s.DeadLetters
			return s.Counts.Due == 3 && s.Counts.Dead == 0 && d.Open == 0 && d.Total == 3 && d.Discarded == 3 && d.Replayed == 0
		})
		if after := h.Receiver.Stats().Arrivals; after != before {
			t.Errorf("%d requests arrived", after-before)
		}
	})
	t.Run("not after the schedule is gone", func(t *testing.T) {
		h.bury(t, "gone", 3, reminder.RetryBudgetExhausted, nil)
		if err := h.Client.Delete(t.Context(), h.Schedule(t, "gone")); err != nil {
			t.Fatal(err)
		}
		before := h.Receiver.Stats().Arrivals
		h.Create(t, replayOf("gone", "too-late-for-gone"))
		h.expectReplay(t, "too-late-for-gone", replayed{Matched: 3, Refused: map[string]int64{"ScheduleDeleted": 3}, Reason: v1alpha1.ReasonScheduleDeleted})
		h.WaitRecords(t, "gone", "still dead", 3, func(r reminder.Record) bool { return r.State == reminder.Dead && len(r.Replays) == 0 })
		if after := h.Receiver.Stats().Arrivals; after != before {
			t.Errorf("%d requests arrived", after-before)
		}
	})
}

// Row 54: a controller that is killed in the middle of a replay, at each boundary, and
// the next one: exact counts, one replay and one acceptance of each.
func TestRow54KilledInAReplay(t *testing.T) {
	t.Parallel()
	h := newHospital(t, system.Options{Controllers: -1, Failpoints: true})
	for _, point := range []string{failpoint.R1Recorded, failpoint.R2Resolved, failpoint.R3Released} {
		t.Run("killed at "+point, func(t *testing.T) {
			const n = 15
			name := "killed-" + map[string]string{failpoint.R1Recorded: "a", failpoint.R2Resolved: "b", failpoint.R3Released: "c"}[point]
			healthy := h.start(t, "before-"+name)
			h.bury(t, name, n, reminder.PermanentFailure, nil)
			if err := healthy.Stop(30 * time.Second); err != nil {
				t.Fatal(err)
			}
			doomed := h.start(t, "doomed-"+name, "REMINDER_FAILPOINT="+point+"@7")
			h.Create(t, replayOf(name, name))
			system.Eventually(t, "the controller dies", func() (bool, string) { return !doomed.Running(), "it is running" })
			next := h.start(t, "next-"+name)
			h.expectReplay(t, name, replayed{Matched: n, Replayed: n, Reason: v1alpha1.ReasonCompleted})
			h.expectSent(t, name, n)
			system.Eventually(t, "no dead letter stands", func() (bool, string) {
				left := deadLetters(t, h.System, reminder.OwnerPolicy)
				return left == 0, fmt.Sprint(left)
			})
			if err := next.Stop(30 * time.Second); err != nil {
				t.Fatal(err)
			}
		})
	}
}
