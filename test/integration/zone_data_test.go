package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// old is the release of the time zone data under which Mexico still changed its
// clocks.
const old = "2022d"

// mexico is the zone whose rules have changed since, and costaRica one with the same
// clocks whose have not.
const mexico, costaRica = "America/Mexico_City", "America/Costa_Rica"

// onClocks is what the clocks of both show.
func onClocks(t time.Time) time.Time { return t.In(time.FixedZone(mexico, -6*3600)) }

// outdated is a schedule that was planned with old data: its local time meant
// another instant then.
type outdated struct {
	schedule *v1alpha1.ReminderSchedule
	was, is  time.Time
	// steady is a recipient whose zone has not changed; empty for none.
	steady string
	// done: it was sent before the data changed.
	done bool
	want outcome
}

// Row 45, T17: an operator with older time zone data has planned reminders and is
// gone. Under the new data each keeps its key, is due when its local time says, is
// never released early, and is sent once; also over further restarts.
func TestRow45TimeZoneDataChanges(t *testing.T) {
	t.Parallel()
	v := newTrial(t, system.Options{ControllerArgs: []string{"--look-ahead=24h"}}, "mail")
	controller := v.Controllers[0]
	if err := controller.Kill(); err != nil {
		t.Fatal(err)
	}
	all := outdatedSchedules()
	for _, o := range all {
		v.planOutdated(t, o)
	}
	v.became(t, "done", outcome{sent: 2})
	steady := v.revisions(t, "steady")
	for range 3 {
		if err := controller.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := controller.Start(); err != nil {
			t.Fatal(err)
		}
		for _, o := range all { // another text has everything looked at again
			update(t, v.System, o.schedule.Name, func(o *v1alpha1.ReminderSchedule) { o.Spec.Message.Body += "!" })
		}
		for what, o := range all {
			t.Run(what, func(t *testing.T) { v.moves(t, o) })
		}
	}
	v.unmoved(t, "steady", steady)
	t.Run("beside it: one reminder per business date", v.businessDates)
	for what, o := range all {
		t.Run(what+", in the end", func(t *testing.T) {
			v.ends(t, o.schedule.Name, o.want)
			v.moves(t, o)
		})
	}
	v.settled(t)
}

func outdatedSchedules() map[string]outdated {
	soon, seconds, later := minute(35*time.Second), second(75*time.Second), minute(100*time.Minute)
	spec := func(due time.Time) v1alpha1.ScheduleSpec {
		return v1alpha1.ScheduleSpec{Cron: daily(onClocks(due)), TimeZone: mexico, EndTime: &metav1.Time{Time: due.Add(2 * time.Hour)}}
	}
	at, steady, each, jittered := spec(later), spec(later), spec(later), spec(later)
	at.Cron, at.At, at.EndTime = "", onClocks(seconds).Format("2006-01-02T15:04:05"), nil
	now := second(3 * time.Second)
	steady.TimeZone = costaRica
	each.TimeZone, each.TimeZoneFrom = "", v1alpha1.TimeZoneFromRecipient
	jittered.Jitter = &metav1.Duration{Duration: 5 * time.Minute}
	dated := times("dated", "mail", 2, spec(later))
	dated.Spec.Identity = v1alpha1.IdentityBusinessDate
	return map[string]outdated{
		"an hour later, with jitter":         {schedule: times("later", "mail", 2, jittered), was: later.Add(-time.Hour), is: later, want: outcome{pending: 2}},
		"an hour earlier, and still ahead":   {schedule: times("earlier", "mail", 2, spec(soon)), was: soon.Add(time.Hour), is: soon, want: outcome{sent: 2}},
		"half a minute later":                {schedule: times("seconds", "mail", 2, at), was: seconds.Add(-30 * time.Second), is: seconds, want: outcome{sent: 2}},
		"a minute later, and sent already":   {schedule: times("done", "mail", 2, at), was: now, is: seconds, done: true, want: outcome{sent: 2}},
		"an hour later, by business date":    {schedule: dated, was: later.Add(-time.Hour), is: later, want: outcome{pending: 2}},
		"another zone's data have changed":   {schedule: times("steady", "mail", 2, steady), was: later, is: later, want: outcome{pending: 2}},
		"the data of one of two recipients'": {schedule: of("each", each, to("ann", mexico, ""), to("bob", costaRica, "")), was: later.Add(-time.Hour), is: later, steady: "bob", want: outcome{pending: 2}},
	}
}

// before is a record as the older operator has written it.
func (o outdated) before(obj *v1alpha1.ReminderSchedule, entry reminder.Schedule, id string, now time.Time) reminder.Record {
	due, deadline := o.was, convert.Deadline(obj)
	if id == o.steady {
		due = o.is
	}
	release := due.Add(schedule.Jitter(convert.Jitter(obj), obj.Namespace+"/"+obj.Name, id, o.slot(id)))
	return delivery.Plan(delivery.Planned{
		Key:   reminder.Key{Namespace: obj.Namespace, Schedule: obj.Name, Slot: o.slot(id), Recipient: id, Channel: obj.Spec.ChannelName},
		Epoch: entry.Epoch, DueTime: due, LocalTime: o.local(),
		ReleaseTime: release, DeadlineTime: due.Add(deadline), LateTime: release.Add(convert.LateAfter),
	}, 168*time.Hour, now)
}

// slot is the one that a recipient's reminder has for ever.
func (o outdated) slot(id string) string {
	switch {
	case o.schedule.Spec.Identity == v1alpha1.IdentityBusinessDate:
		return onClocks(o.is).Format(time.DateOnly)
	case id == o.steady:
		return reminder.SlotOf(o.is)
	}
	return reminder.SlotOf(o.was)
}

func (o outdated) local() string { return onClocks(o.is).Format("2006-01-02T15:04:05") }

// planOutdated makes the object and leaves in the broker what an operator with older
// data would have: entry, audience, records and messages.
func (v *trial) planOutdated(t *testing.T, o outdated) {
	t.Helper()
	obj := o.schedule
	v.Create(t, obj)
	now := time.Now().UTC()
	entry := convert.Entry(obj, convert.Recipients(obj))
	entry.Epoch, entry.PlanGeneration, entry.TimeZoneData = now.Unix(), obj.Generation, old
	through := now.Add(24 * time.Hour)
	entry.Cursor = reminder.Cursor{DoneTime: through, ThroughTime: through}
	_, err := v.Broker.Registry.PutSchedule(t.Context(), entry, 0, 0)
	if err == nil {
		err = v.Broker.Audience.Replace(t.Context(), obj.Namespace, obj.Name, entry.AudienceHash, convert.Recipients(obj))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range obj.Spec.Recipients {
		record := o.before(obj, entry, r.ID, now)
		revision, err := v.Broker.Ledger.Create(t.Context(), record)
		if err == nil {
			err = v.Broker.Queue.Release(t.Context(), record, revision, record.ReleaseTime, now)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// moves waits until an outdated schedule's reminders are due when their local time
// says today, under their old keys, and the broker holds them until then.
func (v *trial) moves(t *testing.T, o outdated) {
	t.Helper()
	name := o.schedule.Name
	v.WaitStatus(t, name, "status names the new data", func(s v1alpha1.ReminderScheduleStatus) bool {
		return s.TimeZoneDataVersion == schedule.TZDataVersion() && schedule.TZDataVersion() != old
	})
	entry, _, err := v.Broker.Registry.Schedule(t.Context(), system.Tenant, name)
	if err != nil || entry.TimeZoneData != schedule.TZDataVersion() {
		t.Errorf("the entry names %s, error %v", entry.TimeZoneData, err)
	}
	records := v.revisions(t, name)
	if len(records) != len(o.schedule.Spec.Recipients) {
		t.Errorf("%d records for %d recipients", len(records), len(o.schedule.Spec.Recipients))
	}
	for _, r := range records {
		v.moved(t, o, r)
	}
}

func (v *trial) moved(t *testing.T, o outdated, r broker.Revision) {
	t.Helper()
	obj, is := v.Schedule(t, o.schedule.Name), r.Record
	want := o.before(obj, reminder.Schedule{Epoch: is.Epoch}, is.Key.Recipient, time.Now())
	due := o.is
	if o.done {
		due = o.was
	}
	release := due.Add(want.ReleaseTime.Sub(want.DueTime))
	if is.Key != want.Key || is.LocalTime != want.LocalTime || !is.DueTime.Equal(due) || !is.ReleaseTime.Equal(release) || !is.DeadlineTime.Equal(due.Add(convert.Deadline(obj))) {
		t.Errorf("%s is due %s by its clocks' %s, released %s, dead %s; want %s due %s by %s, released %s",
			is.Key, is.DueTime, is.LocalTime, is.ReleaseTime, is.DeadlineTime, want.Key, due, want.LocalTime, release)
	}
	if is.State == reminder.Scheduled && time.Now().Before(release.Add(-time.Second)) {
		v.standsFor(t, is)
	}
}

// standsFor looks whether the broker will release a reminder at its time.
func (v *trial) standsFor(t *testing.T, r reminder.Record) {
	t.Helper()
	stream, err := jetStream(t, v.System).Stream(t.Context(), "REMINDERS-0")
	if err != nil {
		t.Fatal(err)
	}
	system.Eventually(t, r.Key.String()+" has its message", func() (bool, string) {
		m, err := stream.GetLastMsgForSubject(t.Context(), "reminders.0.sched."+r.Key.Subject())
		if err != nil {
			return time.Now().After(r.ReleaseTime), err.Error()
		}
		at := m.Header.Get(jetstream.ScheduleHeader)
		return at == "@at "+r.ReleaseTime.Format(time.RFC3339Nano), fmt.Sprintf("released %s, want %s", at, r.ReleaseTime)
	})
}

// businessDates edits the times of schedules with the identity BusinessDate: there is
// one reminder per date, whatever the time is edited to. What was sent today is not
// sent again, what was not moves, and the next day has a reminder of its own.
func (v *trial) businessDates(t *testing.T) {
	zone := "UTC"
	if hour := time.Now().UTC().Hour(); hour < 2 || hour > 20 {
		zone = tokyo // far from midnight
	}
	create := func(name string, start time.Time) {
		obj := times(name, "mail", 2, v1alpha1.ScheduleSpec{RRule: "FREQ=DAILY", TimeZone: zone, StartTime: &metav1.Time{Time: start}})
		obj.Spec.Identity = v1alpha1.IdentityBusinessDate
		v.Create(t, obj)
	}
	start := func(name string, ahead time.Duration) time.Time {
		at := second(ahead)
		update(t, v.System, name, func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.StartTime = &metav1.Time{Time: at} })
		return at
	}
	first := second(10 * time.Second)
	create("sent", first)
	create("moved", first.Add(10*time.Minute))
	v.planned(t, "moved", 2)
	v.became(t, "sent", outcome{sent: 2, pending: 2})
	second, near := start("sent", 20*time.Second), start("moved", 20*time.Second)
	v.observed(t, "sent")
	v.observed(t, "moved")
	<-time.After(time.Until(near.Add(3 * time.Second)))
	v.dates(t, "sent", zone, first, second.Add(24*time.Hour))
	v.dates(t, "moved", zone, near, near.Add(24*time.Hour))
}

// dates waits until a schedule's two recipients were reminded today and are planned
// for tomorrow, under those dates.
func (v *trial) dates(t *testing.T, name, zone string, today, tomorrow time.Time) {
	t.Helper()
	for _, r := range v.ends(t, name, outcome{sent: 2, pending: 2}) {
		due := tomorrow
		if r.State == reminder.Sent {
			due = today
		}
		if !r.Due().Equal(due) || r.Key.Slot != in(due, zone).Format(time.DateOnly) {
			t.Errorf("%s %s is due %s, want %s", r.Key, r.State, r.Due(), due)
		}
	}
}
