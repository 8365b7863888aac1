package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// planned is the plan of in's record; later is the same slot an hour later.
func planned(epoch int64) delivery.Planned {
	return delivery.Planned{Key: key, Epoch: epoch, DueTime: due, LocalTime: "2026-11-03T09:00:00", ReleaseTime: release, DeadlineTime: deadline, LateTime: release.Add(5 * time.Minute)}
}

func later(epoch int64) delivery.Planned {
	p := planned(epoch)
	p.ReleaseTime, p.DeadlineTime, p.LateTime = p.ReleaseTime.Add(time.Hour), p.DeadlineTime.Add(time.Hour), p.LateTime.Add(time.Hour)
	return p
}

// moved is planned for another due time, with the same release.
func moved(epoch int64) delivery.Planned {
	p := planned(epoch)
	p.DueTime = p.DueTime.Add(-time.Second)
	return p
}

func earlier(epoch int64) delivery.Planned {
	p := planned(epoch)
	p.DeadlineTime = p.DeadlineTime.Add(-time.Hour)
	return p
}

func TestPlanIsTheFirstRevision(t *testing.T) {
	t.Parallel()
	now := release.Add(-15 * time.Minute)
	r := delivery.Plan(planned(4), retention, now)
	want := reminder.Record{
		SchemaVersion: reminder.RecordVersion, Key: key, State: reminder.Scheduled, Epoch: 4, DueTime: due, LocalTime: "2026-11-03T09:00:00", ReleaseTime: release, DeadlineTime: deadline,
		LateTime: release.Add(5 * time.Minute), UpdateTime: now, ExpireTime: deadline.Add(retention),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}

func TestReplan(t *testing.T) {
	t.Parallel()
	epoch := func(n int64) func(*reminder.Record) { return func(r *reminder.Record) { r.Epoch = n } }
	tests := map[string]struct {
		record reminder.Record
		plan   delivery.Planned
		want   bool
	}{
		"planned already":                                {in(reminder.Scheduled), planned(1), false},
		"planned already by a newer epoch":               {in(reminder.Scheduled, epoch(2)), later(1), false},
		"another time":                                   {in(reminder.Scheduled), later(1), true},
		"another due time":                               {in(reminder.Scheduled), moved(1), true},
		"another deadline":                               {in(reminder.Scheduled), earlier(1), true},
		"another epoch":                                  {in(reminder.Scheduled), planned(2), true},
		"a cancelled one opens again":                    {in(reminder.Cancelled), planned(1), true},
		"also under a newer epoch":                       {in(reminder.Cancelled), later(2), true},
		"not under an older one":                         {in(reminder.Cancelled, epoch(2)), planned(1), false},
		"a retry of an older epoch moves to the new one": {in(reminder.Retrying, attempts(1), unresolved), later(2), true},
		"a retry of this epoch goes on":                  {in(reminder.Retrying), later(1), false},
		"a claimed one is in flight":                     {in(reminder.Claimed), later(2), false},
		"a sending one is in flight":                     {in(reminder.Sending), later(2), false},
		"a sent one is never opened":                     {in(reminder.Sent), later(2), false},
		"a dead one waits for a replay":                  {in(reminder.Dead), later(2), false},
		"a discarded one stays":                          {in(reminder.Discarded), later(2), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := release.Add(time.Minute)
			next, changed := delivery.Replan(tt.record, tt.plan, retention, now)
			if changed != tt.want {
				t.Fatalf("to be written: %t, want %t", changed, tt.want)
			}
			if !changed {
				if diff := cmp.Diff(tt.record, next); diff != "" {
					t.Errorf("changed all the same:\n%s", diff)
				}
				return
			}
			checkNext(t, tt.record, next, now)
			p := tt.plan
			if next.State != reminder.Scheduled || next.Epoch != p.Epoch || next.LocalTime != p.LocalTime || !next.DueTime.Equal(p.DueTime) || !next.ReleaseTime.Equal(p.ReleaseTime) || !next.DeadlineTime.Equal(p.DeadlineTime) || !next.LateTime.Equal(p.LateTime) {
				t.Errorf("got %+v", next)
			}
			if next.Attempts != tt.record.Attempts || next.Unresolved != tt.record.Unresolved {
				t.Error("I6: forgot what was submitted before")
			}
			if again, changed := delivery.Replan(next, p, retention, now); changed {
				t.Errorf("planning it twice changes it twice: %+v", again)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, open %t", state, open), func(t *testing.T) {
				t.Parallel()
				now := release.Add(time.Minute)
				r := in(state, attempts(1))
				r.Unresolved = open
				next, ok := delivery.Cancel(r, reminder.ScheduleDeleted, retention, now)
				if want := state == reminder.Scheduled || state == reminder.Retrying; ok != want {
					t.Fatalf("cancels: %t, want %t", ok, want)
				}
				if !ok {
					if diff := cmp.Diff(r, next); diff != "" {
						t.Errorf("changed all the same:\n%s", diff)
					}
					return
				}
				checkNext(t, r, next, now)
				wantState, wantReason := reminder.Cancelled, reminder.ScheduleDeleted
				if open {
					wantState, wantReason = reminder.Dead, reminder.ReconciliationRequired
				}
				if next.State != wantState || next.Reason != wantReason {
					t.Errorf("got %s(%s), want %s(%s)", next.State, next.Reason, wantState, wantReason)
				}
			})
		}
	}
}

func TestRepublishedCountsAndChangesNothingElse(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		r := in(state, attempts(1), takeovers(2))
		now := release.Add(time.Hour)
		next := delivery.Republished(r, now)
		checkNext(t, r, next, now)
		previous := r.Footprint()
		r.Republished, r.UpdateTime, r.Previous = 1, now, &previous
		if diff := cmp.Diff(r, next); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
}

func TestWake(t *testing.T) {
	t.Parallel()
	want := map[reminder.State]time.Time{
		reminder.Scheduled: release, reminder.Claimed: release.Add(lease), reminder.Sending: release.Add(lease), reminder.Retrying: release.Add(30 * time.Minute),
	}
	for _, state := range states {
		at, open := delivery.Wake(in(state))
		if open == state.Terminal() || !at.Equal(want[state]) {
			t.Errorf("%s: got %s, %t; want %s", state, at, open, want[state])
		}
	}
}

func TestRevisionsExpireInOrder(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	first := delivery.Plan(planned(1), retention, release.Add(-hour))
	if want := deadline.Add(retention); !first.ExpireTime.Equal(want) {
		t.Errorf("planned: expires %s, want %s", first.ExpireTime, want)
	}
	shorter, _ := delivery.Replan(first, earlier(2), retention, release)
	if !shorter.ExpireTime.Equal(first.ExpireTime) {
		t.Errorf("an earlier deadline: expires %s, want %s as before", shorter.ExpireTime, first.ExpireTime)
	}
	sent := delivery.Decide(submitting(park), accepted, park, release).Record
	if want := deadline.Add(retention + hour); !sent.ExpireTime.Equal(want) {
		t.Errorf("sent: expires %s, want an hour after those before it: %s", sent.ExpireTime, want)
	}
	late := deadline.Add(3 * hour)
	seen := delivery.Suppressed(sent, retention, late)
	if want := late.Add(retention + hour); !seen.ExpireTime.Equal(want) {
		t.Errorf("suppressed late: expires %s, want %s", seen.ExpireTime, want)
	}
	slow := delivery.Suppressed(seen, retention, release)
	if !slow.ExpireTime.Equal(seen.ExpireTime) {
		t.Errorf("suppressed by a slow clock: expires %s, want %s", slow.ExpireTime, seen.ExpireTime)
	}
}

// A run of missed occurrences is one record, which is valid, ended and counted as
// many times as it stands for.
func TestMissedIsOneRecordForAll(t *testing.T) {
	t.Parallel()
	first := release.Add(-72 * time.Hour)
	gap := reminder.Gap{FirstDueTime: first, LastDueTime: release, Reminders: 4319}
	for name, now := range map[string]time.Time{"found later": release.Add(time.Minute), "found by a clock that is behind": first} {
		r := delivery.Missed(reminder.GapKey("shop", "renewal", "mail", first), 3, gap, retention, now)
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !r.State.Terminal() || r.Footprint().Missed != 4319 || !r.ExpireTime.After(now.Add(retention-time.Second)) {
			t.Errorf("%s: %+v", name, r)
		}
		if _, open := delivery.Wake(r); open {
			t.Errorf("%s: a message must stand for it", name)
		}
		if _, changed := delivery.Cancel(r, reminder.Superseded, retention, now); changed {
			t.Errorf("%s: it can be cancelled", name)
		}
		if _, changed := delivery.Replan(r, planned(9), retention, now); changed {
			t.Errorf("%s: it can be planned", name)
		}
	}
}
