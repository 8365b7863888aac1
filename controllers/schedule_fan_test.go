package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func people(all ...v1alpha1.Recipient) change {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients = all }
}

func many(n int) (all []v1alpha1.Recipient) {
	for i := range n {
		all = append(all, v1alpha1.Recipient{ID: fmt.Sprint("r", i)})
	}
	return all
}

func with(s v1alpha1.ScheduleSpec, how func(*v1alpha1.ScheduleSpec)) v1alpha1.ScheduleSpec {
	how(&s)
	return s
}

func plannedBy(p schedulePlan) (all []delivery.Planned) {
	for one := range p.reminders {
		all = append(all, one)
	}
	return all
}

// Jitter spreads, stays between the due time and the deadline, and depends on nothing
// that an edit of the text or a restart changes (M3).
func TestJitter(t *testing.T) {
	t.Parallel()
	jittered := with(cron("0 12 * * *"), func(s *v1alpha1.ScheduleSpec) { s.Jitter = duration(time.Minute) })
	obj := aSchedule(jittered, people(many(200)...), deadline(time.Minute))
	first := plannedBy(planOf(t, scheduleInput{object: obj, entry: entryOf(obj), now: clock("11:50:00")}))
	after := aSchedule(jittered, people(many(200)...), deadline(time.Minute), edited(text("Bye")))
	second := plannedBy(planOf(t, scheduleInput{object: after, entry: entryOf(after), now: clock("11:51:00")}))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("an edit of the text moved something:\n%s", diff)
	}
	due, seconds := clock("12:00:00"), map[time.Duration]int{}
	for _, one := range first {
		if !one.DueTime.Equal(due) || one.ReleaseTime.Before(due) || !one.ReleaseTime.Before(one.DeadlineTime) || !one.LateTime.Equal(one.ReleaseTime.Add(5*time.Minute)) {
			t.Errorf("%+v", one)
		}
		seconds[one.ReleaseTime.Sub(due)]++
	}
	if len(first) != 200 || len(seconds) < 40 {
		t.Errorf("%d reminders in %d seconds; want 200, over most of a minute", len(first), len(seconds))
	}
}

// Each recipient by its own clock, or by its own date; who has none is left out, and
// the others do not suffer.
func TestEachRecipientsOwnTimes(t *testing.T) {
	t.Parallel()
	byClock := with(cron("0 9 * * *"), func(s *v1alpha1.ScheduleSpec) {
		s.TimeZoneFrom, s.TimeZone = v1alpha1.TimeZoneFromRecipient, "Europe/Berlin"
	})
	byDate := v1alpha1.ScheduleSpec{Anchor: &v1alpha1.AnchorSpec{Attribute: "renews", Offset: "-P3D", Time: "09:00"}, TimeZone: "Europe/Berlin"}
	date := func(id, day string) v1alpha1.Recipient {
		return v1alpha1.Recipient{ID: id, Attributes: map[string]string{"renews": day}}
	}
	cases := map[string]struct {
		object *v1alpha1.ReminderSchedule
		want   []string
	}{
		"by clocks": {
			aSchedule(byClock, people(v1alpha1.Recipient{ID: "paris", TimeZone: "Europe/Paris"}, v1alpha1.Recipient{ID: "tokyo", TimeZone: "Asia/Tokyo"},
				v1alpha1.Recipient{ID: "none"}, v1alpha1.Recipient{ID: "nowhere", TimeZone: "Europe/Bonn"}, v1alpha1.Recipient{ID: "lisbon", TimeZone: "Europe/Lisbon"})),
			[]string{"2026-12-01T00:00:00Z/tokyo", "2026-12-01T08:00:00Z/none", "2026-12-01T08:00:00Z/paris", "2026-12-01T09:00:00Z/lisbon"},
		},
		"by dates": {
			aSchedule(byDate, people(date("a", "2026-12-04"), date("b", "2026-12-05"), date("c", "2026-02-30"), date("d", ""), date("e", "2026-12-04T10:00"), date("f", "2026-12-04"))),
			[]string{"2026-12-01T08:00:00Z/a", "2026-12-01T08:00:00Z/f"},
		},
	}
	for name, c := range cases {
		var got []string
		for _, one := range plannedBy(planOf(t, scheduleInput{object: c.object, entry: entryOf(c.object), lookAhead: 24 * time.Hour, now: clock("12:00:00")})) {
			got = append(got, one.Key.Slot+"/"+one.Key.Recipient)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// With the identity BusinessDate the first occurrence of a local date counts, and its
// slot is the date.
func TestOneReminderPerBusinessDate(t *testing.T) {
	t.Parallel()
	obj := aSchedule(with(cron("0 1,9,23 * * *"), func(s *v1alpha1.ScheduleSpec) { s.TimeZone = "America/New_York" }), func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Identity = v1alpha1.IdentityBusinessDate
	})
	var got []string
	for _, one := range plannedBy(planOf(t, scheduleInput{object: obj, entry: entryOf(obj), lookAhead: 48 * time.Hour, now: clock("12:00:00")})) {
		got = append(got, one.Key.Slot+" due "+one.DueTime.Format(time.RFC3339)+" local "+one.LocalTime)
	}
	want := []string{"2026-12-01 due 2026-12-01T06:00:00Z local 2026-12-01T01:00:00", "2026-12-02 due 2026-12-02T06:00:00Z local 2026-12-02T01:00:00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
}

// What catchUp makes of two hours without an operator, by the minute.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	policy := func(mode v1alpha1.CatchUpMode, window time.Duration, limit int32) change {
		return func(o *v1alpha1.ReminderSchedule) {
			o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: mode, Window: duration(window), Limit: &limit}
		}
	}
	cases := map[string]struct {
		how    []change
		taken  int64
		missed int64
		first  string // release of the first that is taken up
	}{
		"nothing said":                {nil, 1, 119, "12:00:30"},
		"None":                        {[]change{policy(v1alpha1.CatchUpNone, time.Hour, 100)}, 0, 120, ""},
		"Latest, whatever the limit":  {[]change{policy(v1alpha1.CatchUpLatest, time.Hour, 100)}, 1, 119, "12:00:30"},
		"All inside the window":       {[]change{policy(v1alpha1.CatchUpAll, time.Hour, 100)}, 60, 60, "12:00:30"},
		"All up to the limit":         {[]change{policy(v1alpha1.CatchUpAll, time.Hour, 10)}, 10, 110, "12:00:30"},
		"All before their deadline":   {[]change{policy(v1alpha1.CatchUpAll, 2*time.Hour, 1000), deadline(30 * time.Minute)}, 30, 90, "12:00:30"},
		"counted for each recipient":  {[]change{policy(v1alpha1.CatchUpAll, time.Hour, 10), people(many(3)...)}, 30, 330, "12:00:30"},
		"not further than it was off": {[]change{policy(v1alpha1.CatchUpAll, 720*time.Hour, 10000), deadline(720 * time.Hour)}, 120, 0, "12:00:30"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := aSchedule(cron("* * * * *"), c.how...)
			now := clock("12:00:30")
			p := planOf(t, scheduleInput{object: obj, entry: entryOf(obj, planned(clock("10:00:00"))), now: now})
			missed := int64(0)
			if gap := p.entry.Cursor.Missed; gap != nil {
				missed = gap.Reminders
			}
			if p.taken != c.taken || missed != c.missed {
				t.Errorf("%d taken up, %d missed; want %d and %d", p.taken, missed, c.taken, c.missed)
			}
			checkPace(t, plannedBy(p), now, c.first)
		})
	}
}

// checkPace holds what is caught up to one a second for each recipient.
func checkPace(t *testing.T, all []delivery.Planned, now time.Time, first string) {
	t.Helper()
	next := map[string]time.Time{}
	for _, one := range all {
		if one.DueTime.After(now) {
			continue
		}
		who := one.Key.Recipient
		if want, known := next[who]; known && !one.ReleaseTime.Equal(want) || !known && !one.ReleaseTime.Equal(clock(first)) {
			t.Fatalf("%s is released at %s, want a second after the one before, or %s", one.Key, one.ReleaseTime, first)
		}
		next[who] = one.ReleaseTime.Add(catchUpPace)
	}
}

// T17, row 45: the time zone data has changed under what is planned. The local time
// and the key stay, the instant moves; and it stays so when it is planned again.
func TestRow45MovedByTimeZoneData(t *testing.T) {
	t.Parallel()
	mexico := with(cron("0 9 * * *"), func(s *v1alpha1.ScheduleSpec) { s.TimeZone = "America/Mexico_City" })
	obj := aSchedule(mexico, createdAt("2026-06-01T00:00:00Z"))
	key := reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-07-01T14:00:00Z", Recipient: "ada", Channel: "mail"} // by the data of 2022d
	old := delivery.Plan(delivery.Planned{
		Key: key, Epoch: 7, DueTime: clock("2026-07-01T14:00:00Z"), LocalTime: "2026-07-01T09:00:00",
		ReleaseTime: clock("2026-07-01T14:00:00Z"), DeadlineTime: clock("2026-07-01T18:00:00Z"), LateTime: clock("2026-07-01T14:05:00Z"),
	}, time.Hour, clock("2026-07-01T13:50:00Z"))
	entry := entryOf(obj, planned(clock("2026-07-01T14:05:00Z")), func(e *reminder.Schedule) { e.TimeZoneData = "2022d" })
	in := scheduleInput{object: obj, entry: entry, zoneData: "2026b", planned: plannedSlots{"ada": {old.Key.Slot: old}}, now: clock("2026-07-01T13:55:00Z")}
	for name, now := range map[string]string{"just now": "2026-07-01T13:55:00Z", "when its instant comes near": "2026-07-01T14:50:00Z"} {
		p := planOf(t, in)
		if reason := p.judge(old); reason != "" {
			t.Errorf("%s: it is cancelled as %s", name, reason)
		}
		all := plannedBy(p)
		if len(all) == 0 || all[0].Key != key || !all[0].ReleaseTime.Equal(clock("2026-07-01T15:00:00Z")) || !all[0].DeadlineTime.Equal(clock("2026-07-01T19:00:00Z")) {
			t.Errorf("%s: planned %+v, want the same key at 15:00Z", name, all)
		}
		for _, one := range all {
			if one.Key != key {
				t.Errorf("%s: %s is planned beside it", name, one.Key)
			}
		}
		in.entry, in.planned, in.now = p.entry, nil, clock(now) // another process, later
		in.entry.Cursor = in.entry.Cursor.Close()
	}
}

// Records of one local time beside what it means by today's data.
func TestMovedTo(t *testing.T) {
	t.Parallel()
	both := with(cron("30 1 * * *"), func(s *v1alpha1.ScheduleSpec) {
		s.TimeZone, s.DST = "America/New_York", &v1alpha1.DSTPolicy{Overlap: v1alpha1.OverlapBoth}
	})
	series := &convert.Series{Schedule: compiled(t, aSchedule(both))}
	const local, first, second = "2026-11-01T01:30:00", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"
	record := func(due string, state reminder.State) reminder.Record {
		return reminder.Record{State: state, Epoch: 7, LocalTime: local, DueTime: clock(due), Key: reminder.Key{Recipient: "ada", Slot: due}}
	}
	to := func(due, slot string) reminder.Moved { return reminder.Moved{DueTime: clock(due), Slot: slot} }
	const early, late = "2026-11-01T04:30:00Z", "2026-11-01T07:30:00Z"
	cases := map[string]struct {
		records []reminder.Record
		now     string
		want    []reminder.Moved
	}{
		"both are where they were":                       {[]reminder.Record{record(first, reminder.Scheduled), record(second, reminder.Scheduled)}, "2026-11-01T00:00:00Z", nil},
		"one was shown once, and now twice":              {[]reminder.Record{record(early, reminder.Scheduled)}, "2026-11-01T00:00:00Z", []reminder.Moved{to(first, early)}},
		"the second moves to what the first leaves free": {[]reminder.Record{record(first, reminder.Scheduled), record(late, reminder.Scheduled)}, "2026-11-01T00:00:00Z", []reminder.Moved{to(second, late)}},
		"both move, in order":                            {[]reminder.Record{record(early, reminder.Scheduled), record(late, reminder.Scheduled)}, "2026-11-01T00:00:00Z", []reminder.Moved{to(first, early), to(second, late)}},
		"it was sent, and is ahead again":                {[]reminder.Record{record(early, reminder.Sent)}, "2026-11-01T05:00:00Z", []reminder.Moved{to(first, early)}},
		"it was sent, and is past either way":            {[]reminder.Record{record(early, reminder.Sent), record(late, reminder.Scheduled)}, "2026-11-01T06:45:00Z", []reminder.Moved{to(second, late)}},
		"it waits for a worker, and is past either way":  {[]reminder.Record{record(early, reminder.Scheduled)}, "2026-11-01T06:00:00Z", nil},
		"it is ahead, and past by the new data":          {[]reminder.Record{record(late, reminder.Scheduled)}, "2026-11-01T07:00:00Z", []reminder.Moved{to(first, late)}},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, movedTo(series, c.records, clock(c.now))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is planned for later and is no occurrence any more goes; what is due stays.
func TestJudgeByTodaysOccurrences(t *testing.T) {
	t.Parallel()
	obj := aSchedule(cron("0 12 * * *"), edited(text("Bye")))
	p := planOf(t, scheduleInput{object: obj, entry: entryOf(obj, planned(clock("12:30:00"))), calendar: "another", now: clock("11:50:00")})
	record := func(slot string, state reminder.State) reminder.Record {
		return reminder.Record{
			State: state, Epoch: 7, Key: reminder.Key{Recipient: "ada", Slot: "2026-11-30T" + slot + "Z"}, DueTime: clock(slot), ReleaseTime: clock(slot),
		}
	}
	for name, c := range map[string]struct {
		record reminder.Record
		want   reminder.Reason
	}{
		"still an occurrence":                   {record("12:00:00", reminder.Scheduled), ""},
		"none any more":                         {record("12:10:00", reminder.Scheduled), reminder.Superseded},
		"none any more, but due":                {record("11:49:00", reminder.Scheduled), ""},
		"none any more, but claimed":            {record("12:10:00", reminder.Claimed), ""},
		"none any more, but tried":              {record("12:10:00", reminder.Retrying), ""},
		"behind what is planned: not looked at": {record("12:31:00", reminder.Scheduled), ""},
		"none any more, and of nobody any more": {func() reminder.Record { r := record("12:10:00", reminder.Scheduled); r.Key.Recipient = "bob"; return r }(), reminder.RecipientInactive},
		"none any more, and of an older epoch":  {func() reminder.Record { r := record("12:10:00", reminder.Scheduled); r.Epoch = 6; return r }(), reminder.Superseded},
		"none any more, and of a newer epoch":   {func() reminder.Record { r := record("12:10:00", reminder.Scheduled); r.Epoch = 8; return r }(), ""},
		"none any more, and ended":              {record("12:10:00", reminder.Sent), ""},
	} {
		if got := p.judge(c.record); got != c.want || !p.settle {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// However many recipients there are, one record of each slot is kept, and rather one
// that is planned for later.
func TestPlannedSlotsKeepOneOfEach(t *testing.T) {
	t.Parallel()
	all := plannedSlots{}
	for i := range 3000 {
		state := reminder.Sent
		if i == 1700 {
			state = reminder.Scheduled
		}
		all.keep("ada", reminder.Record{State: state, Key: reminder.Key{Recipient: fmt.Sprint("r", i), Slot: fmt.Sprint("slot ", i%3)}})
	}
	if n := len(all["ada"]); n != 3 || all["ada"]["slot 2"].State != reminder.Scheduled {
		t.Errorf("%d records are kept, want one of 3 slots, the planned one among them: %v", n, all["ada"])
	}
}
