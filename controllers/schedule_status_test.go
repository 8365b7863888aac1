package controllers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func compiled(t testing.TB, obj *v1alpha1.ReminderSchedule) *schedule.Schedule {
	t.Helper()
	c, err := convert.Schedule(obj, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func metaTime(text string) *metav1.Time {
	if text == "" {
		return nil
	}
	return &metav1.Time{Time: clock(text)}
}

func TestLastDueTime(t *testing.T) {
	t.Parallel()
	hourly := cron("0 * * * *")
	cases := map[string]struct {
		have   string
		entry  reminder.Schedule
		totals string
		want   string
	}{
		"by the spec":                                                {entry: reminder.Schedule{CreateTime: clock("10:00:00")}, want: "12:00:00"},
		"nothing since the creation":                                 {entry: reminder.Schedule{CreateTime: clock("12:10:00")}},
		"no time of a spec that was not in force yet":                {entry: reminder.Schedule{CreateTime: clock("10:00:00"), EditTime: clock("12:10:00")}, totals: "11:30:00", want: "11:30:00"},
		"none while it was suspended":                                {entry: reminder.Schedule{CreateTime: clock("10:00:00"), ResumeTime: clock("12:10:00")}, totals: "11:00:00", want: "11:00:00"},
		"none while it is suspended":                                 {entry: reminder.Schedule{CreateTime: clock("10:00:00"), Suspended: true}, totals: "11:00:00", want: "11:00:00"},
		"what was taken up from before the creation":                 {entry: reminder.Schedule{CreateTime: clock("12:10:00")}, totals: "12:00:00", want: "12:00:00"},
		"a reminder that was cancelled ahead of time is not due yet": {have: "11:00:00", entry: reminder.Schedule{CreateTime: clock("10:00:00"), EditTime: clock("12:10:00")}, totals: "12:45:00", want: "11:00:00"},
		"a time in the future is not believed":                       {have: "13:00:00", entry: reminder.Schedule{CreateTime: clock("12:10:00")}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			totals := reminder.Totals{}
			if c.totals != "" {
				totals.LastDueTime = clock(c.totals)
			}
			got := lastDue(metaTime(c.have), aSchedule(hourly), []convert.Series{{Schedule: compiled(t, aSchedule(hourly))}}, c.entry, totals, clock("12:30:00"))
			if want := metaTime(c.want); !got.Equal(want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

func TestCountsAreNeverBelowZero(t *testing.T) {
	t.Parallel()
	var s v1alpha1.ReminderScheduleStatus
	short := reminder.Totals{
		Sent: -1, SentLate: -1, Cancelled: -1, Dead: -1, Discarded: -1, DeadTotal: -1, Replayed: -1, Retried: -1, Suppressed: -1, Republished: -1,
		ByReason: map[reminder.Reason]int64{reminder.Poison: -1}, Outstanding: map[string]int64{"0": -1},
	}
	describeCounts(&s, short, clock("12:00:00"))
	describeDeadLetters(&s, short, 1)
	if diff := cmp.Diff(v1alpha1.ReminderCounts{}, *s.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	want := v1alpha1.DeadLetterStatus{ByReason: []v1alpha1.ReasonCount{{Reason: "Poison"}}}
	if diff := cmp.Diff(want, *s.DeadLetters); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

func TestDeadLettersAreNewestFirst(t *testing.T) {
	t.Parallel()
	var s v1alpha1.ReminderScheduleStatus
	totals := reminder.Totals{Dead: 3, ByReason: map[reminder.Reason]int64{reminder.Poison: 2, reminder.DeadlineReached: 1}}
	for i := range 3 {
		totals.Recent = append(totals.Recent, reminder.DeadLetter{DeadTime: clock("12:00:00").Add(time.Duration(i)*time.Minute + time.Millisecond), Reason: reminder.Poison})
	}
	describeDeadLetters(&s, totals, 4)
	var times []string
	for _, d := range s.DeadLetters.Recent {
		times = append(times, d.Time.UTC().Format(time.TimeOnly+".000"))
	}
	if diff := cmp.Diff([]string{"12:02:00.000", "12:01:00.000", "12:00:00.000"}, times); diff != "" {
		t.Errorf("recent (-want +got):\n%s", diff)
	}
	reasons := []v1alpha1.ReasonCount{{Reason: "DeadlineReached", Count: 1}, {Reason: "Poison", Count: 2}}
	if diff := cmp.Diff(reasons, s.DeadLetters.ByReason); diff != "" {
		t.Errorf("byReason (-want +got):\n%s", diff)
	}
	if c := s.Conditions[0]; c.Type != v1alpha1.DeadLettersPresentCondition || c.Status != metav1.ConditionTrue || c.Message != "3 dead letters open" || c.ObservedGeneration != 4 {
		t.Errorf("condition %+v", c)
	}
}

func TestSummarise(t *testing.T) {
	t.Parallel()
	channel := func(status metav1.ConditionStatus, reason string) *v1alpha1.ReminderChannel {
		c := &v1alpha1.ReminderChannel{}
		c.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ReadyCondition, Status: status, Reason: reason}}
		return c
	}
	good := channel(metav1.ConditionTrue, v1alpha1.ReasonAvailable)
	next := func(o *v1alpha1.ReminderSchedule) { o.Status.NextDueTime = metaTime("13:00:00") }
	counted := func(c v1alpha1.ReminderCounts) change {
		return func(o *v1alpha1.ReminderSchedule) { o.Status.Counts = &c }
	}
	cases := map[string]struct {
		changes  []change
		channel  *v1alpha1.ReminderChannel
		warnings []string
		open     int64
		reason   string
		says     string
		ready    bool
	}{
		"planned":                        {changes: []change{next}, channel: good, reason: v1alpha1.ReasonPlanned, says: "planned", ready: true},
		"planned, with a warning":        {changes: []change{next}, channel: good, warnings: []string{"60 a day", "odd"}, reason: v1alpha1.ReasonPlanned, says: "planned; 60 a day; odd", ready: true},
		"planned, the last one waits":    {channel: good, reason: v1alpha1.ReasonPlanned, says: "planned", ready: true},
		"finished":                       {changes: []change{counted(v1alpha1.ReminderCounts{Due: 1})}, channel: good, reason: v1alpha1.ReasonFinished, says: "every reminder has an outcome", ready: true},
		"finished, all cancelled":        {changes: []change{counted(v1alpha1.ReminderCounts{Cancelled: 1})}, channel: good, reason: v1alpha1.ReasonFinished, says: "every reminder has an outcome", ready: true},
		"finished before it began":       {channel: good, reason: v1alpha1.ReasonFinished, says: "none fell due", ready: true},
		"finished, and no channel since": {changes: []change{counted(v1alpha1.ReminderCounts{Due: 1})}, reason: v1alpha1.ReasonFinished, ready: true},
		"suspended":                      {changes: []change{suspended(true)}, channel: good, reason: v1alpha1.ReasonSuspended, ready: true},
		"suspended, and no channel":      {changes: []change{suspended(true)}, reason: v1alpha1.ReasonSuspended, ready: true},
		"no channel":                     {changes: []change{next}, reason: v1alpha1.ReasonChannelNotFound, says: "channel mail"},
		"no channel, the last one waits": {reason: v1alpha1.ReasonChannelNotFound},
		"a channel that is not ready":    {changes: []change{next}, channel: channel(metav1.ConditionFalse, v1alpha1.ReasonSecretUnavailable), reason: v1alpha1.ReasonChannelNotReady, says: v1alpha1.ReasonSecretUnavailable},
		"a channel nobody has looked at": {changes: []change{next}, channel: &v1alpha1.ReminderChannel{}, reason: v1alpha1.ReasonChannelNotReady, says: "not looked at yet"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := aSchedule(cron("0 * * * *"), append([]change{counted(v1alpha1.ReminderCounts{})}, c.changes...)...)
			if c.reason == v1alpha1.ReasonFinished {
				obj.Status.FinishTime = metaTime("12:00:00")
			}
			got := summarise(obj, c.channel, c.warnings)
			if got.Reason() != c.reason || got.IsReady() != c.ready || !strings.Contains(got.Message(), c.says) {
				t.Errorf("%s (ready %v): %s; want %s (%v): %s", got.Reason(), got.IsReady(), got.Message(), c.reason, c.ready, c.says)
			}
		})
	}
}

func TestWhenStatusChangesByTimeAlone(t *testing.T) {
	t.Parallel()
	now, interval := clock("12:00:00"), 10*time.Second
	cases := map[string]struct {
		next string
		open int64
		want time.Duration
	}{
		"just after the next due time":           {next: "12:30:00", want: 30*time.Minute + time.Second},
		"no sooner than status may be written":   {next: "12:00:02", want: interval},
		"while a reminder waits, every interval": {open: 1, want: interval},
		"never, when all is over":                {},
	}
	for name, c := range cases {
		obj := aSchedule(cron("0 * * * *"))
		obj.Status.NextDueTime = metaTime(c.next)
		if got := nextChange(obj, c.open, now, interval); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// O1: whatever a schedule goes through, its status stays small.
func TestStatusStaysSmall(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("€", n) } // three bytes each
	obj := aSchedule(cron("* * * * *"), func(o *v1alpha1.ReminderSchedule) {
		o.Namespace, o.Name, o.Spec.ChannelName = strings.Repeat("n", 63), strings.Repeat("s", 253), strings.Repeat("c", 63)
		o.Spec.Recipients = nil
		for i := range 1000 {
			o.Spec.Recipients = append(o.Spec.Recipients, v1alpha1.Recipient{ID: fmt.Sprintf("%04d", i) + long(249), Address: long(2048)})
		}
	})
	now := clock("12:00:00")
	totals := reminder.Totals{Sent: 1 << 62, Dead: 1 << 62, DeadTotal: 1 << 62, ByReason: map[reminder.Reason]int64{}, Outstanding: map[string]int64{}}
	for i := range 100_000 {
		totals.Outstanding[fmt.Sprint(i)] = 1
	}
	for _, r := range []reminder.Reason{
		reminder.RetryBudgetExhausted, reminder.DeadlineReached, reminder.PermanentFailure, reminder.InvalidRecipient, reminder.EndpointGone,
		reminder.InvalidMessage, reminder.ReconciliationRequired, reminder.Poison, reminder.InvalidJob,
	} {
		totals.ByReason[r] = 1 << 60
	}
	p := planOf(t, scheduleInput{object: obj, entry: entryOf(obj), now: now})
	for one := range p.reminders {
		record := delivery.Plan(one, time.Hour, now)
		record.Attempts, record.State, record.Reason, record.Diagnostic = 1<<30, reminder.Dead, reminder.ReconciliationRequired, strings.Repeat("x", 256)
		if totals.Recent = append(totals.Recent, reminder.DeadLetterOf(record)); len(totals.Recent) == 10 {
			break
		}
	}
	describeTimes(obj, scheduleTimes{compiled: compiled(t, obj), series: p.series}, p, totals, now)
	describeTotals(obj, totals, now)
	condition.Summarise(&obj.Status.Conditions, 1, condition.Stalled(v1alpha1.ReasonInvalidSpec, long(5000)))
	for i := range 3 { // as many more as an object can have
		condition.Set(&obj.Status.Conditions, 1, fmt.Sprint("Other", i), metav1.ConditionFalse, v1alpha1.ReasonFailed, long(5000))
	}
	data, err := json.Marshal(obj.Status)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(data))
	if len(data) >= 32<<10 {
		t.Errorf("status has %d bytes, want less than 32 KiB", len(data))
	}
	if len(obj.Status.DeadLetters.Recent) != 10 || *obj.Status.Recipients != 1000 || len(obj.Status.Upcoming) != 5 {
		t.Errorf("%d dead letters, %d recipients, %d upcoming", len(obj.Status.DeadLetters.Recent), *obj.Status.Recipients, len(obj.Status.Upcoming))
	}
	for _, d := range obj.Status.DeadLetters.Recent {
		if n := len([]rune(d.Key)); n > 1024 {
			t.Errorf("a key has %d characters, more than the API allows", n)
		}
	}
	if !slices.IsSortedFunc(obj.Status.DeadLetters.ByReason, func(a, b v1alpha1.ReasonCount) int { return strings.Compare(a.Reason, b.Reason) }) {
		t.Error("the reasons are in no order")
	}
}
