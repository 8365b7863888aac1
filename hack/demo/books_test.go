package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/receiver"
)

// good is an account of three reminders: two sent, one of them with a repeat, and
// one refused.
func good() account {
	return account{
		schedule: "s", due: []string{"a", "b", "c"},
		records: map[string]reminder.Record{
			"a": {State: reminder.Sent}, "b": {State: reminder.Sent}, "c": {State: reminder.Dead}, "later": {State: reminder.Cancelled},
		},
		counts: v1alpha1.ReminderCounts{Due: 3, Sent: 2, Dead: 1},
		keys: map[string]receiver.KeyStats{
			"a": {Arrivals: 1, Accepted: 1}, "b": {Arrivals: 2, Accepted: 1, Repeats: 1}, "c": {Arrivals: 1, Rejected: 1},
		},
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil    func(*account)
		want     verdict
		problems string // a part of one of them
	}{
		"books that agree": {func(*account) {}, verdict{delivered: 2, dead: 1}, ""},
		"a reminder with two effects is a duplicate": {
			func(a *account) { a.keys["a"] = receiver.KeyStats{Arrivals: 2, Accepted: 2} },
			verdict{delivered: 2, duplicates: 1, dead: 1}, "had an effect 2 times",
		},
		"a due reminder without an outcome is lost": {
			func(a *account) {
				a.records["c"] = reminder.Record{State: reminder.Claimed}
				delete(a.keys, "c")
				a.counts.Dead = 0
				a.counts.Due = 2
			},
			verdict{delivered: 2, lost: 1}, "fell due and has no outcome",
		},
		"a due reminder that was never planned is lost": {
			func(a *account) { delete(a.records, "c"); delete(a.keys, "c"); a.counts.Dead = 0; a.counts.Due = 2 },
			verdict{delivered: 2, lost: 1}, "fell due and has no outcome",
		},
		"what is recorded as sent and was not accepted is lost": {
			func(a *account) { delete(a.keys, "a") },
			verdict{delivered: 1, lost: 1, dead: 1}, "recorded as sent, and the receiver has not accepted it",
		},
		"what was accepted and is not recorded as sent is a problem": {
			func(a *account) { a.records["a"] = reminder.Record{State: reminder.Dead} },
			verdict{delivered: 2, dead: 1}, `the ledger says "Dead"`,
		},
		"status behind the receiver is a problem": {
			func(a *account) { a.counts.Sent, a.counts.Due = 1, 2 },
			verdict{delivered: 2, dead: 1}, "status says sent=1, the receiver's books 2",
		},
		"reminders that still wait are a problem": {
			func(a *account) { a.counts.Pending = 1 },
			verdict{delivered: 2, dead: 1}, "status says pending=1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := good()
			test.spoil(&a)
			got := compare([]account{a})
			problems := strings.Join(got.problems, "\n")
			if !strings.Contains(problems, test.problems) || (test.problems == "") != (problems == "") {
				t.Errorf("problems are %q, want one with %q", problems, test.problems)
			}
			got.problems = nil
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(verdict{})); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}
