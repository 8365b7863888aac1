package integration

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// trial is a system whose channels send past a witness, and what must have become
// of each schedule's reminders.
type trial struct {
	*system.System
	witness *witness
	url     string // of the witness
	want    map[string]outcome
}

// outcome counts the reminders of a schedule by how they ended.
type outcome struct{ sent, superseded, inactive, pending, other int }

// newTrial starts a system with one worker for each channel. Their receiver may take
// long to answer.
func newTrial(t *testing.T, o system.Options, channels ...string) *trial {
	t.Helper()
	s := system.StartT(t, o)
	v := &trial{System: s, witness: newWitness(s.Receiver), want: map[string]outcome{}}
	server := httptest.NewServer(v.witness)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	v.url = server.URL
	for _, name := range channels {
		channel := s.HTTPChannel(name, v1alpha1.IdempotencyByKey)
		channel.Spec.HTTP.URL, channel.Spec.HTTP.Timeout = server.URL+"/hook", &metav1.Duration{Duration: time.Minute}
		s.Create(t, channel)
	}
	for _, name := range channels {
		s.WaitWorkers(t, name, 1)
	}
	return v
}

// planned waits until a schedule has n reminders that wait for their time.
func (v *trial) planned(t *testing.T, schedule string, n int) {
	t.Helper()
	v.became(t, schedule, outcome{pending: n})
}

// became waits until the ledger says that of a schedule.
func (v *trial) became(t *testing.T, schedule string, want outcome) {
	t.Helper()
	system.Eventually(t, fmt.Sprintf("%s becomes %+v", schedule, want), func() (bool, string) {
		got := outcomeOf(v.Records(t, schedule))
		return got == want, fmt.Sprintf("%+v", got)
	})
}

func outcomeOf(records []reminder.Record) (o outcome) {
	for _, r := range records {
		switch {
		case r.State == reminder.Sent:
			o.sent++
		case !r.State.Terminal():
			o.pending++
		case r.State == reminder.Cancelled && r.Reason == reminder.Superseded:
			o.superseded++
		case r.State == reminder.Cancelled && r.Reason == reminder.RecipientInactive:
			o.inactive++
		default:
			o.other++
		}
	}
	return o
}

// ends waits until ledger, status and receiver say the same of a schedule, and
// looks whether each reminder was sent in its time.
func (v *trial) ends(t *testing.T, schedule string, want outcome) []reminder.Record {
	t.Helper()
	v.want[schedule] = want
	system.EventuallyWithin(t, 2*system.Patience, schedule+" ends as it must", func() (bool, string) { return v.says(t, schedule, want) })
	records := v.Records(t, schedule)
	first := map[string]time.Time{}
	for _, a := range slices.Backward(v.witness.of(schedule)) {
		first[a.id] = a.at
	}
	for _, r := range records {
		if at := first[r.Key.ID()]; r.State == reminder.Sent && (at.Before(r.ReleaseTime) || !r.FinishTime.Before(r.DeadlineTime)) {
			t.Errorf("%s: arrived %s, accepted %s; want within %s and %s", r.Key, at, r.FinishTime, r.ReleaseTime, r.DeadlineTime)
		}
	}
	return records
}

// says tells whether the ledger, status and the receiver's books say that of a schedule.
func (v *trial) says(t *testing.T, schedule string, want outcome) (bool, string) {
	t.Helper()
	records := v.Records(t, schedule)
	sent := map[string]bool{}
	for _, r := range records {
		if r.State == reminder.Sent {
			sent[r.Key.String()] = true
		}
	}
	accepted := map[string]bool{}
	for key, k := range v.Receiver.Stats().Keys {
		if strings.HasPrefix(key, system.Tenant+"/"+schedule+"/") && k.Accepted > 0 {
			accepted[key] = k.Accepted == 1
		}
	}
	counts := v1alpha1.ReminderCounts{}
	if c := v.Schedule(t, schedule).Status.Counts; c != nil {
		counts = *c
	}
	cancelled := int64(want.superseded + want.inactive)
	good := outcomeOf(records) == want && len(sent) == want.sent && maps.Equal(sent, accepted) &&
		counts.Sent == int64(want.sent) && counts.Due == counts.Sent && counts.Cancelled == cancelled && counts.Pending == int64(want.pending) &&
		counts.Dead+counts.Missed+counts.SentLate+counts.Republished == 0
	return good, fmt.Sprintf("want %+v; ledger %+v, receiver accepted %v, counts %+v", want, outcomeOf(records), slices.Sorted(maps.Keys(accepted)), counts)
}

// settled looks at everything once more, at the end: nothing came that nobody waited
// for, and nothing is left that would.
func (v *trial) settled(t *testing.T) {
	t.Helper()
	sent, pending := 0, uint64(0)
	for schedule, want := range v.want {
		if ok, said := v.says(t, schedule, want); !ok {
			t.Errorf("%s has not stayed as it was: %s", schedule, said)
		}
		sent += want.sent
		pending += uint64(want.pending)
	}
	if got := v.Receiver.Stats(); got.Accepted != sent || got.Duplicates+got.ChangedBodies+got.BadSignatures+got.Rejected != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d, changed bodies %d, rejected %d; want %d, 0, 0 and 0", got.Accepted, got.Duplicates, got.ChangedBodies, got.Rejected, sent)
	}
	system.Eventually(t, "no message is left over", func() (bool, string) {
		n := deadMessages(t, v.System)
		return n == pending, fmt.Sprintf("%d, want %d", n, pending)
	})
}

// revisions are the latest revisions of a schedule's records, by token.
func (v *trial) revisions(t *testing.T, schedule string) map[string]broker.Revision {
	t.Helper()
	found := map[string]broker.Revision{}
	err := v.Broker.Ledger.Of(t.Context(), system.Tenant, schedule, func(r broker.Revision) error {
		found[r.Token] = r
		return r.Err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// observed waits until the operator has acted on the present spec of a schedule.
func (v *trial) observed(t *testing.T, schedule string) {
	t.Helper()
	v.WaitStatus(t, schedule, "the edit is observed", func(v1alpha1.ReminderScheduleStatus) bool { return true })
}

// alter edits any object as a user would, over conflicts.
func alter[O client.Object](t *testing.T, v *trial, obj O, edit func(O)) {
	t.Helper()
	system.Eventually(t, "edit "+obj.GetName(), func() (bool, string) {
		if err := v.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			return false, err.Error()
		}
		edit(obj)
		err := v.Client.Update(t.Context(), obj)
		return err == nil, fmt.Sprint(err)
	})
}

// times is a schedule for n recipients with the given time fields.
func times(name, channel string, n int, spec v1alpha1.ScheduleSpec) *v1alpha1.ReminderSchedule {
	obj := system.OneOff(name, channel, time.Now(), n, "ada")
	obj.Spec.Schedule = spec
	return obj
}

// second is the whole second that is so far ahead.
func second(ahead time.Duration) time.Time { return time.Now().UTC().Add(ahead).Truncate(time.Second) }

// minute is the first full minute that is at least so far ahead.
func minute(ahead time.Duration) time.Time {
	return time.Now().UTC().Add(ahead + time.Minute - time.Nanosecond).Truncate(time.Minute)
}
