package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// Schedules of every kind on one system, all due within the same two minutes, and
// each with exact counts.
func TestTimesOfEveryKind(t *testing.T) {
	t.Parallel()
	v := newTrial(t, system.Options{}, "mail")
	due := minute(40 * time.Second)
	all := kinds(due)
	for _, k := range all {
		v.Create(t, k.schedule)
	}
	jitter := v.jitter(t)
	t.Run("calendars", func(t *testing.T) { v.calendars(t, due) })
	t.Run("a recipient's date moves away and back", func(t *testing.T) { v.anchorMoves(t, due) })
	for what, k := range all {
		t.Run(what, func(t *testing.T) { v.checkKind(t, k) })
	}
	t.Run("jitter spreads, and nothing is late", func(t *testing.T) { v.spreads(t, jitter) })
	t.Run("calendars, when it is due", func(t *testing.T) { v.calendarsEnd(t, due) })
	v.settled(t)
}

// kind is a schedule, and when each of its recipients must be reminded.
type kind struct {
	schedule *v1alpha1.ReminderSchedule
	due      map[string][]time.Time
	// every is how long after its creation, and then again, the schedule is due, up
	// to its end, for all that due names.
	every time.Duration
	// excluded is what Ready says of recipients without an occurrence; ends: the
	// schedule has no further occurrence.
	excluded string
	ends     bool
}

// Zones without daylight saving time, so that the tests say the same every day.
const tokyo, phoenix, lagos = "Asia/Tokyo", "America/Phoenix", "Africa/Lagos"

// in is a time on the clocks of a zone.
func in(t time.Time, zone string) time.Time {
	hours := map[string]int{tokyo: 9, phoenix: -7, lagos: 1, "UTC": 0}
	return t.In(time.FixedZone(zone, hours[zone]*3600))
}

// to is a recipient in a zone, which may be none, with one attribute, which may be none.
func to(id, zone, renewal string) v1alpha1.Recipient {
	r := v1alpha1.Recipient{ID: id, Address: id + "@example.com", TimeZone: zone, Attributes: map[string]string{"name": id}}
	if renewal != "" {
		r.Attributes["renewal"] = renewal
	}
	return r
}

func of(name string, spec v1alpha1.ScheduleSpec, recipients ...v1alpha1.Recipient) *v1alpha1.ReminderSchedule {
	obj := times(name, "mail", 0, spec)
	obj.Spec.Recipients = recipients
	return obj
}

// kinds are schedules that are due at a full minute, or near it.
func kinds(due time.Time) map[string]kind {
	one := []time.Time{due}
	ann, bob := to("ann", "", ""), to("bob", "", "")
	second := due.Add(-7 * time.Second)
	bounds := func(from, until time.Time) v1alpha1.ScheduleSpec {
		return v1alpha1.ScheduleSpec{StartTime: &metav1.Time{Time: from}, EndTime: &metav1.Time{Time: until}}
	}
	rule, counted, bounded := v1alpha1.ScheduleSpec{}, bounds(second, due.Add(time.Hour)), bounds(due, due.Add(time.Minute))
	rule.RRule = fmt.Sprintf("FREQ=DAILY;BYHOUR=%d;BYMINUTE=%d", in(due, tokyo).Hour(), due.Minute())
	rule.TimeZone = tokyo
	counted.EndTime, counted.RRule = nil, "FREQ=DAILY;COUNT=1"
	bounded.Cron = "* * * * *"
	thrice, own := bounds(second, second.Add(25*time.Second)), bounds(due, due.Add(10*time.Second))
	thrice.Every = &metav1.Duration{Duration: 10 * time.Second}
	own.StartTime, own.Every = nil, &metav1.Duration{Duration: 15 * time.Second}
	all := map[string]kind{
		"rrule in a zone": {schedule: of("rule", rule, ann, bob), due: map[string][]time.Time{"ann": one, "bob": one}},
		"rrule with the time of startTime and COUNT": {schedule: of("counted", counted, ann), due: map[string][]time.Time{"ann": {second}}, ends: true},
		"cron between startTime and endTime":         {schedule: of("bounded", bounded, ann, bob), due: map[string][]time.Time{"ann": one, "bob": one}, ends: true},
		"every from startTime to endTime": {schedule: of("thrice", thrice, ann, bob), ends: true,
			due: map[string][]time.Time{"ann": tens(second), "bob": tens(second)}},
		"every from the creation to endTime": {schedule: of("since", own, ann), every: 15 * time.Second, due: map[string][]time.Time{"ann": nil}, ends: true},
	}
	maps.Copy(all, zoned(due))
	maps.Copy(all, anchored(due))
	return all
}

func tens(from time.Time) []time.Time {
	return []time.Time{from, from.Add(10 * time.Second), from.Add(20 * time.Second)}
}

// zoned are schedules by the recipients' own clocks.
func zoned(due time.Time) map[string]kind {
	one := []time.Time{due}
	hourly := v1alpha1.ScheduleSpec{Cron: fmt.Sprintf("%d * * * *", due.Minute()), TimeZoneFrom: v1alpha1.TimeZoneFromRecipient}
	inOne := v1alpha1.ScheduleSpec{Cron: daily(in(due, tokyo)), TimeZoneFrom: v1alpha1.TimeZoneFromRecipient, TimeZone: tokyo}
	return map[string]kind{
		"each by its own clock, one of them half an hour off and one unknown": {
			schedule: of("hourly", hourly, to("ann", tokyo, ""), to("bob", phoenix, ""), to("cyd", "", ""), to("dan", "Asia/Kolkata", ""), to("eve", "Mars/Base", "")),
			due:      map[string][]time.Time{"ann": one, "bob": one, "cyd": one}, excluded: "1 recipient without an occurrence, such as eve: timeZone",
		},
		"the time is now in one zone of three, which is also that of whom has none": {
			schedule: of("in-one", inOne, to("ann", tokyo, ""), to("bob", phoenix, ""), to("cyd", lagos, ""), to("dan", "", "")),
			due:      map[string][]time.Time{"ann": one, "dan": one},
		},
	}
}

// anchored are schedules by a date of each recipient.
func anchored(due time.Time) map[string]kind {
	one, local := []time.Time{due}, in(due, tokyo)
	date := func(days int) string { return local.AddDate(0, 0, days).Format(time.DateOnly) }
	spec := func(offset string) v1alpha1.ScheduleSpec {
		return v1alpha1.ScheduleSpec{TimeZone: tokyo, Anchor: &v1alpha1.AnchorSpec{Attribute: "renewal", Offset: offset, Time: local.Format("15:04")}}
	}
	until := func(spec v1alpha1.ScheduleSpec) v1alpha1.ScheduleSpec {
		spec.EndTime = &metav1.Time{Time: due.Add(5 * time.Second)} // else a date may be added that has an occurrence
		return spec
	}
	return map[string]kind{
		"a date of each recipient, which one does not have and one has wrong": {
			schedule: of("dated", spec("P0D"), to("ann", "", date(0)), to("bob", "", date(0)), to("cyd", "", date(30)), to("dan", "", ""), to("eve", "", "2026-02-30")),
			due:      map[string][]time.Time{"ann": one, "bob": one}, excluded: "2 recipients without an occurrence, such as dan: ",
		},
		"three days before a date":      {schedule: of("before", until(spec("-P3D")), to("ann", "", date(3)), to("bob", "", date(0))), due: map[string][]time.Time{"ann": one}, ends: true},
		"a day after a date, and never": {schedule: of("after", until(spec("P1D")), to("ann", "", date(-1)), to("bob", "", date(-2))), due: map[string][]time.Time{"ann": one}, ends: true},
	}
}

// checkKind waits for a schedule's reminders and looks when they were due.
func (v *trial) checkKind(t *testing.T, k kind) {
	name := k.schedule.Name
	if k.every != 0 {
		obj := v.Schedule(t, name)
		for at := obj.CreationTimestamp.Add(k.every); at.Before(obj.Spec.Schedule.EndTime.Time); at = at.Add(k.every) {
			for id := range k.due {
				k.due[id] = append(k.due[id], at.UTC())
			}
		}
	}
	want := []string{}
	for id, due := range k.due {
		for _, at := range due {
			want = append(want, id+" "+at.Format(time.RFC3339))
		}
	}
	got := []string{}
	for _, r := range v.ends(t, name, outcome{sent: len(want)}) {
		got = append(got, r.Key.Recipient+" "+r.Due().Format(time.RFC3339))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	v.checkEnd(t, k)
}

// checkEnd looks at what status says behind the last reminder.
func (v *trial) checkEnd(t *testing.T, k kind) {
	t.Helper()
	name, reason := k.schedule.Name, v1alpha1.ReasonPlanned
	if k.ends {
		reason = v1alpha1.ReasonFinished
	}
	v.WaitReason(t, name, reason)
	status := v.Schedule(t, name).Status
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ReadyCondition)
	if !strings.Contains(ready.Message, k.excluded) || k.excluded == "" && strings.Contains(ready.Message, "without") {
		t.Errorf("Ready says %q, want %q in it", ready.Message, k.excluded)
	}
	if status.TimeZoneDataVersion != schedule.TZDataVersion() {
		t.Errorf("status names time zone data %s, want %s", status.TimeZoneDataVersion, schedule.TZDataVersion())
	}
	if k.ends != (status.FinishTime != nil) || k.ends != (status.NextDueTime == nil) {
		t.Errorf("finished %v, next due %v", status.FinishTime, status.NextDueTime)
	}
	if last := lastFinish(v.Records(t, name)); k.ends && !status.FinishTime.Equal(&metav1.Time{Time: last.Truncate(time.Second)}) {
		t.Errorf("finished %s, want %s", status.FinishTime, last)
	}
}

func lastFinish(records []reminder.Record) (last time.Time) {
	for _, r := range records {
		if r.FinishTime.After(last) {
			last = r.FinishTime
		}
	}
	return last
}

// anchorMoves gives a planned recipient another date, and then the first again.
func (v *trial) anchorMoves(t *testing.T, due time.Time) {
	v.planned(t, "dated", 2)
	date := func(days int) func(*v1alpha1.ReminderSchedule) {
		text := in(due, tokyo).AddDate(0, 0, days).Format(time.DateOnly)
		return func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients[0].Attributes["renewal"] = text }
	}
	update(t, v.System, "dated", date(5))
	v.became(t, "dated", outcome{pending: 1, superseded: 1})
	update(t, v.System, "dated", date(0))
	v.became(t, "dated", outcome{pending: 2})
}

const spreadOver, spreadDeadline = 20 * time.Second, 30 * time.Second

// jitter makes a schedule whose reminders are spread.
func (v *trial) jitter(t *testing.T) time.Time {
	t.Helper()
	due := second(30 * time.Second)
	obj := system.OneOff("spread", "mail", due, 20, "ada")
	obj.Spec.Schedule.Jitter = &metav1.Duration{Duration: spreadOver}
	obj.Spec.Delivery.Deadline = &metav1.Duration{Duration: spreadDeadline}
	v.Create(t, obj)
	return due
}

func (v *trial) spreads(t *testing.T, due time.Time) {
	seconds := map[time.Time]int{}
	for _, r := range v.ends(t, "spread", outcome{sent: 20}) {
		seconds[r.ReleaseTime]++
		if after := r.ReleaseTime.Sub(due); after < 0 || after > spreadOver || !r.DueTime.Equal(due) || !r.DeadlineTime.Equal(due.Add(spreadDeadline)) {
			t.Errorf("%s: due %s, released %s after it, deadline %s", r.Key, r.DueTime, after, r.DeadlineTime)
		}
	}
	if len(seconds) < 5 {
		t.Errorf("released in %d different seconds", len(seconds))
	}
	for _, a := range v.witness.of("spread") {
		if !a.due.Equal(due) {
			t.Errorf("%s says it is due %s, want %s", a.key, a.due, due)
		}
	}
	t.Logf("20 reminders were released in %d different seconds", len(seconds))
}
