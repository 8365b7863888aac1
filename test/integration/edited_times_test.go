package integration

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// edit is one change of a schedule at one boundary.
type edit struct {
	what     string
	schedule *v1alpha1.ReminderSchedule
	before   func(*testing.T, *trial) // waits for the boundary; nil: until three are planned
	edit     func(*v1alpha1.ReminderSchedule)
	still    bool                     // the edit changes no record that is planned
	after    func(*testing.T, *trial) // what comes next; nil for nothing
	text     string                   // of what is sent; empty where it does not matter
	want     outcome
}

// Row 49, M2 and M3: a schedule is edited before anything is planned, when it is
// planned, due, in flight, and sent. Each reminder of the old spec that nobody has
// claimed ends as cancelled, each of the new one is sent once, and an edit that does
// not touch the time moves nothing.
func TestRow49EditedAtEachBoundary(t *testing.T) {
	t.Parallel()
	v := newTrial(t, system.Options{}, "mail", "other", "stopped")
	workers := v.WorkersOf(t, "stopped")
	v.Node.SetRestart(workers, false)
	if err := v.Node.Kill(workers); err != nil {
		t.Fatal(err)
	}
	due := second(45 * time.Second)
	all := make(map[string]edit)
	v.make(t, all, append(unplannedEdits(), plannedEdits(due)...))
	if time.Now().After(due) {
		t.Fatal("the machine is too slow for this test: what was to be edited ahead of its time is due")
	}
	v.make(t, all, dueEdits())
	v.make(t, all, sentEdits())
	v.make(t, all, flyingEdits(v))
	v.Node.SetRestart(workers, true)
	for name, c := range all {
		t.Run(c.what, func(t *testing.T) {
			v.ends(t, name, c.want)
			for _, a := range v.witness.of(name) {
				if c.text != "" && a.text != c.text {
					t.Errorf("%s said %q, want %q", a.key, a.text, c.text)
				}
			}
		})
	}
	v.settled(t)
}

// make creates schedules and then edits each at its boundary.
func (v *trial) make(t *testing.T, all map[string]edit, edits []edit) {
	t.Helper()
	for _, c := range edits {
		v.Create(t, c.schedule)
	}
	for _, c := range edits {
		name := c.schedule.Name
		if c.before == nil {
			v.planned(t, name, 3)
		} else {
			c.before(t, v)
		}
		was := v.revisions(t, name)
		update(t, v.System, name, c.edit)
		v.observed(t, name)
		if c.still {
			v.unmoved(t, name, was)
		}
		if c.after != nil {
			c.after(t, v)
		}
		all[name] = c
	}
}

// unmoved tells whether the records of a schedule are what they were, but for what
// workers have done since.
func (v *trial) unmoved(t *testing.T, schedule string, was map[string]broker.Revision) {
	t.Helper()
	now, still := v.revisions(t, schedule), 0
	for token, before := range was {
		after := now[token]
		if before.Record.State == reminder.Scheduled && after.Record.State == reminder.Scheduled {
			still++
			if after.Number != before.Number {
				t.Errorf("%s was written by an edit that moves nothing: %+v, now %+v", before.Record.Key, before.Record, after.Record)
			}
		}
		if !after.Record.ReleaseTime.Equal(before.Record.ReleaseTime) || !after.Record.DueTime.Equal(before.Record.DueTime) {
			t.Errorf("%s was due %s and released %s, now %s and %s", before.Record.Key, before.Record.DueTime, before.Record.ReleaseTime, after.Record.DueTime, after.Record.ReleaseTime)
		}
	}
	t.Logf("%s: %d of %d were planned before and after the edit", schedule, still, len(was))
	if len(now) != len(was) {
		t.Errorf("%s has %d records, had %d", schedule, len(now), len(was))
	}
}

// once is a one-off on channel mail for three recipients.
func once(name string, due time.Time) *v1alpha1.ReminderSchedule {
	return system.OneOff(name, "mail", due, 3, "ada")
}

// moveTo moves a one-off to some time from the edit on.
func moveTo(ahead time.Duration) func(*v1alpha1.ReminderSchedule) {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.At = second(ahead).Format(time.RFC3339) }
}

const otherText = "Another text"

func rewrite(o *v1alpha1.ReminderSchedule) { o.Spec.Message.Body = otherText }

func removeFirst(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients = o.Spec.Recipients[1:] }

func deactivateFirst(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients[0].Active = new(false) }

func addOne(o *v1alpha1.ReminderSchedule) {
	o.Spec.Recipients = append(o.Spec.Recipients, v1alpha1.Recipient{ID: "new", Address: "new@example.com", Attributes: map[string]string{"name": "New"}})
}

// daily is a cron expression for the minute of a time.
func daily(at time.Time) string { return fmt.Sprintf("%d %d * * *", at.Minute(), at.Hour()) }

// unplannedEdits are made before anything is planned.
func unplannedEdits() []edit {
	ready := func(name string) func(*testing.T, *trial) {
		return func(t *testing.T, v *trial) { v.WaitReason(t, name, v1alpha1.ReasonPlanned) }
	}
	later := time.Now().Add(3 * time.Hour)
	return []edit{
		{what: "not planned, moved near: sent then", schedule: once("far", later), before: ready("far"), edit: moveTo(10 * time.Second), want: outcome{sent: 3}},
		{what: "not planned, moved into the past: nothing fires", schedule: once("never", later), before: ready("never"), edit: moveTo(-time.Minute)},
		{what: "not planned, another text: nothing is planned for it", schedule: once("idle", later), before: ready("idle"), edit: rewrite, still: true},
	}
}

// plannedEdits are made when reminders are planned and not released. What stays is
// due then.
func plannedEdits(due time.Time) []edit {
	far := time.Now().UTC().Add(10 * time.Minute)
	text := once("text", due)
	text.Spec.Schedule.Jitter = &metav1.Duration{Duration: 20 * time.Second}
	spread := once("spread", due)
	both := times("both", "mail", 3, v1alpha1.ScheduleSpec{
		Every: &metav1.Duration{Duration: 5 * time.Minute}, StartTime: &metav1.Time{Time: due}, EndTime: &metav1.Time{Time: due.Add(6 * time.Minute)},
	})
	return append(roundTrips(due), []edit{
		{what: "planned, moved near: sent then", schedule: once("near", far), edit: moveTo(10 * time.Second), want: outcome{sent: 3, superseded: 3}},
		{what: "planned, moved to a time that is past today: nothing fires", schedule: times("today", "mail", 3, v1alpha1.ScheduleSpec{Cron: daily(far)}),
			edit: func(o *v1alpha1.ReminderSchedule) {
				o.Spec.Schedule.Cron = daily(time.Now().UTC().Add(-2 * time.Minute))
			},
			want: outcome{superseded: 3}},
		{what: "planned, one of two times taken away: the other is sent", schedule: both,
			before: func(t *testing.T, v *trial) { v.planned(t, "both", 6) },
			edit:   func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.EndTime = &metav1.Time{Time: due.Add(time.Minute)} },
			want:   outcome{sent: 3, superseded: 3}},
		{what: "planned, another channel: sent there", schedule: once("channel", due), want: outcome{sent: 3, superseded: 3},
			edit: func(o *v1alpha1.ReminderSchedule) { o.Spec.ChannelName = "other" }},
		{what: "planned with jitter, another text: nothing moves", schedule: text, edit: rewrite, still: true, text: otherText, want: outcome{sent: 3}},
		{what: "planned, and jitter comes: the same reminders are sent", schedule: spread, want: outcome{sent: 3},
			edit: func(o *v1alpha1.ReminderSchedule) {
				o.Spec.Schedule.Jitter = &metav1.Duration{Duration: 10 * time.Second}
			}},
		{what: "planned; one recipient goes, one is made inactive, one comes", schedule: once("people", due), want: outcome{sent: 2, inactive: 2},
			edit: func(o *v1alpha1.ReminderSchedule) { removeFirst(o); deactivateFirst(o); addOne(o) }},
	}...)
}

// roundTrips are edits that take an earlier one back.
func roundTrips(due time.Time) []edit {
	return []edit{
		{what: "planned, moved away and back: sent once", schedule: once("back", due), want: outcome{sent: 3, superseded: 3},
			before: func(t *testing.T, v *trial) {
				v.planned(t, "back", 3)
				update(t, v.System, "back", moveTo(10*time.Minute))
				v.became(t, "back", outcome{superseded: 3, pending: 3})
			},
			edit: func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.At = due.Format(time.RFC3339) }},
		{what: "planned; one is made inactive and active again: sent once", schedule: once("again", due), want: outcome{sent: 3},
			before: func(t *testing.T, v *trial) {
				v.planned(t, "again", 3)
				update(t, v.System, "again", deactivateFirst)
				v.became(t, "again", outcome{pending: 2, inactive: 1})
			},
			edit: func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients[0].Active = nil }},
	}
}

// dueEdits are made when reminders are due and wait in the queue of a channel
// without workers.
func dueEdits() []edit {
	due := second(4 * time.Second)
	waiting := func(what, name string, change func(*v1alpha1.ReminderSchedule), want outcome) edit {
		return edit{
			what: "due, " + what, schedule: system.OneOff(name, "stopped", due, 3, "ada"), edit: change, want: want,
			before: func(t *testing.T, v *trial) { v.queued(t, name, 3) },
		}
	}
	text := waiting("another text: sent with it", "due-text", rewrite, outcome{sent: 3})
	text.still, text.text = true, otherText
	return []edit{
		text,
		waiting("moved near: sent then and not before", "due-near", moveTo(10*time.Second), outcome{sent: 3, superseded: 3}),
		waiting("moved into the past: cancelled", "due-past", moveTo(-time.Minute), outcome{superseded: 3}),
		waiting("another channel: what fell due before the edit is cancelled", "due-channel", func(o *v1alpha1.ReminderSchedule) { o.Spec.ChannelName = "other" }, outcome{superseded: 3}),
		waiting("one recipient goes, one comes: the others are sent", "due-people", func(o *v1alpha1.ReminderSchedule) { removeFirst(o); addOne(o) }, outcome{sent: 2, inactive: 1}),
	}
}

// sentEdits are made after reminders were sent.
func sentEdits() []edit {
	due := second(4 * time.Second)
	after := func(what, name string, change func(*v1alpha1.ReminderSchedule), want outcome) edit {
		return edit{
			what: "sent, " + what, schedule: once(name, due), edit: change, want: want,
			before: func(t *testing.T, v *trial) { v.became(t, name, outcome{sent: 3}) },
		}
	}
	text := after("another text: nothing more", "sent-text", rewrite, outcome{sent: 3})
	text.still = true
	nominal := once("nominal", due)
	nominal.Spec.Schedule.Jitter = &metav1.Duration{Duration: time.Minute}
	return []edit{
		{what: "due and held back by jitter, another text: nothing moves", schedule: nominal, edit: rewrite, still: true, want: outcome{sent: 3},
			before: func(t *testing.T, v *trial) {
				v.WaitRecords(t, "nominal", "planned", 3, func(reminder.Record) bool { return true })
				<-time.After(time.Until(due))
			}},
		text,
		after("moved ahead: sent again then", "sent-ahead", moveTo(10*time.Second), outcome{sent: 6}),
		after("moved into the past: nothing more", "sent-past", moveTo(-time.Minute), outcome{sent: 3}),
		after("one recipient comes: nothing more", "sent-people", addOne, outcome{sent: 3}),
	}
}

// flyingEdits are made while workers wait for the receiver's answer.
func flyingEdits(v *trial) []edit {
	due := second(4 * time.Second)
	flying := func(what, name string, change func(*v1alpha1.ReminderSchedule), refuse bool, want outcome) edit {
		gate := make(chan struct{})
		v.witness.hold(name, gate, refuse)
		return edit{
			what: "in flight, " + what, schedule: once(name, due), edit: change, want: want,
			before: func(t *testing.T, v *trial) {
				system.Eventually(t, name+" is in flight", func() (bool, string) {
					n := len(v.witness.of(name))
					return n == 3, fmt.Sprint(n)
				})
			},
			after: func(*testing.T, *trial) { close(gate) },
		}
	}
	return []edit{
		flying("moved ahead: the outcome stands, and the new time is sent too", "fly-ahead", moveTo(15*time.Second), false, outcome{sent: 6}),
		flying("moved ahead and then refused for now: cancelled, and the new time is sent", "fly-refused", moveTo(15*time.Second), true, outcome{sent: 3, superseded: 3}),
		flying("another text: the outcome stands", "fly-text", rewrite, false, outcome{sent: 3}),
		flying("one recipient goes: the outcome stands", "fly-people", removeFirst, false, outcome{sent: 3}),
		flying("another channel: the outcome stands", "fly-channel", func(o *v1alpha1.ReminderSchedule) { o.Spec.ChannelName = "other" }, false, outcome{sent: 3}),
	}
}

// queued waits until n due jobs of a schedule wait for a worker.
func (v *trial) queued(t *testing.T, schedule string, n int) {
	t.Helper()
	stream, err := jetStream(t, v.System).Stream(t.Context(), "REMINDERS-0")
	if err != nil {
		t.Fatal(err)
	}
	system.Eventually(t, schedule+" waits for a worker", func() (bool, string) {
		waiting := 0
		for _, r := range v.Records(t, schedule) {
			if _, err := stream.GetLastMsgForSubject(t.Context(), "reminders.0.due."+r.Key.Subject()); err == nil {
				waiting++
			}
		}
		return waiting == n, fmt.Sprint(waiting)
	})
}
