package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// accounts is what passes over one schedule leave behind in the registry and the
// ledger, whatever becomes of the process in between.
type accounts struct {
	*rapid.T
	object *v1alpha1.ReminderSchedule
	entry  reminder.Schedule
	done   progress
	ledger map[string]delivery.Planned
	missed map[string]reminder.Gap
	now    time.Time
	// joined is when somebody was last added to the recipients, and known who they
	// were before, for as long as the registry does not know it.
	joined time.Time
	known  []reminder.Recipient
}

func (a *accounts) input() scheduleInput {
	compiled, err := convert.Schedule(a.object, nil)
	if err != nil {
		a.Fatal(err)
	}
	people := convert.Recipients(a.object)
	series, excluded := convert.SeriesOf(a.object, compiled, people)
	if len(excluded) > 0 {
		a.Fatal(excluded)
	}
	in := scheduleInput{
		object: a.object, recipients: people, series: series, entry: a.entry, done: a.done,
		lookAhead: lookAhead, retention: 365 * 24 * time.Hour, now: a.now,
	}
	if !a.joined.IsZero() && otherAudience(in) {
		in.edited = a.joined
		in.past = since(a.object, series, a.known, changed(in))
	}
	return in
}

// pass makes one. The process dies after some writes: the registry is the first, then
// comes one for each gap and each reminder; it lives with fewer.
func (a *accounts) pass(writes int) {
	p := planSchedule(a.input())
	write := func() bool { writes--; return writes >= 0 }
	a.done = progress{}
	if p.write {
		if !write() {
			return
		}
		a.entry = p.entry
	}
	for _, run := range p.gaps {
		if !write() {
			return
		}
		a.missed[run.key.Token()] = run.gap // created if absent
	}
	for one := range p.reminders {
		if !write() {
			return
		}
		a.plan(one)
	}
	if write() {
		a.entry.Cursor = p.entry.Cursor.Close()
		a.done = p.done
	}
}

func (a *accounts) plan(one delivery.Planned) {
	if !one.DeadlineTime.After(one.ReleaseTime) || one.ReleaseTime.Before(one.DueTime) {
		a.Fatalf("%s is due at %s, released at %s, and ends at %s", one.Key, one.DueTime, one.ReleaseTime, one.DeadlineTime)
	}
	was, known := a.ledger[one.Key.String()]
	if known && (!was.ReleaseTime.Equal(one.ReleaseTime) || !was.DueTime.Equal(one.DueTime)) && was.ReleaseTime.After(a.now) {
		a.Fatalf("%s moved from %s to %s", one.Key, was.ReleaseTime, one.ReleaseTime)
	}
	if !known {
		a.ledger[one.Key.String()] = one
	}
}

// check compares what is planned and what is counted as missed with what the spec
// says since the creation, up to the end of what was planned.
func (a *accounts) check() {
	from, through := a.object.CreationTimestamp.Time, a.entry.Cursor.ThroughTime
	want, missed := int64(0), int64(0)
	for _, s := range a.input().series {
		o := convert.OccurrencesOf(a.object, s)
		for _, r := range s.Recipients {
			if r.ID == "new" {
				want += o.Count(later(from, a.joined), through)
			} else {
				want += o.Count(from, through)
			}
		}
	}
	for _, gap := range a.missed {
		missed += gap.Reminders
	}
	if got := int64(len(a.ledger)) + missed; got != want {
		a.Fatalf("%d planned and %d missed, %d in all; want %d from %s through %s", len(a.ledger), missed, got, want, from, through)
	}
	if len(a.input().series) > 1 || !a.joined.IsZero() {
		return // what some have missed was planned for others
	}
	for _, one := range a.ledger {
		for _, gap := range a.missed {
			if !one.DueTime.Before(gap.FirstDueTime) && !one.DueTime.After(gap.LastDueTime) {
				a.Fatalf("%s is planned, and missed from %s to %s", one.Key, gap.FirstDueTime, gap.LastDueTime)
			}
		}
	}
}

// anyAccounts draws a schedule with every policy that has a say.
func anyAccounts(t *rapid.T) *accounts {
	now := clock("10:00:00").Add(moment(t, time.Hour, "start"))
	obj := aSchedule(someSchedule(t), func(o *v1alpha1.ReminderSchedule) { o.CreationTimestamp.Time = now.Truncate(time.Second) })
	deadline(time.Duration(rapid.IntRange(1, 86400).Draw(t, "deadline")) * time.Second)(obj)
	obj.Spec.CatchUp = &v1alpha1.CatchUpPolicy{
		Policy: rapid.SampledFrom([]v1alpha1.CatchUpMode{v1alpha1.CatchUpNone, v1alpha1.CatchUpLatest, v1alpha1.CatchUpAll}).Draw(t, "policy"),
		Window: duration(time.Duration(rapid.IntRange(60, 86400).Draw(t, "window")) * time.Second), Limit: new(int32(rapid.IntRange(1, 20).Draw(t, "limit"))),
	}
	obj.Spec.Schedule.Jitter = duration(time.Duration(rapid.IntRange(0, 600).Draw(t, "jitter")) * time.Second)
	zones := []string{"", "Asia/Kolkata", "America/New_York"}
	if obj.Spec.Schedule.Cron != "" && rapid.Bool().Draw(t, "by their clocks") {
		obj.Spec.Schedule.TimeZoneFrom = v1alpha1.TimeZoneFromRecipient
	}
	if rapid.Bool().Draw(t, "one a date") {
		obj.Spec.Identity = v1alpha1.IdentityBusinessDate
	}
	obj.Spec.Recipients = nil
	for i := range rapid.IntRange(1, 3).Draw(t, "recipients") {
		obj.Spec.Recipients = append(obj.Spec.Recipients, v1alpha1.Recipient{ID: fmt.Sprint("r", i), TimeZone: zones[i]})
	}
	return &accounts{T: t, object: obj, now: now, ledger: map[string]delivery.Planned{}, missed: map[string]reminder.Gap{}}
}

// I1, M1, rows 1 and 47: whatever the policies, however long the process is away, and
// wherever it dies: each occurrence of each recipient is planned, or counted as missed,
// and never both.
func TestEachOccurrenceIsPlannedOrMissedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := anyAccounts(t)
		for i := range rapid.IntRange(1, 12).Draw(t, "passes") {
			if i > 0 {
				a.now = a.now.Add(moment(t, rapid.SampledFrom([]time.Duration{lookAhead / 2, 2 * time.Hour, 72 * time.Hour}).Draw(t, "away"), "gap"))
			}
			switch rapid.SampledFrom([]string{"none", "dies", "restart", "edit of the text", "status from the past"}).Draw(t, "disturbance") {
			case "dies":
				a.pass(rapid.IntRange(0, 12).Draw(t, "writes"))
				continue
			case "restart":
				a.done = progress{}
			case "edit of the text":
				a.object.Generation++
				a.object.Spec.Message.Body += "."
			case "status from the past":
				a.object.Status.PlannedThroughTime = &metav1.Time{Time: clock("2020-01-01T00:00:00Z")}
			}
			a.pass(1 << 30)
		}
		for a.pass(1 << 30); a.entry.Cursor.Open(); {
			a.pass(1 << 30)
		}
		a.pass(1 << 30) // what was cut off is finished first
		a.check()
	})
}

// Who is added to the recipients is reminded of what falls due since, whether or not
// that was planned for the others already, and of nothing before; however long the
// process was away before and after the edit, and wherever it dies.
func TestWhoIsAddedIsRemindedOfWhatFallsDueSince(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := anyAccounts(t)
		a.pass(1 << 30)
		a.now = a.now.Add(moment(t, rapid.SampledFrom([]time.Duration{lookAhead, 72 * time.Hour}).Draw(t, "before"), "until somebody is added"))
		a.known, a.joined = convert.Recipients(a.object), a.now.Truncate(time.Second)
		a.object.Generation++
		a.object.Spec.Recipients = append(a.object.Spec.Recipients, v1alpha1.Recipient{ID: "new", TimeZone: "Asia/Kolkata"})
		if rapid.Bool().Draw(t, "restart") {
			a.done = progress{}
		}
		a.now = a.now.Add(moment(t, rapid.SampledFrom([]time.Duration{lookAhead / 2, 72 * time.Hour}).Draw(t, "away"), "until a pass"))
		if rapid.Bool().Draw(t, "dies") {
			a.pass(rapid.IntRange(1, 12).Draw(t, "writes"))
		}
		for a.pass(1 << 30); a.entry.Cursor.Open(); {
			a.pass(1 << 30)
		}
		a.pass(1 << 30)
		a.check()
		for _, one := range a.ledger {
			if one.Key.Recipient == "new" && !one.DueTime.After(a.joined) {
				t.Fatalf("%s was due before %s, when its recipient was added", one.Key, a.joined)
			}
		}
	})
}

// A plan that was cut off before it had recorded what it gives up, and then an edit
// of the time: the run is recorded all the same.
func TestARunThatWasDecidedIsRecordedWhateverComesNext(t *testing.T) {
	t.Parallel()
	obj := aSchedule(cron("* * * * *"), edited(when(cron("*/5 * * * *"))))
	gap := reminder.Gap{FirstDueTime: clock("10:01:00"), LastDueTime: clock("11:59:00"), Reminders: 119}
	entry := entryOf(aSchedule(cron("* * * * *")), func(e *reminder.Schedule) {
		e.Cursor = reminder.Cursor{DoneTime: clock("10:00:00"), CatchUpTime: clock("12:00:00"), ThroughTime: clock("12:15:00"), Missed: &gap}
	})
	p := planOf(t, scheduleInput{object: obj, entry: entry, edited: clock("12:00:30"), now: clock("12:01:00")})
	if len(p.gaps) != 1 || p.gaps[0].gap != gap || p.gaps[0].key.Slot != "2026-11-30T10:01:00Z" || p.entry.Cursor.Missed != nil {
		t.Errorf("gaps %+v, cursor %+v", p.gaps, p.entry.Cursor)
	}
	p = planOf(t, scheduleInput{object: obj, entry: entry, edited: clock("12:00:30"), now: clock("12:01:00").Add(8 * 24 * time.Hour)})
	for _, run := range p.gaps {
		if run.gap == gap {
			t.Error("it is recorded although its record can have come and gone")
		}
	}
}

// Row 44: a clock that jumps ahead gives nothing up that is still to come.
func TestRow44AClockThatIsAheadGivesNothingUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(s.hourly(3))
	r := s.schedules()
	s.pass(r)
	was := s.entry()
	s.edit(func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.EndTime = nil })
	s.pass(r)
	s.wait(24 * time.Hour)
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: renewal}); err == nil {
		t.Error("a pass a day ahead of NATS succeeds")
	}
	if reason, message := s.ready(); reason != v1alpha1.ReasonFailed || !strings.Contains(message, "ahead of NATS's; set the clocks") {
		t.Errorf("Ready is %s: %s", reason, message)
	}
	if got := s.entry().Cursor; got.Missed != nil || got.ThroughTime.Sub(was.Cursor.ThroughTime) > time.Hour {
		t.Errorf("cursor %+v", got)
	}
	if all := s.records(); all["Missed"] > 0 {
		t.Errorf("records %v", all)
	}
	s.wait(-24 * time.Hour)
	s.pass(r)
}
