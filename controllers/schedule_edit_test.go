package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// An edit of the time fields keeps what is due already, waits, and is an occurrence of
// the new spec too: under the new epoch, with its message. What is not goes.
func TestAnEditKeepsWhatIsDueAndWaits(t *testing.T) {
	t.Parallel()
	minute := func(d time.Duration) change {
		return func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Every = duration(d) }
	}
	cases := map[string]struct {
		how  change
		want map[string]int
	}{
		"a later end": {func(o *v1alpha1.ReminderSchedule) {
			o.Spec.Schedule.EndTime.Time = o.Spec.Schedule.EndTime.Add(time.Second)
		}, map[string]int{"Scheduled": 4}},
		"another jitter":              {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Jitter = duration(time.Minute) }, map[string]int{"Scheduled": 4}},
		"UTC by another name":         {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.TimeZone = "Etc/UTC" }, map[string]int{"Scheduled": 4}},
		"another distance":            {minute(90 * time.Second), map[string]int{"Scheduled": 4, "Cancelled Superseded": 2}},
		"the channel, and so the key": {func(o *v1alpha1.ReminderSchedule) { o.Spec.ChannelName = "sms" }, map[string]int{"Cancelled Superseded": 4, "Scheduled": 2}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(s.hourly(2, func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Jitter = duration(50 * time.Second) }))
			r := s.schedules()
			s.pass(r)
			s.wait(70 * time.Second) // the first is due, and no worker is there
			s.edit(c.how)
			s.pass(r)
			s.want(c.want)
			if n := s.messages(); n != c.want["Scheduled"] {
				t.Errorf("%d messages, want %d", n, c.want["Scheduled"])
			}
			for _, rev := range s.revisions() {
				if rev.Record.State == reminder.Scheduled && rev.Record.Epoch != s.entry().Epoch {
					t.Errorf("%s is of epoch %d, registered is %d", rev.Record.Key, rev.Record.Epoch, s.entry().Epoch)
				}
			}
		})
	}
}

// A spec that was edited while the operator was away: what both plans have was planned
// and goes out; of the others since the edit, catchUp decides. Nothing is counted as
// missed that can have been sent.
func TestAnEditWhileAwayCountsWhatTheOldPlanDidNotHave(t *testing.T) {
	t.Parallel()
	none := func(o *v1alpha1.ReminderSchedule) {
		o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: v1alpha1.CatchUpNone}
	}
	obj := aSchedule(cron("*/10 * * * *"), none, edited(when(cron("*/5 * * * *"))))
	entry := entryOf(aSchedule(cron("*/10 * * * *"), none), planned(clock("12:15:00")))
	p := planOf(t, scheduleInput{object: obj, entry: entry, edited: clock("12:01:00"), now: clock("12:42:00"), had: had("ada", "12:10:00")})
	if diff := cmp.Diff([]string{"12:45:00", "12:50:00", "12:55:00"}, slots(p)); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
	want := &reminder.Gap{FirstDueTime: clock("12:05:00"), LastDueTime: clock("12:40:00"), Reminders: 7}
	if diff := cmp.Diff(want, p.entry.Cursor.Missed); diff != "" {
		t.Errorf("missed (-want +got):\n%s", diff)
	}
	again := planOf(t, scheduleInput{object: obj, entry: p.entry, now: clock("12:44:00")}) // it was cut off
	if diff := cmp.Diff(slots(p), slots(again)); diff != "" {
		t.Errorf("planned again (-first +second):\n%s", diff)
	}
}

// had are the slots that were planned for a recipient and its like.
func had(id string, due ...string) plannedSlots {
	all := plannedSlots{id: {}}
	for _, at := range due {
		all[id][reminder.SlotOf(clock(at))] = reminder.Record{}
	}
	return all
}

// Who is added while the operator restarts has no part in what was due before: neither
// is it sent, nor is it counted.
func TestWhoComesWhileAwayHasNoPartInThePast(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	day := func(id string, at time.Time) v1alpha1.Recipient {
		return v1alpha1.Recipient{ID: id, Address: id + "@example.com", Attributes: map[string]string{"renews": at.Format(time.DateOnly)}}
	}
	now := s.now()
	obj := aSchedule(v1alpha1.ScheduleSpec{Anchor: &v1alpha1.AnchorSpec{Attribute: "renews", Time: now.Add(-2 * time.Minute).Format("15:04")}},
		people(day("late", now.AddDate(0, 0, 5))), func(o *v1alpha1.ReminderSchedule) {
			o.CreationTimestamp.Time = now.Add(-24 * time.Hour).Truncate(time.Second)
			o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: v1alpha1.CatchUpAll, Window: duration(24 * time.Hour)}
		})
	s.create(obj)
	s.pass(s.schedules())
	was, revision, err := s.Broker.Registry.Schedule(t.Context(), renewal.Namespace, renewal.Name)
	if err != nil {
		t.Fatal(err)
	}
	planned(now.Add(-time.Hour))(&was) // the operator has not looked since
	if _, err := s.Broker.Registry.PutSchedule(t.Context(), was, revision, 0); err != nil {
		t.Fatal(err)
	}
	s.edit(people(day("late", now.AddDate(0, 0, 5)), day("new", now)))
	s.pass(s.another())
	s.want(map[string]int{})
	if c := s.entry().Cursor; c.Missed != nil {
		t.Errorf("missed %+v", c.Missed)
	}
}

// H1: an edit keeps the slots that wait or are in flight and that the new spec has too,
// whoever holds them; but not those of which it lacks somebody's.
func TestAnEditKeepsWhatIsInFlight(t *testing.T) {
	t.Parallel()
	record := func(at string, state reminder.State) reminder.Record {
		due := clock(at)
		key := reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: reminder.SlotOf(due), Recipient: "ada", Channel: "mail"}
		return reminder.Record{Key: key, Epoch: 7, State: state, DueTime: due, ReleaseTime: due, DeadlineTime: due.Add(4 * time.Hour)}
	}
	obj := aSchedule(cron("*/10 * * * *"), edited(func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Jitter = duration(time.Minute) }))
	entry := entryOf(aSchedule(cron("*/10 * * * *")), planned(clock("12:15:00")))
	p := planOf(t, scheduleInput{object: obj, entry: entry, edited: clock("12:11:00"), now: clock("12:11:01"), waiting: []reminder.Record{
		record("12:10:00", reminder.Claimed), record("12:00:00", reminder.Sending), record("11:55:00", reminder.Claimed),
	}})
	want := []reminder.Kept{
		{Slot: "2026-11-30T12:00:00Z", UntilTime: clock("17:00:00")}, {Slot: "2026-11-30T12:10:00Z", UntilTime: clock("17:10:00")},
	}
	if diff := cmp.Diff(want, p.entry.Kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	for at, reason := range map[string]reminder.Reason{"12:10:00": "", "11:55:00": reminder.Superseded} {
		if got := p.judge(record(at, reminder.Retrying)); got != reason {
			t.Errorf("what comes back of %s is judged %q, want %q", at, got, reason)
		}
	}
	later := planOf(t, scheduleInput{object: obj, entry: p.entry, now: clock("17:05:00")})
	if diff := cmp.Diff(want[1:], later.entry.Kept); diff != "" {
		t.Errorf("kept later (-want +got):\n%s", diff)
	}
}

// A label, and then an edit that only takes a field away: the API server names the
// time of the label, the watch tells that the edit came later.
func TestTheWatchTellsWhenFieldsWereTakenAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.schedules()
	at := func(generation int64, edited string) *v1alpha1.ReminderSchedule {
		obj := aSchedule(cron("* * * * *"))
		obj.Generation, obj.ManagedFields = generation, []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: clock(edited)}}}
		return obj
	}
	for _, c := range []struct {
		was, is  *v1alpha1.ReminderSchedule
		pass     bool
		editTime time.Time
	}{
		{at(1, "12:00:00"), at(1, "12:05:00"), false, clock("12:05:00")},
		{at(1, "12:05:00"), at(2, "12:05:00"), true, s.now()},
		{at(2, "12:05:00"), at(3, "12:07:00"), true, clock("12:07:00")},
	} {
		if got := r.watchEdits().Update(event.UpdateEvent{ObjectOld: c.was, ObjectNew: c.is}); got != c.pass {
			t.Errorf("from generation %d to %d: passed is %v", c.was.Generation, c.is.Generation, got)
		}
		if got := r.editOf(&metav1.PartialObjectMetadata{ObjectMeta: c.is.ObjectMeta}); !got.Equal(c.editTime) {
			t.Errorf("from generation %d to %d: edited at %s, want %s", c.was.Generation, c.is.Generation, got, c.editTime)
		}
	}
}
