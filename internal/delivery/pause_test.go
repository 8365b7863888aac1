package delivery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// A fault of the channel costs no attempt, also not the last one of the budget,
// and does not make the reminder wait beyond its deadline.
func TestAFaultOfTheChannelCostsNoAttempt(t *testing.T) {
	t.Parallel()
	now := release.Add(time.Second)
	for name, p := range policies {
		for state, counted := range map[reminder.State]int{reminder.Claimed: 0, reminder.Sending: 1} {
			for wait, wantAt := range map[time.Duration]time.Time{time.Minute: now.Add(time.Minute), 24 * time.Hour: deadline} {
				t.Run(name+"/"+string(state)+"/"+wait.String(), func(t *testing.T) {
					t.Parallel()
					before := in(state, attempts(budget-1+counted), unresolvedIf(p.Dedupes))
					res := reminder.Result{Outcome: reminder.Transient, Fault: reminder.FaultChannel, RetryAfter: wait, Diagnostic: "code 535 at AUTH"}
					d := delivery.Decide(before, res, p, now)
					checkNext(t, before, d.Record, now)
					got := d.Record
					if d.Action != delivery.Retry || got.State != reminder.Scheduled || !d.At.Equal(wantAt) {
						t.Errorf("%s to %s at %s, want a retry at %s", d.Action, got.State, d.At, wantAt)
					}
					if got.Attempts != budget-1 || got.Retries != before.Retries || got.Unresolved != before.Unresolved {
						t.Errorf("%d attempts, %d retries, unresolved %t", got.Attempts, got.Retries, got.Unresolved)
					}
					if got.Diagnostic != "the channel was paused: code 535 at AUTH" {
						t.Errorf("diagnostic %q", got.Diagnostic)
					}
				})
			}
		}
	}
}

func unresolvedIf(yes bool) func(*reminder.Record) {
	return func(r *reminder.Record) { r.Unresolved = yes }
}

// A fault of the endpoint is an attempt like any other; and so is what may have
// been accepted.
func TestOnlyAFaultOfTheChannelIsFree(t *testing.T) {
	t.Parallel()
	for name, res := range map[string]reminder.Result{
		"the endpoint fails":         {Outcome: reminder.Transient, Fault: reminder.FaultEndpoint},
		"throttled":                  {Outcome: reminder.Transient, Fault: reminder.FaultThrottled},
		"gone":                       {Outcome: reminder.Permanent, Reason: reminder.EndpointGone, Fault: reminder.FaultGone},
		"a broken channel, too late": {Outcome: reminder.Unknown, Fault: reminder.FaultChannel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := delivery.Decide(in(reminder.Claimed), res, repeat, release); d.Record.Attempts != 1 || strings.Contains(d.Record.Diagnostic, "paused") {
				t.Errorf("%d attempts, diagnostic %q", d.Record.Attempts, d.Record.Diagnostic)
			}
		})
	}
}

// Who comes to the deadline during a pause is told why; a pause ends nothing before.
func TestADeadlineDuringAPauseSaysSo(t *testing.T) {
	t.Parallel()
	f := delivery.Facts{Epoch: 1, Paused: &reminder.Pause{Cause: reminder.PauseFailing, Diagnostic: "status 500"}}
	d := delivery.Admit(in(reminder.Scheduled), f, dedupes, "w1", deadline)
	if d.Record.State != reminder.Dead || d.Record.Reason != reminder.DeadlineReached || d.Record.Diagnostic != "the channel was paused: status 500" {
		t.Errorf("%s(%s) %q", d.Record.State, d.Record.Reason, d.Record.Diagnostic)
	}
	if d := delivery.Admit(in(reminder.Scheduled), f, dedupes, "w1", release); d.Action != delivery.Submit || d.Record.Diagnostic != "" {
		t.Errorf("before: %s, %q", d.Action, d.Record.Diagnostic)
	}
	f.Deleted = true
	if d := delivery.Admit(in(reminder.Scheduled), f, dedupes, "w1", deadline); d.Record.Diagnostic != "" {
		t.Errorf("cancelled for another reason, it says %q", d.Record.Diagnostic)
	}
}
