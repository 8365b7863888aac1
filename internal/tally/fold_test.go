package tally_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/tally"
)

// equalCounts compares totals by what they count; an empty map is none.
var equalCounts = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(reminder.Totals{}, "Recent", "SchemaVersion")}

func anyHistory() *rapid.Generator[[]numbered] {
	return rapid.Custom(func(t *rapid.T) []numbered {
		c := drawn{t}
		var history []numbered
		last := map[string]reminder.Record{}
		number := uint64(0)
		for range c.upTo(40) {
			number += uint64(1 + c.upTo(3)) // other schedules write in between
			recipient := fmt.Sprint(c.upTo(15))
			r, known := last[recipient]
			if known {
				r = next(c, r)
			} else {
				r = first("s", recipient)
			}
			last[recipient] = r
			history = append(history, numbered{number, r})
		}
		return history
	})
}

func TestFoldEqualsARecount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory().Draw(t, "history")
		got := reminder.Totals{Namespace: "shop", Schedule: "s"}
		for i, n := range history {
			if !tally.Fold(&got, n.number, n.record) {
				t.Fatalf("revision %d was not applied", n.number)
			}
			if diff := cmp.Diff(recount("s", history[:i+1]), got, equalCounts); diff != "" {
				t.Fatalf("I5 after revision %d (-recount +fold):\n%s", n.number, diff)
			}
		}
		for key, n := range got.Outstanding {
			if n <= 0 {
				t.Fatalf("kept %d outstanding at %s", n, key)
			}
		}
	})
}

func TestFoldingARevisionTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory().Draw(t, "history")
		once := reminder.Totals{Namespace: "shop", Schedule: "s"}
		again := once
		for i, n := range history {
			tally.Fold(&once, n.number, n.record)
			// As after a restart: some revisions before this one come once more.
			for _, old := range history[drawn{t}.upTo(i+1) : i+1] {
				if applied := tally.Fold(&again, old.number, old.record); applied != (old.number == n.number) {
					t.Fatalf("revision %d at %d: applied %t", old.number, n.number, applied)
				}
			}
		}
		if diff := cmp.Diff(once, again); diff != "" {
			t.Fatalf("(-once +again):\n%s", diff)
		}
	})
}

func TestRecentHoldsTheNewestOpenDeadLetters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory().Draw(t, "history")
		var got reminder.Totals
		for i, n := range history {
			tally.Fold(&got, n.number, n.record)
			must, may := newestDead("s", history[:i+1])
			var keys []reminder.Key
			for _, d := range got.Recent {
				keys = append(keys, d.Key)
			}
			if len(keys) > 10 {
				t.Fatalf("%d recent dead letters", len(keys))
			}
			for _, key := range must {
				if !slices.Contains(keys, key) {
					t.Fatalf("after revision %d: %s is missing", n.number, key)
				}
			}
			// What is there is open, and in the order of death.
			open := slices.DeleteFunc(slices.Clone(may), func(k reminder.Key) bool { return !slices.Contains(keys, k) })
			if diff := cmp.Diff(open, keys, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("after revision %d (-open, by death +recent):\n%s", n.number, diff)
			}
		}
	})
}

// A run of missed occurrences counts as due for each reminder that it stands for;
// the newest runs are remembered.
func TestFoldCountsWhatWasMissed(t *testing.T) {
	t.Parallel()
	var totals reminder.Totals
	want := int64(0)
	for n := range 7 {
		begin := release.Add(time.Duration(n) * 24 * time.Hour)
		gap := reminder.Gap{FirstDueTime: begin, LastDueTime: begin.Add(time.Hour), Reminders: int64(60 + n)}
		want += gap.Reminders
		r := delivery.Missed(reminder.GapKey("shop", "renewal", "mail", begin), 1, gap, time.Hour, begin.Add(2*time.Hour))
		for range 2 { // a revision that is seen twice counts once
			tally.Fold(&totals, uint64(n+1), r)
		}
	}
	now := release.Add(30 * 24 * time.Hour)
	if totals.Missed != want || totals.Due(now) != want || totals.Pending() != 0 {
		t.Errorf("missed %d, due %d, pending %d; want %d, as many, none", totals.Missed, totals.Due(now), totals.Pending(), want)
	}
	if n := len(totals.MissedRuns); n != 5 || totals.MissedRuns[4].Reminders != 66 || !totals.LastDueTime.Equal(totals.MissedRuns[4].LastDueTime) {
		t.Errorf("%d runs, last due %s: %+v", n, totals.LastDueTime, totals.MissedRuns)
	}
}
