package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// account is what must become of the occurrences of a schedule, by arithmetic: each
// is one reminder for each of n recipients.
type account struct {
	name         string
	n            int
	sent, missed []time.Time
}

// check waits until status says exactly that, and compares ledger and receiver.
func (a account) check(t *testing.T, s *system.System, log *acceptances) {
	t.Helper()
	sent, missed := int64(len(a.sent)*a.n), int64(len(a.missed)*a.n)
	var seen v1alpha1.ReminderCounts
	s.WaitCounts(t, a.name, fmt.Sprintf("%d sent and %d missed", sent, missed), func(c v1alpha1.ReminderCounts) bool {
		seen = c
		return c.Sent == sent && c.Missed == missed && c.Due == sent+missed && c.Pending == 0 && c.Dead == 0
	})
	t.Logf("%s: due %d = sent %d (%d late) + missed %d; runs %s", a.name, seen.Due, seen.Sent, seen.SentLate, seen.Missed, runs(s.Schedule(t, a.name)))
	a.checkRun(t, s)
	want := a.keys()
	if got := log.keys(t, a.name); !slices.Equal(got, want) {
		t.Errorf("%s: the receiver accepted %d keys, %s; want %d, %s", a.name, len(got), ends(got), len(want), ends(want))
	}
	a.checkRecords(t, s, log)
}

// checkRun compares the run of missed occurrences in status.
func (a account) checkRun(t *testing.T, s *system.System) {
	t.Helper()
	want := "none"
	if n := len(a.missed); n > 0 {
		want = fmt.Sprintf("%s to %s: %d", reminder.SlotOf(a.missed[0]), reminder.SlotOf(a.missed[n-1]), n*a.n)
	}
	if got := runs(s.Schedule(t, a.name)); got != want {
		t.Errorf("%s: missed runs are %s, want %s", a.name, got, want)
	}
}

// runs are the missed runs in status, in short.
func runs(obj *v1alpha1.ReminderSchedule) string {
	var all []string
	for _, r := range obj.Status.MissedRuns {
		all = append(all, fmt.Sprintf("%s to %s: %d", reminder.SlotOf(r.FirstDueTime.Time), reminder.SlotOf(r.LastDueTime.Time), r.Reminders))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// checkRecords compares the ledger, and that nothing was sent early or twice.
func (a account) checkRecords(t *testing.T, s *system.System, log *acceptances) {
	t.Helper()
	var sent []string
	missed, late := int64(0), int64(0)
	for _, r := range s.Records(t, a.name) {
		switch r.State {
		case reminder.Sent:
			sent = append(sent, r.Key.String())
			if r.FinishTime.After(r.DueTime.Add(5 * time.Minute)) {
				late++
			}
			if at := log.times(t, r.Key.String()); len(at) != 1 || at[0].Before(r.ReleaseTime) || r.ReleaseTime.Before(r.DueTime) {
				t.Errorf("%s: accepted at %s; want once, and not before it is released at %s", r.Key, at, r.ReleaseTime)
			}
		case reminder.Missed:
			missed += r.Missed.Reminders
		default:
			t.Errorf("%s is %s", r.Key, r.State)
		}
	}
	if want := a.keys(); !slices.Equal(sent, want) || missed != int64(len(a.missed)*a.n) {
		t.Errorf("%s: the ledger has %d sent, %s, and %d missed; want %d and %d", a.name, len(sent), ends(sent), missed, len(want), len(a.missed)*a.n)
	}
	if got := s.Schedule(t, a.name).Status.Counts.SentLate; got != late {
		t.Errorf("%s: %d are counted as sent late, want %d", a.name, got, late)
	}
}

// keys of what must be sent, in order.
func (a account) keys() []string {
	var all []string
	for _, slot := range a.sent {
		for i := range a.n {
			all = append(all, fmt.Sprintf("%s/%s/%s/acct_%04d", system.Tenant, a.name, reminder.SlotOf(slot), i))
		}
	}
	slices.Sort(all)
	return all
}

// ends of a list, for messages.
func ends(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return "from " + keys[0] + " to " + keys[len(keys)-1]
}

// acceptances is the receiver's log.
type acceptances struct {
	mu  sync.Mutex
	log bytes.Buffer
}

// Write implements io.Writer.
func (a *acceptances) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.Write(line)
}

// all are the times of the acceptances by key.
func (a *acceptances) all(t *testing.T) map[string][]time.Time {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	found := map[string][]time.Time{}
	lines := json.NewDecoder(bytes.NewReader(a.log.Bytes()))
	for lines.More() {
		var line struct {
			Key  string
			Time time.Time
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatalf("read the receiver's log: %v", err)
		}
		found[line.Key] = append(found[line.Key], line.Time)
	}
	return found
}

func (a *acceptances) times(t *testing.T, key string) []time.Time {
	t.Helper()
	return a.all(t)[key]
}

// keys of a schedule that were accepted, in order.
func (a *acceptances) keys(t *testing.T, schedule string) []string {
	t.Helper()
	all := a.all(t)
	maps.DeleteFunc(all, func(key string, _ []time.Time) bool { return !strings.HasPrefix(key, system.Tenant+"/"+schedule+"/") })
	return slices.Sorted(maps.Keys(all))
}

// grid are the multiples of step behind from and up to through, counted from origin.
func grid(origin time.Time, step time.Duration, from, through time.Time) []time.Time {
	var all []time.Time
	for at := origin.Add(from.Sub(origin).Truncate(step)); !at.After(through); at = at.Add(step) {
		if at.After(from) {
			all = append(all, at)
		}
	}
	return all
}

// minutes are the whole minutes behind from and up to through.
func minutes(from, through time.Time) []time.Time {
	return grid(time.Unix(0, 0).UTC(), time.Minute, from, through)
}

// catchUp is a policy with the longest window, and a limit of 100.
func catchUp(mode v1alpha1.CatchUpMode) *v1alpha1.CatchUpPolicy {
	return &v1alpha1.CatchUpPolicy{Policy: mode, Window: &metav1.Duration{Duration: 720 * time.Hour}, Limit: new(int32(100))}
}

// missedBy is the record of the one run of missed occurrences; nil while there is none.
func missedBy(t *testing.T, s *system.System, name string) *reminder.Record {
	t.Helper()
	var found *reminder.Record
	for _, r := range s.Records(t, name) {
		if r.State == reminder.Missed {
			if found != nil {
				t.Errorf("%s has two runs of missed occurrences", name)
			}
			found = &r
		}
	}
	return found
}

// waitUntil waits for a moment.
func waitUntil(t *testing.T, at time.Time) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	case <-time.After(time.Until(at)):
	}
}

// waitEvent waits for an event about a schedule.
func waitEvent(t *testing.T, s *system.System, name, reason string) {
	t.Helper()
	system.Eventually(t, "event "+reason+" about "+name, func() (bool, string) {
		var list eventsv1.EventList
		if err := s.Client.List(t.Context(), &list, client.InNamespace(system.Tenant)); err != nil {
			return false, err.Error()
		}
		for i := range list.Items {
			if list.Items[i].Regarding.Name == name && list.Items[i].Reason == reason {
				return true, ""
			}
		}
		return false, fmt.Sprintf("none among %d", len(list.Items))
	})
}

// waitGone waits until a schedule is deleted.
func waitGone(t *testing.T, s *system.System, name string) {
	t.Helper()
	system.Eventually(t, name+" is deleted", func() (bool, string) {
		obj := &v1alpha1.ReminderSchedule{}
		err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: system.Tenant, Name: name}, obj)
		return client.IgnoreNotFound(err) == nil && err != nil, fmt.Sprintf("%v, finished %v", obj.Status.Counts, obj.Status.FinishTime)
	})
}
