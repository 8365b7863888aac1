package controllers

import (
	"bytes"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// registration is the entry that the registry must hold, but for how far this pass
// plans, and whether messages of an earlier plan may be in the way.
func registration(in scheduleInput) (entry reminder.Schedule, withdraw bool) {
	have, want := in.entry, convert.Entry(in.object, in.recipients)
	want.Epoch, want.EditTime, want.ResumeTime, want.PlanGeneration = have.Epoch, have.EditTime, have.ResumeTime, have.PlanGeneration
	want.Cursor, want.Moved, want.Kept, want.SeenEditTime = have.Cursor, have.Moved, have.Kept, have.SeenEditTime
	want.CalendarDigest, want.TimeZoneData = in.calendar, in.zoneData
	known := have.Epoch != 0
	if !known || have.Deleted || have.UID != want.UID || have.PlanHash != want.PlanHash {
		// From the clock, so that it rises also when the registry was lost; but then
		// what the same spec has planned stays valid.
		want.Epoch = max(have.Epoch+1, in.now.Unix())
		if !known && in.open != 0 {
			want.Epoch = in.open
		}
		want.EditTime, want.ResumeTime, want.PlanGeneration = time.Time{}, time.Time{}, want.Generation
		want.Cursor, want.Moved, want.Kept = reminder.Cursor{}, nil, nil
		if known && have.UID == want.UID && !have.Deleted {
			want.EditTime = later(changed(in), have.EditTime)
		}
		withdraw = known
	}
	if known && have.UID == want.UID && have.Suspended && !want.Suspended {
		want.ResumeTime, want.PlanGeneration = later(changed(in), have.ResumeTime), want.Generation
		want.Cursor = reminder.Cursor{} // suspended time is not missed
	}
	withdraw = withdraw || want.Suspended && !have.Suspended
	return want, withdraw
}

// changed is when the spec became what it is, at the latest: an edit can be older
// than the first pass that could register it. But the API server does not note the
// time of an edit that only takes fields away; where it tells the time of an edit
// that was seen already, this one counts from now.
func changed(in scheduleInput) time.Time {
	if !in.edited.After(in.entry.SeenEditTime) {
		return in.now
	}
	return earlier(in.edited, in.now)
}

// sameEntry compares registry entries as they are stored.
func sameEntry[E reminder.Entry](a, b E) bool {
	x, errX := reminder.EncodeEntry(a)
	y, errY := reminder.EncodeEntry(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// behind tells whether the registry has a newer spec of the object than ours: our
// cache is behind, or a second operator's is ahead.
func behind(have reminder.Schedule, obj *v1alpha1.ReminderSchedule) bool {
	return have.UID == string(obj.UID) && (have.Generation > obj.Generation || have.Deleted)
}

// editedTimes tells whether an object's time fields are others than its entry's, whose
// reminders still wait.
func editedTimes(have reminder.Schedule, obj *v1alpha1.ReminderSchedule) bool {
	return have.UID == string(obj.UID) && !have.Deleted && !have.Suspended && have.PlanHash != convert.Entry(obj, nil).PlanHash
}

// otherAudience tells whether recipients have changed: when, may be some time ago.
func otherAudience(in scheduleInput) bool {
	have, want := in.entry, convert.Entry(in.object, in.recipients)
	return have.UID == want.UID && !have.Deleted && !have.Suspended && have.AudienceHash != want.AudienceHash
}

// inQuestion tells whether the cache alone does not do for a plan: the name is
// registered for another object, or it matters when the spec was edited.
func inQuestion(have reminder.Schedule, obj *v1alpha1.ReminderSchedule) bool {
	if have.Epoch == 0 {
		return false
	}
	want := convert.Entry(obj, nil)
	return have.UID != want.UID || have.PlanHash != want.PlanHash || have.Suspended && !want.Suspended
}
