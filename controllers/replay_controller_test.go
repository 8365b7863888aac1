package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// ward is a site with a schedule whose reminders are dead.
type ward struct{ *site }

// newWard plans n occurrences for two recipients and kills all reminders, one second
// after another, in the order of their keys.
func newWard(t *testing.T, n int, reasons ...reminder.Reason) ward {
	t.Helper()
	s := newSite(t)
	s.create(s.hourly(n))
	s.pass(s.schedules())
	s.wait(time.Duration(n+1) * time.Minute)
	w := ward{s}
	for i, rev := range w.byKey() {
		reason := reminder.RetryBudgetExhausted
		if len(reasons) > 0 {
			reason = reasons[i%len(reasons)]
		}
		w.kill(rev, reason)
		s.wait(time.Second)
	}
	return w
}

// kill ends a reminder as a worker does.
func (w ward) kill(rev broker.Revision, reason reminder.Reason) {
	w.t.Helper()
	r := rev.Record
	r.Attempts, r.Unresolved = r.Attempts+5, reason == reminder.ReconciliationRequired
	next := delivery.Refuse(r, reason, "status 503", delivery.Policy{Retention: w.Broker.Retention()}, w.now()).Record
	found := rev.Record.Footprint()
	next.Previous = &found
	if _, err := w.Broker.Ledger.Update(w.t.Context(), next, rev.Number); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Broker.DeadLetters.Publish(w.t.Context(), reminder.DeadLetterOf(next)); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Broker.Queue.Withdraw(w.t.Context(), next.Key); err != nil {
		w.t.Fatal(err)
	}
}

// byKey are the latest revisions in the order of their keys.
func (w ward) byKey() []broker.Revision {
	w.t.Helper()
	return slices.SortedFunc(slices.Values(w.revisions()), func(a, b broker.Revision) int { return strings.Compare(a.Token, b.Token) })
}

// keys are the readable keys, in the same order.
func (w ward) keys() (all []string) {
	for _, rev := range w.byKey() {
		all = append(all, rev.Record.Key.String())
	}
	return all
}

// letters counts the dead letters.
func (w ward) letters() int { return len(brokertest.Messages(w.t, w.url, "REMINDERS_DEAD")) }

// replay makes a ReminderReplay.
func (w ward) replay(name string, changes ...func(*v1alpha1.ReminderReplaySpec)) {
	w.t.Helper()
	obj := &v1alpha1.ReminderReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: renewal.Namespace, Name: name, UID: types.UID("uid-of-" + name), Generation: 1},
		Spec:       v1alpha1.ReminderReplaySpec{ScheduleName: renewal.Name, Action: v1alpha1.ActionReplay, Reason: "Gateway was down"},
	}
	for _, change := range changes {
		change(&obj.Spec)
	}
	w.create(obj)
}

func (w ward) got(name string) *v1alpha1.ReminderReplay {
	w.t.Helper()
	obj := &v1alpha1.ReminderReplay{}
	if err := w.api.Get(w.t.Context(), client.ObjectKey{Namespace: renewal.Namespace, Name: name}, obj); err != nil {
		w.t.Fatal(err)
	}
	return obj
}

func (w ward) work(r *replayReconciler, name string) ctrl.Result {
	w.t.Helper()
	result, err := r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: renewal.Namespace, Name: name}})
	if err != nil {
		w.t.Fatalf("reconcile: %v", err)
	}
	return result
}

// finish works on an object until it has ended.
func (w ward) finish(r *replayReconciler, name string) v1alpha1.ReminderReplayStatus {
	w.t.Helper()
	for range 200 {
		result := w.work(r, name)
		if status := w.got(name).Status; status.CompletionTime != nil {
			return status
		}
		w.wait(max(result.RequeueAfter, time.Millisecond))
	}
	w.t.Fatalf("it does not end: %+v", w.got(name).Status)
	return v1alpha1.ReminderReplayStatus{}
}

// counted is a status without times and conditions.
type counted struct {
	Matched, Replayed, Discarded int64
	Refused                      map[string]int64
	Succeeded, Reason            string
}

func countsOf(s v1alpha1.ReminderReplayStatus) counted {
	c := counted{Matched: s.Matched, Replayed: s.Replayed, Discarded: s.Discarded, Refused: map[string]int64{}}
	for _, r := range s.Refused {
		c.Refused[r.Reason] = r.Count
	}
	for _, cond := range s.Conditions {
		if cond.Type == v1alpha1.SucceededCondition {
			c.Succeeded, c.Reason = string(cond.Status), cond.Reason
		}
	}
	return c
}

func (w ward) expect(s v1alpha1.ReminderReplayStatus, want counted) {
	w.t.Helper()
	if diff := cmp.Diff(want, countsOf(s), cmpopts.EquateEmpty()); diff != "" {
		w.t.Errorf("status (-want +got):\n%s\n%+v", diff, s.Conditions)
	}
	if faults := condition.Check(s.Conditions, 1); len(faults) > 0 {
		w.t.Errorf("conditions: %v", faults)
	}
}

func (w ward) expectRecords(want map[string]int) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.records()); diff != "" {
		w.t.Errorf("records (-want +got):\n%s", diff)
	}
}

func discarding(s *v1alpha1.ReminderReplaySpec) { s.Action = v1alpha1.ActionDiscard }
func extending(d time.Duration) func(*v1alpha1.ReminderReplaySpec) {
	return func(s *v1alpha1.ReminderReplaySpec) { s.ExtendDeadline = duration(d) }
}
func limited(n int32) func(*v1alpha1.ReminderReplaySpec) {
	return func(s *v1alpha1.ReminderReplaySpec) { s.Limit = &n }
}

func TestReplayPutsDeadLettersBackToWork(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	r := newReplayReconciler(w.Options)
	w.told() // of the schedule
	w.replay("first")
	status := w.finish(r, "first")
	w.expect(status, counted{Matched: 6, Replayed: 6, Succeeded: "True", Reason: v1alpha1.ReasonCompleted})
	w.expectRecords(map[string]int{"Scheduled": 6})
	if n := w.letters(); n != 0 {
		t.Errorf("%d dead letters still stand", n)
	}
	if n := w.messages(); n != 6 {
		t.Errorf("%d due jobs, want 6", n)
	}
	for _, rev := range w.byKey() {
		entry := rev.Record.LastReplay()
		if len(rev.Record.Replays) != 1 || entry.UID != "uid-of-first" || entry.Name != "first" || entry.Why != "Gateway was down" || entry.Reason != reminder.RetryBudgetExhausted || entry.Attempts != 5 {
			t.Errorf("audit of %s: %+v", rev.Record.Key, rev.Record.Replays)
		}
	}
	if status.StartTime == nil || status.StartTime.After(status.CompletionTime.Time) || status.ObservedGeneration != 1 {
		t.Errorf("started %v, completed %v, observed %d", status.StartTime, status.CompletionTime, status.ObservedGeneration)
	}
	if told := w.told(); len(told) != 0 { // the success of a new object is no transition
		t.Errorf("events %v", told)
	}

	before := w.byKey()
	w.work(r, "first")
	w.work(newReplayReconciler(w.Options), "first")
	if diff := cmp.Diff(before, w.byKey()); diff != "" {
		t.Errorf("one that has ended did something:\n%s", diff)
	}
	w.replay("second")
	w.expect(w.finish(r, "second"), counted{Succeeded: "True", Reason: v1alpha1.ReasonNothingMatched})
}

// L4: the same reminders die and are replayed again and again: each is counted, and
// after five times it is over.
func TestReplaysOfOneReminderAreBounded(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1)
	r := newReplayReconciler(w.Options)
	for turn := range delivery.MaxReplays {
		name := fmt.Sprint("turn-", turn)
		w.replay(name)
		w.expect(w.finish(r, name), counted{Matched: 2, Replayed: 2, Succeeded: "True", Reason: v1alpha1.ReasonCompleted})
		for _, rev := range w.byKey() {
			w.kill(rev, reminder.RetryBudgetExhausted)
		}
		w.wait(time.Minute)
	}
	w.replay("over")
	w.expect(w.finish(r, "over"), counted{Matched: 2, Refused: map[string]int64{"ReplayBudgetExhausted": 2}, Succeeded: "False", Reason: v1alpha1.ReasonPartlyRefused})
	w.replay("close", discarding)
	w.expect(w.finish(r, "close"), counted{Matched: 2, Discarded: 2, Succeeded: "True", Reason: v1alpha1.ReasonCompleted})
	w.expectRecords(map[string]int{"Discarded": 2})
	if n := w.letters() + w.messages(); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestReplaySelectsAndRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reasons []reminder.Reason
		late    bool
		change  func(ward, *v1alpha1.ReminderReplaySpec)
		want    counted
	}{
		"L2: past the deadline": {
			late: true,
			want: counted{Matched: 4, Refused: map[string]int64{"DeadlineReached": 4}, Succeeded: "False", Reason: "PartlyRefused"},
		},
		"past the deadline, extended": {
			late:   true,
			change: func(_ ward, s *v1alpha1.ReminderReplaySpec) { extending(time.Hour)(s) },
			want:   counted{Matched: 4, Replayed: 4, Succeeded: "True", Reason: "Completed"},
		},
		"some reasons": {
			reasons: []reminder.Reason{reminder.EndpointGone, reminder.DeadlineReached},
			change:  func(_ ward, s *v1alpha1.ReminderReplaySpec) { s.Reasons = []v1alpha1.DeadReason{"EndpointGone"} },
			want:    counted{Matched: 2, Replayed: 2, Succeeded: "True", Reason: "Completed"},
		},
		"what may have been accepted is not among all": {
			reasons: []reminder.Reason{reminder.EndpointGone, reminder.ReconciliationRequired},
			want:    counted{Matched: 4, Replayed: 2, Refused: map[string]int64{"ReconciliationRequired": 2}, Succeeded: "False", Reason: "PartlyRefused"},
		},
		"what may have been accepted, named by its reason": {
			reasons: []reminder.Reason{reminder.EndpointGone, reminder.ReconciliationRequired},
			change: func(_ ward, s *v1alpha1.ReminderReplaySpec) {
				s.Reasons = []v1alpha1.DeadReason{"ReconciliationRequired"}
			},
			want: counted{Matched: 2, Replayed: 2, Succeeded: "True", Reason: "Completed"},
		},
		"keys, with mistakes": {
			change: func(w ward, s *v1alpha1.ReminderReplaySpec) {
				s.Keys = []string{w.keys()[2], "shop/other/2026-11-03T08:00:00Z/ada", "other/renewal/2026-11-03T08:00:00Z/ada", "shop/renewal/2026-11-03T08:00:00Z/nobody", "nonsense"}
			},
			want: counted{Matched: 5, Replayed: 1, Refused: map[string]int64{"OtherSchedule": 3, "UnknownKey": 1}, Succeeded: "False", Reason: "PartlyRefused"},
		},
		"keys of what is not dead": {
			change: func(w ward, s *v1alpha1.ReminderReplaySpec) {
				all := w.byKey()
				for i, state := range []reminder.State{reminder.Sent, reminder.Cancelled} {
					next := all[i].Record
					next.State, next.Reason = state, ""
					if _, err := w.Broker.Ledger.Update(w.t.Context(), next, all[i].Number); err != nil {
						w.t.Fatal(err)
					}
				}
				s.Keys = w.keys()
			},
			want: counted{Matched: 4, Replayed: 2, Refused: map[string]int64{"AlreadySent": 1, "NotDead": 1}, Succeeded: "False", Reason: "PartlyRefused"},
		},
		"keys and reasons must both match": {
			reasons: []reminder.Reason{reminder.EndpointGone, reminder.DeadlineReached},
			change: func(w ward, s *v1alpha1.ReminderReplaySpec) {
				s.Keys, s.Reasons = w.keys()[:2], []v1alpha1.DeadReason{"EndpointGone"}
			},
			want: counted{Matched: 1, Replayed: 1, Succeeded: "True", Reason: "Completed"},
		},
		"a dry run": {
			reasons: []reminder.Reason{reminder.EndpointGone, reminder.ReconciliationRequired},
			change:  func(_ ward, s *v1alpha1.ReminderReplaySpec) { s.DryRun = true },
			want:    counted{Matched: 4, Replayed: 2, Refused: map[string]int64{"ReconciliationRequired": 2}, Succeeded: "True", Reason: "DryRunCompleted"},
		},
		"a dry run of a discard": {
			change: func(_ ward, s *v1alpha1.ReminderReplaySpec) { s.DryRun, s.Action = true, v1alpha1.ActionDiscard },
			want:   counted{Matched: 4, Discarded: 4, Succeeded: "True", Reason: "DryRunCompleted"},
		},
		"a suspended schedule": {
			change: func(w ward, _ *v1alpha1.ReminderReplaySpec) {
				w.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.Suspend = true })
			},
			want: counted{Matched: 4, Refused: map[string]int64{"Suspended": 4}, Succeeded: "False", Reason: "PartlyRefused"},
		},
		"a schedule with other times": {
			change: func(w ward, _ *v1alpha1.ReminderReplaySpec) {
				w.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Every = duration(time.Hour) })
				w.pass(w.schedules())
			},
			want: counted{Matched: 4, Refused: map[string]int64{"Superseded": 4}, Succeeded: "False", Reason: "PartlyRefused"},
		},
		"an extension beyond what the receiver remembers": {
			change: func(w ward, s *v1alpha1.ReminderReplaySpec) {
				w.create(&v1alpha1.ReminderChannel{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mail"},
					Spec:       v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeHTTP, Idempotency: v1alpha1.IdempotencyByKey},
				})
				extending(25 * time.Hour)(s)
			},
			want: counted{Succeeded: "False", Reason: "InvalidSpec"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t, 2, tt.reasons...)
			if tt.late {
				w.wait(24 * time.Hour)
			}
			w.replay("r", func(s *v1alpha1.ReminderReplaySpec) {
				if tt.change != nil {
					tt.change(w, s)
				}
			})
			w.expect(w.finish(newReplayReconciler(w.Options), "r"), tt.want)
			scheduled := w.records()["Scheduled"]
			if want := int(tt.want.Replayed); tt.want.Reason != v1alpha1.ReasonDryRunCompleted && scheduled != want {
				t.Errorf("%d records are scheduled, want %d", scheduled, want)
			} else if tt.want.Reason == v1alpha1.ReasonDryRunCompleted && (scheduled != 0 || w.letters() != 4) {
				t.Errorf("a dry run left %d scheduled and %d dead letters", scheduled, w.letters())
			}
		})
	}
}

// L3: at most limit, the oldest first, at most perSecond a second, and status at most
// once in ten seconds.
func TestReplayIsBoundedAndPaced(t *testing.T) {
	t.Parallel()
	w := newWard(t, 14)
	r := newReplayReconciler(w.Options)
	w.replay("r", limited(25), func(s *v1alpha1.ReminderReplaySpec) { s.PerSecond = new(int32(4)) })
	began, writes := w.now(), w.writes
	for second := range 7 {
		w.work(r, "r")
		if got, want := w.records()["Scheduled"], min(4*(second+1), 25); got != want {
			t.Fatalf("after %d seconds %d are replayed, want %d", second, got, want)
		}
		w.wait(500 * time.Millisecond)
		w.work(r, "r") // such as after an event: the pace stays
		w.wait(500 * time.Millisecond)
		if n := w.writes - writes; n != 1 {
			t.Fatalf("status was written %d times in the first seconds", n)
		}
	}
	if s := w.got("r").Status; s.CompletionTime != nil || s.Replayed != 4 || s.Matched != 25 || countsOf(s).Succeeded != "Unknown" || countsOf(s).Reason != "Running" {
		t.Errorf("status while it runs: %+v", s)
	} else if faults := condition.Check(s.Conditions, 1); len(faults) > 0 {
		t.Errorf("conditions while it runs: %v", faults)
	}
	status := w.finish(r, "r")
	w.expect(status, counted{Matched: 25, Replayed: 25, Succeeded: "True", Reason: "Completed"})
	if took := w.now().Sub(began); took < 10*time.Second || w.writes-writes != 2 {
		t.Errorf("it took %s and %d writes of status", took, w.writes-writes)
	}
	for i, rev := range w.byKey() { // they died in this order
		if want := i < 25; want != (rev.Record.State == reminder.Scheduled) {
			t.Errorf("number %d is %s", i, rev.Record.State)
		}
	}
	if message := status.Conditions[0].Message; !strings.Contains(message, "3 more match beyond the limit of 25") {
		t.Errorf("message %q", message)
	}
}

// Row 54: two objects and two controllers at once, with passes cut off anywhere, replay
// each reminder once.
func TestRow54ReplaysAtOnce(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][2]string{"two objects": {"one", "two"}, "two controllers": {"one", "one"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t, 8)
			w.replay("one")
			if names[1] != "one" {
				w.replay("two")
			}
			var both sync.WaitGroup
			for _, name := range names {
				r := newReplayReconciler(w.Options)
				r.Broker = brokertest.Connect(t, w.url)
				both.Go(func() {
					for w.got(name).Status.CompletionTime == nil {
						_, _ = r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: name}})
						w.wait(300 * time.Millisecond)
					}
				})
			}
			both.Wait()
			w.expectRecords(map[string]int{"Scheduled": 16})
			by := map[string]int64{}
			for _, rev := range w.byKey() {
				if len(rev.Record.Replays) != 1 {
					t.Errorf("%s was replayed %d times", rev.Record.Key, len(rev.Record.Replays))
				}
				by[rev.Record.Replays[0].Name]++
			}
			for name, n := range by {
				if s := w.got(name).Status; s.Replayed != n || s.Matched != n {
					t.Errorf("%s: matched %d, replayed %d; the ledger has %d", name, s.Matched, s.Replayed, n)
				}
			}
			if n := w.letters(); n != 0 || w.messages() != 16 {
				t.Errorf("%d dead letters, %d due jobs", n, w.messages())
			}
		})
	}
}

// A process that comes after one that was killed does what had not followed, and knows
// from the ledger what had been done.
func TestAReplayIsTakenUpAfterACrash(t *testing.T) {
	t.Parallel()
	for name, resolved := range map[string]bool{"killed behind the record": false, "killed behind the dead letter": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t, 2)
			w.replay("r")
			first := w.byKey()[0]
			next, refusal := delivery.Replay(first.Record, orderOf(w.got("r")), delivery.Facts{Epoch: first.Record.Epoch}, time.Hour, w.now())
			if refusal != "" {
				t.Fatal(refusal)
			}
			if _, err := w.Broker.Ledger.Update(t.Context(), next, first.Number); err != nil {
				t.Fatal(err)
			}
			if resolved {
				if err := w.Broker.DeadLetters.Resolve(t.Context(), next.Key); err != nil {
					t.Fatal(err)
				}
			}
			w.expect(w.finish(newReplayReconciler(w.Options), "r"), counted{Matched: 4, Replayed: 4, Succeeded: "True", Reason: "Completed"})
			if w.letters() != 0 || w.messages() != 4 {
				t.Errorf("%d dead letters, %d due jobs", w.letters(), w.messages())
			}
			for _, rev := range w.byKey() {
				if len(rev.Record.Replays) != 1 {
					t.Errorf("%s was replayed %d times", rev.Record.Key, len(rev.Record.Replays))
				}
			}
		})
	}
}

// What dies again while an operation runs is not tried again by the same object, also
// by a process that does not remember it.
func TestAReplayHandlesAReminderOnce(t *testing.T) {
	t.Parallel()
	w := newWard(t, 6)
	w.replay("r")
	w.work(newReplayReconciler(w.Options), "r") // ten of twelve
	for _, rev := range w.byKey() {
		if rev.Record.State == reminder.Scheduled {
			w.kill(rev, reminder.EndpointGone)
		}
	}
	w.expectRecords(map[string]int{"Dead EndpointGone": 10, "Dead RetryBudgetExhausted": 2})
	w.expect(w.finish(newReplayReconciler(w.Options), "r"), counted{Matched: 12, Replayed: 12, Succeeded: "True", Reason: "Completed"})
	w.expectRecords(map[string]int{"Dead EndpointGone": 10, "Scheduled": 2})
}

func TestAReplayOfAScheduleThatIsNotThere(t *testing.T) {
	t.Parallel()
	t.Run("one that never was is waited for", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		w := ward{s}
		w.replay("r")
		r := newReplayReconciler(w.Options)
		if result := w.work(r, "r"); result.RequeueAfter != 10*time.Second {
			t.Errorf("comes back after %s", result.RequeueAfter)
		}
		w.expect(w.got("r").Status, counted{Succeeded: "Unknown", Reason: v1alpha1.ReasonScheduleNotFound})
		if told := w.told(); len(told) != 1 || !strings.Contains(told[0], "ScheduleNotFound") {
			t.Errorf("events %v", told)
		}
		s.create(s.hourly(1))
		w.wait(10 * time.Second)
		w.work(r, "r")
		w.expect(w.got("r").Status, counted{Succeeded: "Unknown", Reason: v1alpha1.ReasonProgressing})
		s.pass(s.schedules())
		w.expect(w.finish(r, "r"), counted{Succeeded: "True", Reason: v1alpha1.ReasonNothingMatched})
	})
	t.Run("one that was deleted is not", func(t *testing.T) {
		t.Parallel()
		w := newWard(t, 2)
		w.deleteSchedule()
		for name, change := range map[string]func(*v1alpha1.ReminderReplaySpec){"replay": func(*v1alpha1.ReminderReplaySpec) {}, "discard": discarding} {
			w.replay(name, change)
			w.expect(w.finish(newReplayReconciler(w.Options), name), counted{Matched: 4, Refused: map[string]int64{"ScheduleDeleted": 4}, Succeeded: "False", Reason: v1alpha1.ReasonScheduleDeleted})
		}
		w.expectRecords(map[string]int{"Dead RetryBudgetExhausted": 4})
	})
	t.Run("one that is deleted meanwhile ends it", func(t *testing.T) {
		t.Parallel()
		w := newWard(t, 6)
		w.replay("r")
		r := newReplayReconciler(w.Options)
		w.work(r, "r")
		w.deleteSchedule()
		w.wait(time.Second)
		w.expect(w.finish(r, "r"), counted{Matched: 12, Replayed: 10, Refused: map[string]int64{"ScheduleDeleted": 2}, Succeeded: "False", Reason: v1alpha1.ReasonScheduleDeleted})
		w.expectRecords(map[string]int{"Cancelled ScheduleDeleted": 10, "Dead RetryBudgetExhausted": 2})
	})
}

func (w ward) deleteSchedule() {
	w.t.Helper()
	if err := w.api.Delete(w.t.Context(), w.schedule()); err != nil {
		w.t.Fatal(err)
	}
	w.pass(w.schedules())
}

func TestAReplayThatIsDeletedStops(t *testing.T) {
	t.Parallel()
	w := newWard(t, 10)
	w.replay("r")
	r := newReplayReconciler(w.Options)
	w.work(r, "r")
	gone := w.got("r")
	if err := w.api.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	// The cache still has it.
	r.Client = interceptor.NewClient(w.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if o, ok := obj.(*v1alpha1.ReminderReplay); ok {
				gone.DeepCopyInto(o)
				return nil
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	for range 3 {
		w.wait(2 * time.Second)
		w.work(r, "r")
	}
	w.expectRecords(map[string]int{"Scheduled": 10, "Dead RetryBudgetExhausted": 10})
}

func TestAReplayWaitsForTheBroker(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1)
	w.replay("r")
	r := newReplayReconciler(w.Options)
	whole := r.Broker
	r.Broker = w.brokenBroker()
	w.work(r, "r")
	w.expect(w.got("r").Status, counted{Succeeded: "Unknown", Reason: v1alpha1.ReasonBrokerUnavailable})
	r.Broker = whole
	w.wait(10 * time.Second)
	w.expect(w.finish(r, "r"), counted{Matched: 2, Replayed: 2, Succeeded: "True", Reason: "Completed"})
}
