package convert_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	pathfield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

var created = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// daily is a schedule with nothing set but what is required.
func daily(changes ...func(*v1alpha1.ReminderSchedule)) *v1alpha1.ReminderSchedule {
	obj := &v1alpha1.ReminderSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "renewal", UID: "uid-1", Generation: 3, CreationTimestamp: metav1.Time{Time: created}},
		Spec: v1alpha1.ReminderScheduleSpec{
			Schedule:    v1alpha1.ScheduleSpec{Cron: "0 9 * * *"},
			ChannelName: "mail",
			Recipients:  []v1alpha1.Recipient{{ID: "b", Address: "b@example.com"}, {ID: "a", Address: "a@example.com"}},
			Message:     v1alpha1.MessageSpec{Subject: "Due", Body: "Hello"},
		},
	}
	for _, change := range changes {
		change(obj)
	}
	return obj
}

func seconds(n float64) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(n * float64(time.Second))}
}

func delivery(d v1alpha1.DeliverySpec) func(*v1alpha1.ReminderSchedule) {
	return func(o *v1alpha1.ReminderSchedule) { o.Spec.Delivery = &d }
}

func retry(r v1alpha1.RetrySpec) func(*v1alpha1.ReminderSchedule) {
	return delivery(v1alpha1.DeliverySpec{Retry: &r})
}

func TestEntryHasTheDefaultsOfTheAPI(t *testing.T) {
	t.Parallel()
	got := convert.Entry(daily(), nil)
	want := reminder.Schedule{
		SchemaVersion: reminder.RegistryVersion, Namespace: "shop", Name: "renewal", UID: "uid-1", CreateTime: created, Generation: 3,
		PlanHash: got.PlanHash, AudienceHash: got.AudienceHash, Channel: "mail", Subject: "Due", Body: "Hello",
		Retry:     reminder.Retry{Attempts: 5, InitialDelay: 30 * time.Second, Factor: 2, MaxDelay: 15 * time.Minute},
		OnUnknown: reminder.ParkUnknown,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if got.PlanHash == "" || got.AudienceHash == "" {
		t.Errorf("hashes are empty: %q and %q", got.PlanHash, got.AudienceHash)
	}
	if d, w := convert.Deadline(daily()), convert.CatchUp(daily()).Window; d != 4*time.Hour || w != time.Hour {
		t.Errorf("deadline %s and catch-up window %s; want 4h and 1h", d, w)
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	factor := func(f intstr.IntOrString) v1alpha1.RetrySpec { return v1alpha1.RetrySpec{Factor: &f} }
	cases := map[string]struct {
		spec v1alpha1.RetrySpec
		want func(*reminder.Retry)
	}{
		"nothing set": {v1alpha1.RetrySpec{}, func(*reminder.Retry) {}},
		"attempts":    {v1alpha1.RetrySpec{Attempts: new(int32(50))}, func(r *reminder.Retry) { r.Attempts = 50 }},
		"an initial delay below the default bound":        {v1alpha1.RetrySpec{InitialDelay: seconds(60)}, func(r *reminder.Retry) { r.InitialDelay = time.Minute }},
		"an initial delay at the default bound":           {v1alpha1.RetrySpec{InitialDelay: seconds(900)}, func(r *reminder.Retry) { r.InitialDelay = 15 * time.Minute }},
		"a longer initial delay raises the default bound": {v1alpha1.RetrySpec{InitialDelay: seconds(3600)}, func(r *reminder.Retry) { r.InitialDelay, r.MaxDelay = time.Hour, time.Hour }},
		"a bound of its own":                              {v1alpha1.RetrySpec{MaxDelay: seconds(60)}, func(r *reminder.Retry) { r.MaxDelay = time.Minute }},
		"a factor as a number":                            {factor(intstr.FromInt32(3)), func(r *reminder.Retry) { r.Factor = 3 }},
		"a factor as a decimal in text":                   {factor(intstr.FromString("1.5")), func(r *reminder.Retry) { r.Factor = 1.5 }},
		"a whole factor in text":                          {factor(intstr.FromString("10")), func(r *reminder.Retry) { r.Factor = 10 }},
		"a factor with zeros behind the point":            {factor(intstr.FromString("1.000")), func(r *reminder.Retry) { r.Factor = 1 }},
		"a factor that no schema lets in: text":           {factor(intstr.FromString("two")), func(*reminder.Retry) {}},
		"a factor that no schema lets in: below 1":        {factor(intstr.FromString("0.5")), func(*reminder.Retry) {}},
		"a factor that no schema lets in: not a number":   {factor(intstr.FromString("NaN")), func(*reminder.Retry) {}},
		"a factor that no schema lets in: zero":           {factor(intstr.FromInt32(0)), func(*reminder.Retry) {}},
		"delays stand beside the others, which give way":  {v1alpha1.RetrySpec{Delays: []metav1.Duration{*seconds(300), *seconds(600)}}, func(r *reminder.Retry) { r.Delays = []time.Duration{5 * time.Minute, 10 * time.Minute} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := reminder.Retry{Attempts: 5, InitialDelay: 30 * time.Second, Factor: 2, MaxDelay: 15 * time.Minute}
			c.want(&want)
			if diff := cmp.Diff(want, convert.Entry(daily(retry(c.spec)), nil).Retry); diff != "" {
				t.Errorf("retry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEntryTakesWhatTheSpecSays(t *testing.T) {
	t.Parallel()
	obj := daily(delivery(v1alpha1.DeliverySpec{OnUnknown: v1alpha1.OnUnknownRetry, Deadline: seconds(90)}), func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Suspend = true
		o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Window: seconds(120)}
	})
	got := convert.Entry(obj, nil)
	if !got.Suspended || got.OnUnknown != reminder.RetryUnknown {
		t.Errorf("suspended %v, onUnknown %s; want true and Retry", got.Suspended, got.OnUnknown)
	}
	if d, w := convert.Deadline(obj), convert.CatchUp(obj).Window; d != 90*time.Second || w != 2*time.Minute {
		t.Errorf("deadline %s and catch-up window %s; want 1m30s and 2m", d, w)
	}
}

func TestRecipientsAreSortedAndActiveByDefault(t *testing.T) {
	t.Parallel()
	obj := daily(func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Recipients = append(o.Spec.Recipients, v1alpha1.Recipient{
			ID: "ä", Address: "ä@example.com", TimeZone: "Europe/Paris", Attributes: map[string]string{"name": "Ada"}, Active: new(false),
		})
	})
	want := []reminder.Recipient{
		{SchemaVersion: 1, ID: "a", Address: "a@example.com", Active: true},
		{SchemaVersion: 1, ID: "b", Address: "b@example.com", Active: true},
		{SchemaVersion: 1, ID: "ä", Address: "ä@example.com", TimeZone: "Europe/Paris", Attributes: map[string]string{"name": "Ada"}},
	}
	if diff := cmp.Diff(want, convert.Recipients(obj)); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
}

// The plan hash decides whether an edit counts as one of the time fields: it must
// move with everything that moves a due time or a key, and with nothing else.
func TestPlanHash(t *testing.T) {
	t.Parallel()
	type change = func(*v1alpha1.ReminderSchedule)
	start := &metav1.Time{Time: created}
	cases := map[string]struct {
		change change
		moves  bool
	}{
		"another cron":      {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Cron = "0 8 * * *" }, true},
		"another zone":      {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.TimeZone = "Europe/Berlin" }, true},
		"at instead":        {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = v1alpha1.ScheduleSpec{At: "2026-12-01T09:00:00"} }, true},
		"every instead":     {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = v1alpha1.ScheduleSpec{Every: seconds(60)} }, true},
		"another day match": {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.DayMatch = v1alpha1.DayMatchAll }, true},
		"another gap":       {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.DST = &v1alpha1.DSTPolicy{Gap: v1alpha1.GapSkip} }, true},
		"another overlap": {func(o *v1alpha1.ReminderSchedule) {
			o.Spec.Schedule.DST = &v1alpha1.DSTPolicy{Overlap: v1alpha1.OverlapLast}
		}, true},
		"a start":          {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.StartTime = start }, true},
		"an end":           {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.EndTime = start }, true},
		"a jitter":         {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Jitter = seconds(60) }, true},
		"another channel":  {func(o *v1alpha1.ReminderSchedule) { o.Spec.ChannelName = "sms" }, true},
		"another identity": {func(o *v1alpha1.ReminderSchedule) { o.Spec.Identity = v1alpha1.IdentityBusinessDate }, true},

		"another text":      {func(o *v1alpha1.ReminderSchedule) { o.Spec.Message.Body = "Bye" }, false},
		"another recipient": {func(o *v1alpha1.ReminderSchedule) { o.Spec.Recipients = o.Spec.Recipients[:1] }, false},
		"another deadline":  {delivery(v1alpha1.DeliverySpec{Deadline: seconds(60)}), false},
		"suspension":        {func(o *v1alpha1.ReminderSchedule) { o.Spec.Suspend = true }, false},
		"a catch-up window": {func(o *v1alpha1.ReminderSchedule) { o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Window: seconds(60)} }, false},
		"a generation":      {func(o *v1alpha1.ReminderSchedule) { o.Generation++ }, false},
		"a new object":      {func(o *v1alpha1.ReminderSchedule) { o.UID = "uid-2" }, false},
		"defaults written out": {func(o *v1alpha1.ReminderSchedule) {
			s := &o.Spec.Schedule
			s.TimeZone, s.TimeZoneFrom, s.DayMatch = "UTC", v1alpha1.TimeZoneFromSchedule, v1alpha1.DayMatchAny
			s.DST = &v1alpha1.DSTPolicy{Gap: v1alpha1.GapShift, Overlap: v1alpha1.OverlapFirst}
			s.Jitter, o.Spec.Identity = seconds(0), v1alpha1.IdentityDueTime
		}, false},
		"an empty DST policy": {func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.DST = &v1alpha1.DSTPolicy{} }, false},
	}
	before := convert.Entry(daily(), nil).PlanHash
	seen := map[string]string{before: "the unchanged schedule"}
	for name, c := range cases {
		after := convert.Entry(daily(c.change), nil).PlanHash
		if moved := after != before; moved != c.moves {
			t.Errorf("%s: the hash moved is %v, want %v", name, moved, c.moves)
		}
		if other, ok := seen[after]; ok && c.moves {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[after] = name
	}
}

func TestAudienceHashFollowsTheRecipients(t *testing.T) {
	t.Parallel()
	of := func(changes ...func(*v1alpha1.ReminderSchedule)) string {
		obj := daily(changes...)
		return convert.Entry(obj, convert.Recipients(obj)).AudienceHash
	}
	swap := func(o *v1alpha1.ReminderSchedule) {
		r := o.Spec.Recipients
		r[0], r[1] = r[1], r[0]
	}
	if of() != of(swap) {
		t.Error("the order of the recipients moves the hash")
	}
	for name, change := range map[string]func(*v1alpha1.Recipient){
		"an address":   func(r *v1alpha1.Recipient) { r.Address = "c@example.com" },
		"an attribute": func(r *v1alpha1.Recipient) { r.Attributes = map[string]string{"name": "Ada"} },
		"activity":     func(r *v1alpha1.Recipient) { r.Active = new(false) },
		"an id":        func(r *v1alpha1.Recipient) { r.ID = "c" },
	} {
		if of() == of(func(o *v1alpha1.ReminderSchedule) { change(&o.Spec.Recipients[0]) }) {
			t.Errorf("%s does not move the hash", name)
		}
	}
}

func TestScheduleErrorsNameTheField(t *testing.T) {
	t.Parallel()
	at := func(s v1alpha1.ScheduleSpec) func(*v1alpha1.ReminderSchedule) {
		return func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule = s }
	}
	cases := map[string]struct {
		change func(*v1alpha1.ReminderSchedule)
		want   string
		never  bool
	}{
		"T12: a day that no year has":         {at(v1alpha1.ScheduleSpec{Cron: "0 0 31 2 *"}), "spec.schedule.cron: ", true},
		"T12: a day that no such month has":   {at(v1alpha1.ScheduleSpec{Cron: "0 0 31 4,6,9,11 *"}), "spec.schedule.cron: ", true},
		"T13: a bare zone prefix":             {at(v1alpha1.ScheduleSpec{Cron: "TZ=Europe/Rome"}), "spec.schedule.cron: ", false},
		"T13: an empty zone prefix":           {at(v1alpha1.ScheduleSpec{Cron: "TZ="}), "spec.schedule.cron: ", false},
		"T13: zone prefixes in a row":         {at(v1alpha1.ScheduleSpec{Cron: "TZ=TZ=TZ="}), "spec.schedule.cron: ", false},
		"T13: the other zone prefix":          {at(v1alpha1.ScheduleSpec{Cron: "CRON_TZ=UTC"}), "spec.schedule.cron: ", false},
		"a zone that does not exist":          {at(v1alpha1.ScheduleSpec{Cron: "0 9 * * *", TimeZone: "Europe/Bonn"}), "spec.schedule.timeZone: ", false},
		"a DST policy below dst":              {at(v1alpha1.ScheduleSpec{Cron: "0 9 * * *", DST: &v1alpha1.DSTPolicy{Gap: "Jump"}}), "spec.schedule.dst.gap: ", false},
		"nothing that says when":              {at(v1alpha1.ScheduleSpec{}), "spec.schedule: ", false},
		"an end before the start":             {at(v1alpha1.ScheduleSpec{Cron: "0 9 * * *", StartTime: &metav1.Time{Time: created}, EndTime: &metav1.Time{Time: created.Add(-time.Hour)}}), "spec.schedule.endTime: ", false},
		"a single time before the start time": {at(v1alpha1.ScheduleSpec{At: "2026-11-30T09:00:00", StartTime: &metav1.Time{Time: created}}), "spec.schedule.at: ", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := convert.Schedule(daily(c.change), nil)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("error %v, want one that begins with %q", err, c.want)
			}
			if got := errors.Is(err, convert.ErrNeverOccurs); got != c.never {
				t.Errorf("%v: is ErrNeverOccurs is %v, want %v", err, got, c.never)
			}
		})
	}
}

func TestScheduleErrorsGiveThePathAndThePlace(t *testing.T) {
	t.Parallel()
	_, err := convert.Schedule(daily(func(o *v1alpha1.ReminderSchedule) { o.Spec.Schedule.Cron = "5/15 * * * *" }), nil)
	shown, ok := errors.AsType[*pathfield.Error](err)
	if !ok || shown.Field != "spec.schedule.cron" {
		t.Errorf("the path is %v", shown)
	}
	if fault, ok := errors.AsType[*schedule.FieldError](err); !ok || fault.Caret() != "5/15 * * * *\n^" {
		t.Errorf("the place is %v", fault)
	}
}

func TestEveryCountsFromTheStartTimeElseFromTheCreation(t *testing.T) {
	t.Parallel()
	every := func(start *metav1.Time) *v1alpha1.ReminderSchedule {
		return daily(func(o *v1alpha1.ReminderSchedule) {
			o.Spec.Schedule = v1alpha1.ScheduleSpec{Every: &metav1.Duration{Duration: 36 * time.Hour}, StartTime: start}
		})
	}
	cases := map[string]struct {
		obj   *v1alpha1.ReminderSchedule
		after time.Time
		want  time.Time
	}{
		"T21: the second occurrence, whenever it is asked for":  {every(nil), created.Add(time.Hour), created.Add(36 * time.Hour)},
		"T21: the third occurrence, whenever it is asked for":   {every(nil), created.Add(48 * time.Hour), created.Add(72 * time.Hour)},
		"a start in the future is the first occurrence":         {every(&metav1.Time{Time: created.Add(5 * time.Hour)}), created, created.Add(5 * time.Hour)},
		"a start in the past anchors what follows the creation": {every(&metav1.Time{Time: created.Add(-time.Hour)}), created, created.Add(35 * time.Hour)},
		"asked at an occurrence, the one after it":              {every(&metav1.Time{Time: created.Add(5 * time.Hour)}), created.Add(5 * time.Hour), created.Add(41 * time.Hour)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiled, err := convert.Schedule(c.obj, nil)
			if err != nil {
				t.Fatal(err)
			}
			if next, ok := compiled.Next(c.after); !ok || !next.Due.Equal(c.want) {
				t.Errorf("next after %s is %s (%v), want %s", c.after, next.Due, ok, c.want)
			}
		})
	}
}

func TestMessagesNameTheField(t *testing.T) {
	t.Parallel()
	if err := convert.Messages(daily()); err != nil {
		t.Errorf("a plain message: %v", err)
	}
	err := convert.Messages(daily(func(o *v1alpha1.ReminderSchedule) { o.Spec.Message.Body = "Hello {{ recipient." }))
	if err == nil || !strings.HasPrefix(err.Error(), "spec.message.body: ") {
		t.Errorf("error %v, want one that begins with spec.message.body", err)
	}
}
