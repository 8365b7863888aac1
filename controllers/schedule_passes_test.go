package controllers

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

const lookAhead = 15 * time.Minute

// passes is what successive passes over one schedule leave behind, without a
// broker: the registry's entry, the ledger as times by slot, and the process's
// progress.
type passes struct {
	t       *rapid.T
	object  *v1alpha1.ReminderSchedule
	entry   reminder.Schedule
	done    progress
	planned map[string]time.Time
	// repeated are slots that were planned more than once.
	repeated map[string]bool
	now      time.Time
	some     bool // some occurrence was reported as missed
	// missed are the runs that were recorded, by their first slot.
	missed map[string]int64
}

func newPasses(t *rapid.T, when v1alpha1.ScheduleSpec, now time.Time) *passes {
	return &passes{
		t: t, now: now, planned: map[string]time.Time{}, repeated: map[string]bool{}, missed: map[string]int64{},
		object: aSchedule(when, func(o *v1alpha1.ReminderSchedule) { o.CreationTimestamp.Time = now.Truncate(time.Second) }),
	}
}

func (s *passes) compiled() *schedule.Schedule {
	c, err := convert.Schedule(s.object, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// pass makes one; written tells whether its status reaches the API server.
func (s *passes) pass(written bool) schedulePlan {
	p := planSchedule(s.input())
	for one := range p.reminders {
		s.plan(one)
	}
	s.entry, s.some = p.entry, s.some || p.entry.Cursor.Missed != nil
	for _, run := range p.gaps {
		s.missed[run.key.Slot] = run.gap.Reminders
	}
	s.entry.Cursor = s.entry.Cursor.Close()
	s.done = p.done
	if written {
		s.object.Status.ObservedGeneration = s.object.Generation
		s.object.Status.PlannedThroughTime = &metav1.Time{Time: p.entry.Cursor.ThroughTime.Truncate(time.Second)}
	}
	return p
}

func (s *passes) input() scheduleInput {
	people := convert.Recipients(s.object)
	series, _ := convert.SeriesOf(s.object, s.compiled(), people)
	return scheduleInput{
		object: s.object, recipients: people, series: series, entry: s.entry, done: s.done,
		lookAhead: lookAhead, retention: 7 * 24 * time.Hour, now: s.now,
	}
}

func (s *passes) plan(one delivery.Planned) {
	slot := one.Key.Slot
	if was, ok := s.planned[slot]; ok {
		s.repeated[slot] = true
		if !was.Equal(one.DueTime) {
			s.t.Fatalf("slot %s was planned for %s and then for %s", slot, was, one.DueTime)
		}
	}
	if one.Epoch != s.entry.Epoch && s.entry.Epoch != 0 && s.entry.PlanHash == convert.Entry(s.object, nil).PlanHash {
		s.t.Fatalf("slot %s was planned under epoch %d, registered is %d", slot, one.Epoch, s.entry.Epoch)
	}
	s.planned[slot] = one.DueTime
}

// skipped are the occurrences in (from, to] that no pass has planned.
func (s *passes) skipped(from, to time.Time) []string {
	var missing []string
	for o := range s.compiled().Between(from, to) {
		if _, ok := s.planned[reminder.SlotOf(o.Due)]; !ok {
			missing = append(missing, reminder.SlotOf(o.Due))
		}
	}
	return missing
}

// someSchedule draws one whose occurrences lie on odd and even seconds, dense or far
// apart, before and behind the ends of windows.
func someSchedule(t *rapid.T) v1alpha1.ScheduleSpec {
	if rapid.Bool().Draw(t, "cron") {
		return cron(rapid.SampledFrom([]string{"* * * * *", "*/7 * * * *", "0,1,15,16,45 * * * *", "0 */2 * * *", "30 10,11 * * *"}).Draw(t, "expression"))
	}
	return eachTime(time.Duration(rapid.IntRange(10, 3000).Draw(t, "seconds")) * time.Second)
}

// moment draws a length of time with fractions of a second, or a whole number of
// seconds, so that passes also come exactly at occurrences.
func moment(t *rapid.T, most time.Duration, label string) time.Duration {
	if rapid.Bool().Draw(t, label+" on a second") {
		return time.Duration(rapid.Int64Range(0, int64(most/time.Second)).Draw(t, label)) * time.Second
	}
	return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, label))
}

// Passes that come at any times, as long as each comes before the window of the
// last one has ended, plan every occurrence exactly once.
func TestSuccessivePassesPlanEachOccurrenceOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := clock("10:00:00").Add(moment(t, time.Hour, "start"))
		s := newPasses(t, someSchedule(t), start)
		created := s.object.CreationTimestamp.Time
		for i := range rapid.IntRange(1, 20).Draw(t, "passes") {
			if i > 0 {
				s.now = s.now.Add(moment(t, lookAhead, "gap"))
			}
			p := s.pass(rapid.Bool().Draw(t, "status written"))
			if missing := s.skipped(created, p.entry.Cursor.ThroughTime); len(missing) > 0 {
				t.Fatalf("pass %d at %s through %s skipped %v", i, s.now, p.entry.Cursor.ThroughTime, missing)
			}
		}
		if len(s.repeated) > 0 || s.some {
			t.Fatalf("repeated %v, missed some is %v; want neither", s.repeated, s.some)
		}
	})
}

// With restarts, lost status writes, edits of the text, new jobs streams and lost
// registries in between, what is planned again is the same, and nothing is skipped.
func TestDisturbedPassesSkipNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := clock("10:00:00").Add(moment(t, time.Hour, "start"))
		s := newPasses(t, someSchedule(t), start)
		created := s.object.CreationTimestamp.Time
		for i := range rapid.IntRange(1, 20).Draw(t, "passes") {
			if i > 0 {
				s.now = s.now.Add(moment(t, lookAhead, "gap"))
			}
			switch rapid.SampledFrom([]string{"none", "restart", "edit", "registry lost", "cursor from the future", "clock back"}).Draw(t, "disturbance") {
			case "restart":
				s.done = progress{}
			case "edit":
				s.object.Generation++
				s.object.Spec.Message.Body += "."
			case "registry lost":
				s.entry = reminder.Schedule{}
			case "cursor from the future":
				s.object.Status.PlannedThroughTime = &metav1.Time{Time: s.now.Add(100 * time.Hour)}
			case "clock back":
				s.now = s.now.Add(-moment(t, lookAhead, "back"))
			}
			p := s.pass(true)
			if missing := s.skipped(created, p.entry.Cursor.ThroughTime); len(missing) > 0 {
				t.Fatalf("pass %d at %s through %s skipped %v", i, s.now, p.entry.Cursor.ThroughTime, missing)
			}
		}
	})
}

// After any absence the latest occurrence that fell due is planned, with all that
// are ahead; what was skipped is older, and is reported.
func TestPassesAfterAbsencesTakeTheLatestUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := clock("10:00:00").Add(moment(t, time.Hour, "start"))
		s := newPasses(t, someSchedule(t), start)
		window(time.Duration(720) * time.Hour)(s.object)
		deadline(time.Duration(720) * time.Hour)(s.object)
		created := s.object.CreationTimestamp.Time
		for i := range rapid.IntRange(1, 8).Draw(t, "passes") {
			if i > 0 {
				s.now = s.now.Add(moment(t, 12*time.Hour, "gap"))
			}
			if rapid.Bool().Draw(t, "restart") {
				s.done = progress{}
			}
			p := s.pass(true)
			if ahead := s.skipped(s.now, p.entry.Cursor.ThroughTime); len(ahead) > 0 {
				t.Fatalf("pass %d at %s skipped %v ahead", i, s.now, ahead)
			}
			last, ok := s.compiled().Previous(s.now)
			if !ok || !last.Due.After(created) {
				continue
			}
			if missing := s.skipped(created, s.now); slices.Contains(missing, reminder.SlotOf(last.Due)) {
				t.Fatalf("pass %d at %s skipped the latest, %s", i, s.now, last.Due)
			} else if len(missing) > 0 != s.some {
				t.Fatalf("pass %d at %s: skipped %v, reported is %v", i, s.now, missing, s.some)
			}
		}
	})
}

// An edit of the time at any moment, with the broker there or away: no occurrence of
// the new times is lost that falls due after the edit.
func TestEditsOfTheTimeLoseNothingBehindThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := clock("10:00:00").Add(moment(t, time.Hour, "start"))
		s := newPasses(t, someSchedule(t), start)
		s.pass(true)
		s.now = s.now.Add(moment(t, lookAhead, "before the edit"))
		edit := s.now
		s.object.Generation++
		s.object.Spec.Schedule = at(edit.Add(time.Second + moment(t, 50*time.Minute, "ahead")))
		s.now = s.now.Add(moment(t, 55*time.Minute, "until a pass"))
		if rapid.Bool().Draw(t, "restart") {
			s.done = progress{}
		}
		in := s.input()
		in.edited = edit.Truncate(time.Second)
		p := planSchedule(in)
		for one := range p.reminders {
			s.plan(one)
		}
		if rapid.Bool().Draw(t, "the process dies before it has planned") {
			s.planned, s.entry, s.done = map[string]time.Time{}, p.entry, progress{}
			s.now = s.now.Add(moment(t, time.Minute, "until it is back"))
			p = s.pass(true)
		}
		if missing := s.skipped(edit, p.entry.Cursor.ThroughTime); len(missing) > 0 {
			t.Fatalf("edited at %s, planned at %s through %s: skipped %v", edit, s.now, p.entry.Cursor.ThroughTime, missing)
		}
	})
}
