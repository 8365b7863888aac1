package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// absence is what is known of a schedule that was edited while the controller was
// away for longer than it had planned.
type absence struct {
	name string
	// through is how far it was planned, edited when it was edited, and back when the
	// controller came back.
	through, edited, back time.Time
	created, end          time.Time
}

// absent are edits that are made meanwhile; fifteen tells that the schedule falls due
// every 15 s then, and joins that a recipient is added.
var absent = map[string]struct {
	mode           v1alpha1.CatchUpMode
	fifteen, joins bool
}{
	"fifteen-none": {mode: v1alpha1.CatchUpNone, fifteen: true},
	"fifteen-all":  {mode: v1alpha1.CatchUpAll, fifteen: true},
	"joined-none":  {mode: v1alpha1.CatchUpNone, joins: true},
	"joined-all":   {mode: v1alpha1.CatchUpAll, joins: true},
}

// M2, rows 47 and 49: a schedule's times are edited, or a recipient is added, while
// the controller is away, for longer than it had planned. What the plan before the
// edit covers stands; behind it the edited spec is missed or caught up; who has joined
// is reminded of what falls due since.
func TestEditedWhileTheControllerIsAway(t *testing.T) {
	t.Parallel()
	log := &acceptances{}
	s := system.StartT(t, system.Options{ControllerArgs: []string{"--look-ahead=1m"}, ReceiverLog: log})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	end := time.Now().Add(4 * time.Minute).Truncate(time.Second)
	for name, c := range absent {
		obj := tenSeconds(name, c.mode, 0)
		obj.Spec.Schedule.EndTime = &metav1.Time{Time: end}
		obj.Spec.Delivery.Deadline.Duration = time.Hour
		s.Create(t, obj)
	}
	for name := range absent {
		s.WaitReason(t, name, v1alpha1.ReasonPlanned)
	}
	if err := s.Controllers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	var all []absence
	waitUntil(t, time.Now().Truncate(time.Second).Add(time.Second)) // the API server notes whole seconds
	for name := range absent {
		all = append(all, editAway(t, s, name, end))
	}
	for _, a := range all {
		waitUntil(t, a.through.Add(75*time.Second))
	}
	back := time.Now()
	if err := s.Controllers[0].StartWithEnv(); err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		a.back = back
		t.Run(a.name, func(t *testing.T) { a.check(t, s, log) })
	}
}

// editAway edits a schedule that nobody looks after.
func editAway(t *testing.T, s *system.System, name string, end time.Time) absence {
	t.Helper()
	c := absent[name]
	update(t, s, name, func(obj *v1alpha1.ReminderSchedule) {
		if c.fifteen {
			obj.Spec.Schedule.Every.Duration = 15 * time.Second
		}
		if c.joins {
			obj.Spec.Recipients = append(obj.Spec.Recipients, system.OneOff("", "", end, 3, "ada").Spec.Recipients[2])
		}
	})
	obj := s.Schedule(t, name)
	a := absence{name: name, through: s.Entry(t, name).Cursor.ThroughTime, created: obj.CreationTimestamp.UTC(), end: end.Add(-time.Second)}
	for _, entry := range obj.ManagedFields {
		if entry.Subresource == "" && entry.Time.After(a.edited) {
			a.edited = entry.Time.UTC()
		}
	}
	if !a.edited.Before(a.through) {
		t.Fatalf("%s was edited at %s, and is planned through %s only", name, a.edited, a.through)
	}
	return a
}

// grid are the occurrences of the schedule with one of its intervals behind from and
// up to through.
func (a absence) grid(step time.Duration, from, through time.Time) []time.Time {
	return grid(a.created, step, from, through)
}

// check works out what each recipient must have got and what was missed. Up to when
// it was missed says the record.
func (a absence) check(t *testing.T, s *system.System, log *acceptances) {
	system.EventuallyWithin(t, 5*time.Minute, a.name+" ends", func() (bool, string) {
		obj := s.Schedule(t, a.name)
		return obj.Status.FinishTime != nil, fmt.Sprintf("%+v", obj.Status.Counts)
	})
	c, step := absent[a.name], 10*time.Second
	if c.fifteen {
		step = 15 * time.Second
	}
	given := a.edited
	if run := missedBy(t, s, a.name); run != nil {
		given = run.Missed.LastDueTime
	}
	if due := a.grid(step, a.created, a.back); c.mode == v1alpha1.CatchUpNone && given.Before(due[len(due)-1]) {
		t.Errorf("missed through %s; the controller came back at %s", given, a.back)
	}
	planned := a.grid(10*time.Second, a.created, a.through)
	lapsed, behind := a.grid(step, a.edited, given), a.grid(step, given, a.end)
	want := union(keysFor(a.name, "acct_0000", planned, behind), keysFor(a.name, "acct_0001", planned, behind))
	missed := 2 * (len(lapsed) - len(both(lapsed, planned)))
	if c.joins {
		want, missed = union(want, keysFor(a.name, "acct_0002", behind)), missed+len(lapsed)
	}
	a.compare(t, s, log, want, int64(missed))
}

func union(a, b []string) []string { return append(slices.Clone(a), b...) }

// both are the times that are in two lists.
func both(a, b []time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(a), func(at time.Time) bool {
		return !slices.ContainsFunc(b, at.Equal)
	})
}

// keysFor are the keys of a recipient's reminders for occurrences in several lists.
func keysFor(name, recipient string, lists ...[]time.Time) []string {
	var all []string
	for _, slot := range slices.Concat(lists...) {
		all = append(all, fmt.Sprintf("%s/%s/%s/%s", system.Tenant, name, reminder.SlotOf(slot), recipient))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// compare holds status, ledger and receiver against what must have been sent and
// missed.
func (a absence) compare(t *testing.T, s *system.System, log *acceptances, want []string, missed int64) {
	t.Helper()
	slices.Sort(want)
	sent := int64(len(want))
	s.WaitCounts(t, a.name, fmt.Sprintf("%d sent and %d missed", sent, missed), func(c v1alpha1.ReminderCounts) bool {
		return c.Pending == 0 && c.Sent == sent && c.Missed == missed && c.Due == sent+missed && c.Dead == 0
	})
	if got := keysIn(s.Records(t, a.name), reminder.Sent); !slices.Equal(got, want) {
		t.Errorf("%s: the ledger has as sent %s; want %s", a.name, got, want)
	}
	if got := log.keys(t, a.name); !slices.Equal(got, want) {
		t.Errorf("%s: the receiver accepted %s; want %s", a.name, got, want)
	}
	t.Logf("%s: edited at %s, planned through %s, back at %s: sent %d, missed %d", a.name, a.edited, a.through, a.back, sent, missed)
}
