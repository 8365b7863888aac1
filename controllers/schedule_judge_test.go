package controllers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestOutdated(t *testing.T) {
	t.Parallel()
	active := map[string]bool{"ada": true, "bob": false}
	record := func(state reminder.State, epoch int64, recipient string) reminder.Record {
		return reminder.Record{State: state, Epoch: epoch, Key: reminder.Key{Recipient: recipient}}
	}
	entry := reminder.Schedule{Epoch: 7}
	cases := map[string]struct {
		record reminder.Record
		entry  reminder.Schedule
		want   reminder.Reason
	}{
		"of this plan":     {record(reminder.Scheduled, 7, "ada"), entry, ""},
		"of an older plan": {record(reminder.Scheduled, 6, "ada"), entry, reminder.Superseded},
		"of a newer plan":  {record(reminder.Scheduled, 8, "nobody"), entry, ""},
		"of a newer plan than a deleted schedule":  {record(reminder.Scheduled, 8, "ada"), reminder.Schedule{Epoch: 7, Deleted: true}, ""},
		"for an inactive recipient":                {record(reminder.Retrying, 7, "bob"), entry, reminder.RecipientInactive},
		"for a recipient who is gone":              {record(reminder.Scheduled, 7, "cleo"), entry, reminder.RecipientInactive},
		"of a suspended schedule":                  {record(reminder.Scheduled, 7, "ada"), reminder.Schedule{Epoch: 7, Suspended: true}, reminder.Suspended},
		"of a deleted schedule, suspended or not":  {record(reminder.Scheduled, 7, "ada"), reminder.Schedule{Epoch: 7, Suspended: true, Deleted: true}, reminder.ScheduleDeleted},
		"sent, whatever else":                      {record(reminder.Sent, 1, "cleo"), reminder.Schedule{Epoch: 7, Deleted: true}, ""},
		"dead, whatever else":                      {record(reminder.Dead, 1, "cleo"), reminder.Schedule{Epoch: 7, Deleted: true}, ""},
		"of an older plan for one who is inactive": {record(reminder.Scheduled, 6, "bob"), entry, reminder.Superseded},
	}
	for name, c := range cases {
		if got := outdated(c.record, c.entry, active); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// M7: a cache that is behind is found out before it does anything.
func TestBehind(t *testing.T) {
	t.Parallel()
	obj := aSchedule(cron("0 9 * * *"), func(o *v1alpha1.ReminderSchedule) { o.Generation = 3 })
	entry := func(changes ...func(*reminder.Schedule)) reminder.Schedule { return entryOf(obj, changes...) }
	cases := map[string]struct {
		entry              reminder.Schedule
		behind, inQuestion bool
	}{
		"not registered":                         {reminder.Schedule{}, false, false},
		"registered as it is":                    {entry(), false, false},
		"an older generation is registered":      {entry(func(e *reminder.Schedule) { e.Generation = 2 }), false, false},
		"a newer generation is registered":       {entry(func(e *reminder.Schedule) { e.Generation = 4 }), true, false},
		"its deletion is registered":             {entry(func(e *reminder.Schedule) { e.Deleted = true }), true, false},
		"another object is registered":           {entry(func(e *reminder.Schedule) { e.UID, e.Generation = "uid-0", 9 }), false, true},
		"another object's deletion is":           {entry(func(e *reminder.Schedule) { e.UID, e.Deleted = "uid-0", true }), false, true},
		"other times are registered":             {entry(func(e *reminder.Schedule) { e.PlanHash, e.Generation = "x", 2 }), false, true},
		"it is registered as suspended":          {entry(func(e *reminder.Schedule) { e.Suspended, e.Generation = true, 2 }), false, true},
		"another text or audience is registered": {entry(func(e *reminder.Schedule) { e.Body, e.AudienceHash, e.Generation = "x", "x", 2 }), false, false},
	}
	for name, c := range cases {
		if got := behind(c.entry, obj); got != c.behind {
			t.Errorf("%s: behind is %v, want %v", name, got, c.behind)
		}
		if got := inQuestion(c.entry, obj); got != c.inQuestion {
			t.Errorf("%s: in question is %v, want %v", name, got, c.inQuestion)
		}
	}
}

func TestObjections(t *testing.T) {
	t.Parallel()
	channel := func(idempotency v1alpha1.Idempotency, window time.Duration) *v1alpha1.ReminderChannel {
		return &v1alpha1.ReminderChannel{
			ObjectMeta: metav1.ObjectMeta{Name: "mail"},
			Spec:       v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeHTTP, Idempotency: idempotency, DedupeWindow: duration(window)},
		}
	}
	dedupes := channel(v1alpha1.IdempotencyByKey, 4*time.Hour)
	daily := func(changes ...change) *v1alpha1.ReminderSchedule { return aSchedule(cron("0 9 * * *"), changes...) }
	park := func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Delivery = &v1alpha1.DeliverySpec{OnUnknown: v1alpha1.OnUnknownPark}
	}
	cases := map[string]struct {
		object  *v1alpha1.ReminderSchedule
		channel *v1alpha1.ReminderChannel
		reason  string
		says    []string
	}{
		"nothing to object to":                            {object: daily(), channel: dedupes},
		"no channel yet":                                  {object: daily(park)},
		"onUnknown where the channel cannot dedupe":       {object: daily(park), channel: channel(v1alpha1.IdempotencyNone, time.Minute)},
		"onUnknown where the channel dedupes":             {daily(park), dedupes, v1alpha1.ReasonInvalidSpec, []string{"spec.delivery.onUnknown", "mail", "remove the field"}},
		"a deadline as long as the receiver's memory":     {object: daily(deadline(4 * time.Hour)), channel: dedupes},
		"a deadline longer than the receiver's memory":    {daily(deadline(4*time.Hour + time.Second)), dedupes, v1alpha1.ReasonInvalidSpec, []string{"spec.delivery.deadline", "4h0m1s", "4h0m0s", "dedupeWindow"}},
		"the default deadline and a short memory":         {daily(), channel(v1alpha1.IdempotencyByKey, time.Hour), v1alpha1.ReasonInvalidSpec, []string{"4h0m0s is longer"}},
		"a long deadline where nothing is remembered":     {object: daily(deadline(700 * time.Hour)), channel: channel(v1alpha1.IdempotencyNone, time.Hour)},
		"a time of day within the receiver's memory":      {object: daily(deadlineAt("13:00")), channel: dedupes},
		"a time of day beyond the receiver's memory":      {daily(deadlineAt("17:00")), dedupes, v1alpha1.ReasonInvalidSpec, []string{"spec.delivery.deadlineTimeOfDay: 17:00", "up to 8h0m0s", "4h0m0s", "dedupeWindow"}},
		"an eligibility that does not compile":            {daily(eligibility("recipient.status == 'active'")), dedupes, v1alpha1.ReasonInvalidSpec, []string{"spec.delivery.eligibility: line 1, column 1", "unknown name recipient.status"}},
		"an eligibility that is no condition":             {daily(eligibility("recipient.id")), nil, v1alpha1.ReasonInvalidSpec, []string{"spec.delivery.eligibility", "yields string", "recipient.attributes.status == 'active'"}},
		"a message that does not compile":                 {daily(text("{{ recipient.")), dedupes, v1alpha1.ReasonInvalidSpec, []string{"spec.message.body", "line 1"}},
		"an unsupported field, before what else is wrong": {daily(park, text("{{"), func(o *v1alpha1.ReminderSchedule) { o.Spec.SLO = &v1alpha1.SLOSpec{} }), dedupes, v1alpha1.ReasonNotSupportedYet, []string{"spec.slo", "remove it"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := objections(c.object, c.channel)
			if got == nil {
				got = overlong(c.object, c.channel, seriesFor(t, c.object), clock("12:00:00"))
			}
			if c.reason == "" {
				if got != nil {
					t.Errorf("objected: %s: %s", got.Reason(), got.Message())
				}
				return
			}
			if got == nil || got.Reason() != c.reason || !got.IsStalled() {
				t.Fatalf("objection %v, want %s", got, c.reason)
			}
			for _, part := range c.says {
				if !strings.Contains(got.Message(), part) {
					t.Errorf("it says %q, want %q in it", got.Message(), part)
				}
			}
		})
	}
}
