package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// What is planned, and through when: the cases in which this process has planned
// nothing of the schedule before.
func TestPlanWithoutProgress(t *testing.T) {
	t.Parallel()
	quarterly := cron("*/15 * * * *")
	cases := map[string]struct {
		object *v1alpha1.ReminderSchedule
		entry  func(*v1alpha1.ReminderSchedule) reminder.Schedule
		edited string
		now    string
		want   []string
		missed missed
	}{
		"a new schedule has what falls due from its creation on": {
			object: aSchedule(cron("* * * * *"), createdAt("11:59:58")), now: "12:00:01",
			want:   []string{"12:00:00", "12:01:00", "12:02:00", "12:03:00", "12:04:00", "12:05:00", "12:06:00", "12:07:00", "12:08:00", "12:09:00", "12:10:00", "12:11:00", "12:12:00", "12:13:00", "12:14:00", "12:15:00"},
			missed: missed{taken: clock("12:00:00")},
		},
		"a new schedule misses nothing from before": {object: aSchedule(cron("0 12 * * *"), createdAt("12:00:00")), now: "12:00:01"},
		"a restart plans the window again":          {object: aSchedule(quarterly, cursor("12:15:00")), entry: registered, now: "12:01:00", want: []string{"12:15:00"}},
		"a cursor in the past: the latest is taken up, the others are missed": {
			object: aSchedule(quarterly, cursor("11:10:00")), entry: registered, now: "12:01:00", want: []string{"12:00:00", "12:15:00"},
			missed: missed{some: true, taken: clock("12:00:00")},
		},
		"a cursor in the past with one behind it: nothing is missed": {
			object: aSchedule(quarterly, cursor("11:50:00")), entry: registered, now: "12:01:00", want: []string{"12:00:00", "12:15:00"},
			missed: missed{taken: clock("12:00:00")},
		},
		"a cursor at an occurrence: it is planned already": {object: aSchedule(quarterly, cursor("12:00:00")), entry: registered, now: "12:01:00", want: []string{"12:15:00"}},
		"a cursor in the far future is not believed":       {object: aSchedule(quarterly, cursor("2036-01-01T00:00:00Z")), entry: registered, now: "12:01:00", want: []string{"12:15:00"}},
		"a cursor before the creation is not believed": {
			object: aSchedule(quarterly, createdAt("11:59:00"), cursor("2016-01-01T00:00:00Z")), entry: registered, now: "12:01:00", want: []string{"12:00:00", "12:15:00"},
			missed: missed{taken: clock("12:00:00")},
		},
		"a cursor that is gone: from the creation on": {
			object: aSchedule(quarterly), entry: registered, now: "12:01:00", want: []string{"12:00:00", "12:15:00"},
			missed: missed{some: true, taken: clock("12:00:00")},
		},
		"an occurrence at this very moment is the latest that was missed": {
			object: aSchedule(quarterly, cursor("11:50:00")), entry: registered, now: "12:00:00", want: []string{"12:00:00", "12:15:00"},
			missed: missed{taken: clock("12:00:00")},
		},
		"an occurrence in the last second of the window is planned": {object: aSchedule(quarterly, cursor("11:59:59")), entry: registered, now: "12:00:00.5", want: []string{"12:00:00", "12:15:00"}, missed: missed{taken: clock("12:00:00")}},

		"M2: 30 11 * * 5 becomes 0 11 * * 5, edited on Thursday 23:49": {
			object: aSchedule(cron("30 11 * * 5"), createdAt("2026-11-02T00:00:00Z"), cursor("2026-11-27T11:45:00Z"), edited(when(cron("0 11 * * 5")))),
			entry:  before(cron("30 11 * * 5")), edited: "2026-11-26T23:49:00Z", now: "2026-11-26T23:49:10Z",
		},
		"M2: 33 16 becomes 34 16, edited at 16:34": {
			object: aSchedule(cron("33 16 * * *"), cursor("16:48:00"), edited(when(cron("34 16 * * *")))),
			entry:  before(cron("33 16 * * *")), edited: "16:34:00", now: "16:34:20",
		},
		"M2: moved to a time that is already past today": {
			object: aSchedule(cron("0 18 * * *"), cursor("16:00:00"), edited(when(cron("0 9 * * *")))),
			entry:  before(cron("0 18 * * *")), edited: "16:00:00", now: "16:00:01",
		},
		"an edit whose time is not known counts from now": {
			object: aSchedule(quarterly, cursor("12:15:00"), edited(when(cron("*/10 * * * *")))), entry: before(quarterly), now: "12:01:00", want: []string{"12:10:00"},
		},
		"an edit while the broker was away counts from when it was made, not from when it is noticed": {
			object: aSchedule(at(clock("18:00:00")), cursor("12:15:00"), edited(when(at(clock("12:10:00"))))), entry: before(at(clock("18:00:00"))),
			edited: "12:02:00", now: "12:20:00", want: []string{"12:10:00"}, missed: missed{taken: clock("12:10:00")},
		},
		"an edit that was registered and not planned is planned by the next process": {
			object: aSchedule(at(clock("18:00:00")), cursor("12:15:00"), edited(when(at(clock("12:10:00"))))),
			entry: func(o *v1alpha1.ReminderSchedule) reminder.Schedule {
				return entryOf(o, func(e *reminder.Schedule) { e.EditTime = clock("12:02:00") })
			},
			now: "12:20:00", want: []string{"12:10:00"}, missed: missed{taken: clock("12:10:00")},
		},
		"an edit counts from no future": {
			object: aSchedule(quarterly, cursor("12:15:00"), edited(when(cron("*/10 * * * *")))), entry: before(quarterly), edited: "12:30:00", now: "12:01:00", want: []string{"12:10:00"},
		},
		"M3: an edit of the text moves nothing, and misses nothing": {
			object: aSchedule(quarterly, cursor("12:15:00"), edited(text("Bye"))), entry: before(quarterly), edited: "12:00:30", now: "12:01:00", want: []string{"12:15:00"},
		},
		"an edit of the text while the operator was away takes up the latest as ever": {
			object: aSchedule(quarterly, cursor("11:50:00"), edited(text("Bye"))), entry: before(quarterly), edited: "12:00:30", now: "12:01:00", want: []string{"12:00:00", "12:15:00"},
			missed: missed{taken: clock("12:00:00")},
		},

		"a suspended schedule plans nothing": {
			object: aSchedule(quarterly, cursor("12:15:00"), edited(suspended(true))), entry: before(quarterly), now: "12:01:00",
		},
		"suspended time is not missed": {
			object: aSchedule(quarterly, suspended(true), cursor("11:00:00"), edited(suspended(false))), entry: before(quarterly, suspended(true)), edited: "12:05:00", now: "12:05:10", want: []string{"12:15:00"},
		},
		"a resumption while the broker was away counts from when it was made": {
			object: aSchedule(quarterly, suspended(true), cursor("11:00:00"), edited(suspended(false))), entry: before(quarterly, suspended(true)), edited: "11:59:00", now: "12:05:10", want: []string{"12:00:00", "12:15:00"},
			missed: missed{taken: clock("12:00:00")},
		},
		"where suspend was taken away, the API server names an edit before it: it counts from now": {
			object: aSchedule(quarterly, cursor("11:00:00"), edited(suspended(false))), entry: seen(before(quarterly, suspended(true)), "11:50:00"),
			edited: "11:50:00", now: "12:05:10", want: []string{"12:15:00"},
		},
		"where endTime was taken away, the API server names an edit before it: it counts from now": {
			object: aSchedule(quarterly, cursor("11:45:00"), edited(when(cron("*/10 * * * *")))), entry: seen(before(quarterly), "11:40:00"),
			edited: "11:40:00", now: "12:05:10", want: []string{"12:10:00", "12:20:00"},
		},
		"a resumption that was registered and not planned is planned by the next process": {
			object: aSchedule(quarterly, suspended(true), cursor("12:15:00"), edited(suspended(false))),
			entry: func(o *v1alpha1.ReminderSchedule) reminder.Schedule {
				return entryOf(o, func(e *reminder.Schedule) { e.ResumeTime = clock("12:05:00") })
			},
			now: "12:20:00", want: []string{"12:15:00", "12:30:00"}, missed: missed{taken: clock("12:15:00")},
		},

		"catch-up: outside the window nothing is taken up": {
			object: aSchedule(cron("0 * * * *"), window(10*time.Minute), cursor("10:30:00")), entry: registered, now: "12:11:00", missed: missed{some: true},
		},
		"catch-up: exactly as old as the window is outside": {
			object: aSchedule(cron("0 * * * *"), window(10*time.Minute), cursor("11:30:00")), entry: registered, now: "12:10:00", missed: missed{some: true},
		},
		"catch-up: a second younger than the window is inside": {
			object: aSchedule(cron("0 * * * *"), window(10*time.Minute), cursor("11:30:00")), entry: registered, now: "12:09:59", want: []string{"12:00:00"}, missed: missed{taken: clock("12:00:00")},
		},
		"catch-up: past the deadline nothing is taken up": {
			object: aSchedule(cron("0 * * * *"), deadline(5*time.Minute), cursor("11:30:00")), entry: registered, now: "12:05:00", missed: missed{some: true},
		},
		"catch-up: a second before the deadline it is": {
			object: aSchedule(cron("0 * * * *"), deadline(5*time.Minute), cursor("11:30:00")), entry: registered, now: "12:04:59", want: []string{"12:00:00"}, missed: missed{taken: clock("12:00:00")},
		},

		"at: a time ahead, outside the window, waits": {object: aSchedule(at(clock("18:00:00"))), now: "12:00:00"},
		"at: a time ahead, inside the window":         {object: aSchedule(at(clock("12:15:00"))), now: "12:00:00", want: []string{"12:15:00"}},
		"M10: at in 2020 is not sent":                 {object: aSchedule(at(clock("2020-01-01T00:00:00Z"))), now: "10:00:01", missed: missed{some: true}},
		"M10: at in the year 9999 waits":              {object: aSchedule(at(clock("9999-12-31T23:59:59Z"))), now: "10:00:01"},
		"at: a little before the creation is sent": {
			object: aSchedule(at(clock("09:59:00"))), now: "10:00:01", want: []string{"09:59:00"}, missed: missed{taken: clock("09:59:00")},
		},
		"at: the second of the creation is sent": {
			object: aSchedule(at(clock("10:00:00"))), now: "10:00:00.7", want: []string{"10:00:00"}, missed: missed{taken: clock("10:00:00")},
		},
		"at: more than the window before the creation is not": {object: aSchedule(at(clock("09:00:00"))), now: "10:00:00", missed: missed{some: true}},
		"at: moved into the past by an edit is not sent": {
			object: aSchedule(at(clock("18:00:00")), cursor("12:15:00"), edited(when(at(clock("11:59:00"))))), entry: before(at(clock("18:00:00"))), edited: "12:00:00", now: "12:00:01",
		},
		"at: what was sent is not looked at again": {object: aSchedule(at(clock("11:00:00")), cursor("11:15:00")), entry: registered, now: "12:00:00"},

		"every: from the creation on, not at it": {object: aSchedule(eachTime(10 * time.Minute)), now: "10:00:01", want: []string{"10:10:00"}},
		"every: a restart moves nothing":         {object: aSchedule(eachTime(10*time.Minute), cursor("12:18:00")), entry: registered, now: "12:03:33", want: []string{"12:10:00"}},
		"every: anchored at a start in the past": {object: aSchedule(starting(eachTime(10*time.Minute), "08:03:00")), now: "10:00:01", want: []string{"10:03:00", "10:13:00"}},
		"every: the start itself, when ahead":    {object: aSchedule(starting(eachTime(10*time.Minute), "10:12:00")), now: "10:00:01", want: []string{"10:12:00"}},

		"an end within the window": {object: aSchedule(ending(cron("* * * * *"), "12:02:00"), cursor("12:00:00")), entry: registered, now: "12:00:00", want: []string{"12:01:00"}},

		"made anew under the same name: from its creation on": {
			object: aSchedule(quarterly, createdAt("12:00:30")), entry: other(quarterly), now: "12:01:00", want: []string{"12:15:00"},
		},
		"made anew after it was deleted": {
			object: aSchedule(quarterly, createdAt("12:00:30")),
			entry: func(*v1alpha1.ReminderSchedule) reminder.Schedule {
				e := other(quarterly)(nil)
				e.Deleted = true
				return e
			},
			now: "12:01:00", want: []string{"12:15:00"},
		},
		"the registry was lost: the window is planned anew": {object: aSchedule(quarterly, cursor("12:15:00")), now: "12:01:00", want: []string{"12:15:00"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := scheduleInput{object: c.object, now: clock(c.now)}
			if c.entry != nil {
				in.entry = c.entry(c.object)
			}
			if c.edited != "" {
				in.edited = clock(c.edited)
			}
			p := planOf(t, in)
			if diff := cmp.Diff(c.want, slots(p)); diff != "" {
				t.Errorf("planned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.missed, missedBy(p, in.now), cmp.AllowUnexported(missed{})); diff != "" {
				t.Errorf("missed (-want +got):\n%s", diff)
			}
		})
	}
}

// registered is the entry of the object as it is.
func registered(obj *v1alpha1.ReminderSchedule) reminder.Schedule { return entryOf(obj) }

// before is the entry of the object before its last edit.
func before(when v1alpha1.ScheduleSpec, changes ...change) func(*v1alpha1.ReminderSchedule) reminder.Schedule {
	return func(obj *v1alpha1.ReminderSchedule) reminder.Schedule {
		was := aSchedule(when, changes...)
		was.CreationTimestamp, was.Generation = obj.CreationTimestamp, obj.Generation-1
		return entryOf(was)
	}
}

// seen is an entry that was made when the last edit was of a time.
func seen(entry func(*v1alpha1.ReminderSchedule) reminder.Schedule, at string) func(*v1alpha1.ReminderSchedule) reminder.Schedule {
	return func(obj *v1alpha1.ReminderSchedule) reminder.Schedule {
		e := entry(obj)
		e.SeenEditTime = clock(at)
		return e
	}
}

// other is the entry of an older object of the same name.
func other(when v1alpha1.ScheduleSpec) func(*v1alpha1.ReminderSchedule) reminder.Schedule {
	return func(*v1alpha1.ReminderSchedule) reminder.Schedule {
		return entryOf(aSchedule(when, func(o *v1alpha1.ReminderSchedule) { o.UID = "uid-0" }))
	}
}

func when(s v1alpha1.ScheduleSpec) change {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = s }
}

func text(body string) change {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Message.Body = body }
}

func suspended(yes bool) change {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Suspend = yes }
}

func starting(s v1alpha1.ScheduleSpec, start string) v1alpha1.ScheduleSpec {
	s.StartTime = &metav1.Time{Time: clock(start)}
	return s
}

func ending(s v1alpha1.ScheduleSpec, end string) v1alpha1.ScheduleSpec {
	s.EndTime = &metav1.Time{Time: clock(end)}
	return s
}

func TestPlanBehindOwnProgress(t *testing.T) {
	t.Parallel()
	obj := aSchedule(cron("*/15 * * * *"), cursor("12:15:00"))
	stream := clock("09:00:00")
	done := func(changes ...func(*progress)) progress {
		p := progress{uid: "uid-1", generation: 1, epoch: 7, stream: stream, next: clock("12:30:00")}
		for _, c := range changes {
			c(&p)
		}
		return p
	}
	cases := map[string]struct {
		object *v1alpha1.ReminderSchedule
		done   progress
		now    string
		want   []string
		missed missed
	}{
		"what is planned is not planned again":            {obj, done(), "12:01:00", nil, missed{}},
		"a later pass goes on behind it":                  {obj, done(), "12:16:00", []string{"12:30:00"}, missed{}},
		"a clock that steps back plans nothing again":     {obj, done(), "11:00:00", nil, missed{}},
		"a late pass takes the latest up":                 {obj, done(), "13:01:00", []string{"13:00:00", "13:15:00"}, missed{some: true, taken: clock("13:00:00")}},
		"another object of that name":                     {obj, done(func(p *progress) { p.uid = "uid-0" }), "12:01:00", []string{"12:15:00"}, missed{}},
		"another epoch":                                   {obj, done(func(p *progress) { p.epoch = 6 }), "12:01:00", []string{"12:15:00"}, missed{}},
		"another jobs stream":                             {obj, done(func(p *progress) { p.stream = clock("08:00:00") }), "12:01:00", []string{"12:15:00"}, missed{}},
		"another generation plans what is ahead anew":     {obj, done(func(p *progress) { p.generation = 0 }), "12:01:00", []string{"12:15:00"}, missed{}},
		"own progress counts more than a cursor from far": {aSchedule(cron("*/15 * * * *"), cursor("10:00:00")), done(func(p *progress) { p.generation = 0 }), "12:01:00", []string{"12:15:00"}, missed{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := scheduleInput{object: c.object, entry: entryOf(c.object, planned(cursorOf(c.object, reminder.Schedule{}))), done: c.done, stream: stream, now: clock(c.now)}
			p := planOf(t, in)
			if diff := cmp.Diff(c.want, slots(p)); diff != "" {
				t.Errorf("planned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.missed, missedBy(p, in.now), cmp.AllowUnexported(missed{})); diff != "" {
				t.Errorf("missed (-want +got):\n%s", diff)
			}
			if have, got := in.entry.Cursor.ThroughTime, p.entry.Cursor.ThroughTime; got.Before(have) {
				t.Errorf("the cursor went back from %s to %s", have, got)
			}
		})
	}
}

// What the registry must hold after a pass, and what of an earlier plan must go.
func TestRegistration(t *testing.T) {
	t.Parallel()
	daily := cron("0 9 * * *")
	now := clock("12:00:00")
	rises := now.Unix()
	cases := map[string]struct {
		object          *v1alpha1.ReminderSchedule
		entry           reminder.Schedule
		want            reminder.Schedule // epoch and what goes with it
		write, withdraw bool
		settle          bool
	}{
		"a new schedule begins at the time of day": {
			object: aSchedule(daily), want: reminder.Schedule{Epoch: rises, PlanGeneration: 1}, write: true, settle: true,
		},
		"an unchanged one is left": {
			object: aSchedule(daily, cursor("12:15:00")), entry: entryOf(aSchedule(daily), planned(clock("12:15:00"))), want: reminder.Schedule{Epoch: 7, PlanGeneration: 1},
		},
		"a pass that failed after it had registered settles again": {
			object: aSchedule(daily), entry: entryOf(aSchedule(daily), planned(clock("12:15:00"))), want: reminder.Schedule{Epoch: 7, PlanGeneration: 1}, settle: true,
		},
		"an edit of the text keeps the epoch": {
			object: aSchedule(daily, edited(text("Bye"))), entry: entryOf(aSchedule(daily)), want: reminder.Schedule{Epoch: 7, PlanGeneration: 1}, write: true, settle: true,
		},
		"an edit of the time raises it": {
			object: aSchedule(daily, edited(when(cron("0 8 * * *")))), entry: entryOf(aSchedule(daily)),
			want: reminder.Schedule{Epoch: rises, PlanGeneration: 2, EditTime: now}, write: true, withdraw: true, settle: true,
		},
		"an edit of the channel raises it": {
			object: aSchedule(daily, edited(func(o *v1alpha1.ReminderSchedule) { o.Spec.ChannelName = "sms" })), entry: entryOf(aSchedule(daily)),
			want: reminder.Schedule{Epoch: rises, PlanGeneration: 2, EditTime: now}, write: true, withdraw: true, settle: true,
		},
		"an epoch ahead of the clock rises by one": {
			object: aSchedule(daily, edited(when(cron("0 8 * * *")))), entry: entryOf(aSchedule(daily), func(e *reminder.Schedule) { e.Epoch = rises + 100 }),
			want: reminder.Schedule{Epoch: rises + 101, PlanGeneration: 2, EditTime: now}, write: true, withdraw: true, settle: true,
		},
		"an edit never goes back behind an earlier one": {
			object: aSchedule(daily, edited(when(cron("0 8 * * *")))), entry: entryOf(aSchedule(daily), func(e *reminder.Schedule) { e.EditTime = now.Add(time.Hour) }),
			want: reminder.Schedule{Epoch: rises, PlanGeneration: 2, EditTime: now.Add(time.Hour)}, write: true, withdraw: true, settle: true,
		},
		"a suspension withdraws and keeps the epoch": {
			object: aSchedule(daily, edited(suspended(true))), entry: entryOf(aSchedule(daily)), want: reminder.Schedule{Epoch: 7, PlanGeneration: 1, Suspended: true}, write: true, withdraw: true, settle: true,
		},
		"a suspended one is left": {
			object: aSchedule(daily, suspended(true), cursor("12:00:00")), entry: entryOf(aSchedule(daily, suspended(true))), want: reminder.Schedule{Epoch: 7, PlanGeneration: 1, Suspended: true},
		},
		"a resumption notes its time": {
			object: aSchedule(daily, edited(suspended(false))), entry: entryOf(aSchedule(daily, suspended(true))),
			want: reminder.Schedule{Epoch: 7, PlanGeneration: 2, ResumeTime: now}, write: true, settle: true,
		},
		"made anew raises the epoch and forgets edits of the old one": {
			object: aSchedule(daily, func(o *v1alpha1.ReminderSchedule) { o.UID = "uid-2" }),
			entry:  entryOf(aSchedule(daily, suspended(true)), func(e *reminder.Schedule) { e.EditTime, e.ResumeTime = clock("11:00:00"), clock("11:30:00") }),
			want:   reminder.Schedule{Epoch: rises, PlanGeneration: 1}, write: true, withdraw: true, settle: true,
		},
		"made anew after a deletion": {
			object: aSchedule(daily, func(o *v1alpha1.ReminderSchedule) { o.UID = "uid-2" }),
			entry:  entryOf(aSchedule(daily), func(e *reminder.Schedule) { e.Deleted = true }),
			want:   reminder.Schedule{Epoch: rises, PlanGeneration: 1}, write: true, withdraw: true, settle: true,
		},
		"the registry was lost: the epoch still rises above the records'": {
			object: aSchedule(daily, cursor("12:15:00")), want: reminder.Schedule{Epoch: rises, PlanGeneration: 1}, write: true, settle: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, scheduleInput{object: c.object, entry: c.entry, revision: 42, now: now, done: progress{uid: string(c.object.UID)}})
			got := reminder.Schedule{
				Epoch: p.entry.Epoch, PlanGeneration: p.entry.PlanGeneration, EditTime: p.entry.EditTime, ResumeTime: p.entry.ResumeTime,
				Suspended: p.entry.Suspended, Deleted: p.entry.Deleted,
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
			if p.write != c.write || p.withdraw != c.withdraw || p.settle != c.settle {
				t.Errorf("write %v, withdraw %v, settle %v; want %v, %v, %v", p.write, p.withdraw, p.settle, c.write, c.withdraw, c.settle)
			}
			if p.entry.UID != string(c.object.UID) || p.entry.Generation != c.object.Generation || p.revision != 42 {
				t.Errorf("entry of %s generation %d over revision %d; want that of the object, over 42", p.entry.UID, p.entry.Generation, p.revision)
			}
		})
	}
}

// The operator was down for a long time: one occurrence is taken up, and finding it
// costs the same whatever the time.
func TestPlanAfterALongAbsence(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{
		"3 days, minutely":   3 * 24 * time.Hour,
		"90 years, minutely": 90 * 365 * 24 * time.Hour, // 47 million minutes
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := aSchedule(cron("* * * * *"), cursor("10:00:00"))
			now := clock("10:00:30").Add(away)
			start := time.Now()
			p := planOf(t, scheduleInput{object: obj, entry: entryOf(obj), now: now})
			n := 0
			for range p.reminders {
				n++
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("planning took %s", took)
			}
			want := int64(away/time.Minute) - 1
			if got := p.entry.Cursor.Missed; n != 16 || p.taken != 1 || got == nil || got.Reminders != want || !got.LastDueTime.Equal(now.Truncate(time.Minute).Add(-time.Minute)) {
				t.Errorf("%d planned, %d taken up, missed %+v; want the latest and the 15 ahead, and that %d are missed", n, p.taken, got, want)
			}
		})
	}
}

func TestFanOut(t *testing.T) {
	t.Parallel()
	obj := aSchedule(cron("0 12 * * *"), deadline(30*time.Minute), cursor("11:45:00"), func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Recipients = []v1alpha1.Recipient{{ID: "cleo"}, {ID: "ada"}, {ID: "bob", Active: new(false)}}
	})
	p := planOf(t, scheduleInput{object: obj, entry: entryOf(obj), now: clock("11:50:00")})
	var ids []string
	for one := range p.reminders {
		ids = append(ids, one.Key.String())
		if one.Key.Channel != "mail" || one.Epoch != 7 || !one.ReleaseTime.Equal(clock("12:00:00")) || !one.DeadlineTime.Equal(clock("12:30:00")) || !one.LateTime.Equal(clock("12:05:00")) {
			t.Errorf("planned %+v", one)
		}
	}
	want := []string{"shop/renewal/2026-11-30T12:00:00Z/ada", "shop/renewal/2026-11-30T12:00:00Z/cleo"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("planned (-want +got), the inactive one left out:\n%s", diff)
	}
	for range p.reminders { // a plan that is left early is left cleanly
		break
	}
}

func TestWake(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		object *v1alpha1.ReminderSchedule
		now    string
		want   string // empty: never
	}{
		"half a window before the next one that is not planned": {aSchedule(cron("0 * * * *"), cursor("12:15:00")), "12:01:00", "12:52:30"},
		"often enough for a minutely one":                       {aSchedule(cron("* * * * *"), cursor("12:15:00")), "12:00:00", "12:08:30"},
		"not at once, when that time has come":                  {aSchedule(cron("*/20 * * * *"), cursor("12:15:00")), "12:14:00", "12:32:30"},
		"a day ahead":                                           {aSchedule(cron("0 9 * * *"), cursor("12:15:00")), "12:01:00", "2026-12-01T08:52:30Z"},
		"never after the last":                                  {aSchedule(at(clock("11:00:00")), cursor("12:15:00")), "12:01:00", ""},
		"never while suspended":                                 {aSchedule(cron("0 * * * *"), suspended(true), cursor("12:15:00")), "12:01:00", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want time.Time
			if c.want != "" {
				want = clock(c.want)
			}
			got := planOf(t, scheduleInput{object: c.object, entry: entryOf(c.object), now: clock(c.now)}).wake
			if !got.Equal(want) {
				t.Errorf("wakes at %s, want %s", got, want)
			}
		})
	}
}
