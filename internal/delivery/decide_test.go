package delivery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var (
	accepted  = reminder.Result{Outcome: reminder.Accepted, Receipt: "status 202"}
	transient = reminder.Result{Outcome: reminder.Transient, Diagnostic: "status 503"}
	permanent = reminder.Result{Outcome: reminder.Permanent, Diagnostic: "status 400"}
	unknown   = reminder.Result{Outcome: reminder.Unknown, Diagnostic: "timeout"}
)

// submitting is the record of a submission that is under way.
func submitting(p delivery.Policy, changes ...func(*reminder.Record)) reminder.Record {
	if p.Dedupes {
		return in(reminder.Claimed, append([]func(*reminder.Record){unmarked}, changes...)...)
	}
	return in(reminder.Sending, append(changes, func(r *reminder.Record) { r.Attempts++ })...)
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := release.Add(10 * time.Second)
	later := func(d time.Duration) reminder.Result {
		r := transient
		r.RetryAfter = d
		return r
	}
	because := func(r reminder.Reason) reminder.Result {
		return reminder.Result{Outcome: reminder.Permanent, Reason: r}
	}
	late := deadline.Add(-time.Minute)
	tests := map[string]struct {
		policy     delivery.Policy
		record     []func(*reminder.Record)
		result     reminder.Result
		now        time.Time
		want       delivery.Action
		wantState  reminder.State
		wantReason reminder.Reason
		wantAt     time.Time
	}{
		"accepted is sent":                                        {dedupes, nil, accepted, now, delivery.Settle, reminder.Sent, "", time.Time{}},
		"accepted is sent, whatever was open":                     {repeat, []func(*reminder.Record){unresolved}, accepted, now, delivery.Settle, reminder.Sent, "", time.Time{}},
		"accepted is sent, also after the deadline":               {park, nil, accepted, deadline.Add(1), delivery.Settle, reminder.Sent, "", time.Time{}},
		"accepted is sent, also beyond the budget":                {park, []func(*reminder.Record){attempts(budget)}, accepted, now, delivery.Settle, reminder.Sent, "", time.Time{}},
		"transient is tried again":                                {park, nil, transient, now, delivery.Retry, reminder.Retrying, "", now.Add(time.Minute)},
		"not before the receiver allows it":                       {park, nil, later(time.Hour), now, delivery.Retry, reminder.Retrying, "", now.Add(time.Hour)},
		"a negative wait is none":                                 {park, nil, later(-time.Hour), now, delivery.Retry, reminder.Retrying, "", now.Add(time.Minute)},
		"row 17: a wait beyond the deadline ends it now":          {park, nil, later(4 * time.Hour), now, delivery.Settle, reminder.Dead, reminder.DeadlineReached, time.Time{}},
		"a wait beyond all time too":                              {park, nil, later(forever), now, delivery.Settle, reminder.Dead, reminder.DeadlineReached, time.Time{}},
		"a retry exactly at the deadline is too late":             {park, nil, transient, late, delivery.Settle, reminder.Dead, reminder.DeadlineReached, time.Time{}},
		"one nanosecond before is not":                            {park, nil, transient, late.Add(-1), delivery.Retry, reminder.Retrying, "", deadline.Add(-1)},
		"the last attempt of the budget":                          {park, []func(*reminder.Record){attempts(budget - 1)}, transient, now, delivery.Settle, reminder.Dead, reminder.RetryBudgetExhausted, time.Time{}},
		"the budget comes before the deadline":                    {park, []func(*reminder.Record){attempts(budget - 1)}, later(4 * time.Hour), now, delivery.Settle, reminder.Dead, reminder.RetryBudgetExhausted, time.Time{}},
		"permanent is dead":                                       {dedupes, nil, permanent, now, delivery.Settle, reminder.Dead, reminder.PermanentFailure, time.Time{}},
		"with the channel's reason":                               {park, nil, because(reminder.EndpointGone), now, delivery.Settle, reminder.Dead, reminder.EndpointGone, time.Time{}},
		"of an address":                                           {park, nil, because(reminder.InvalidRecipient), now, delivery.Settle, reminder.Dead, reminder.InvalidRecipient, time.Time{}},
		"unknown where the channel dedupes is tried again":        {dedupes, nil, unknown, now, delivery.Retry, reminder.Retrying, "", now.Add(time.Minute)},
		"unknown under Retry is tried again":                      {repeat, nil, unknown, now, delivery.Retry, reminder.Retrying, "", now.Add(time.Minute)},
		"unknown under Park waits for a person":                   {park, nil, unknown, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"unknown without a policy is parked":                      {delivery.Policy{Retry: retry, Retention: retention}, nil, unknown, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"an outcome that does not exist is unknown":               {park, nil, reminder.Result{Outcome: "Maybe"}, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"no outcome at all is unknown":                            {park, nil, reminder.Result{}, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"unknown at the end of the budget":                        {dedupes, []func(*reminder.Record){attempts(budget - 1)}, unknown, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"unknown at the deadline":                                 {dedupes, nil, unknown, late, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"transient after an unknown ends open":                    {dedupes, []func(*reminder.Record){attempts(budget - 1), unresolved}, transient, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"a refusal after an unknown does not prove a failure":     {repeat, []func(*reminder.Record){unresolved}, permanent, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
		"nor where the channel dedupes: who refuses may not know": {dedupes, []func(*reminder.Record){unresolved}, permanent, now, delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := submitting(tt.policy, tt.record...)
			d := delivery.Decide(r, tt.result, tt.policy, tt.now)
			if d.Action != tt.want || d.Record.State != tt.wantState || d.Record.Reason != tt.wantReason || !d.At.Equal(tt.wantAt) {
				t.Errorf("got %s %s(%s) at %s, want %s %s(%s) at %s", d.Action, d.Record.State, d.Record.Reason, d.At, tt.want, tt.wantState, tt.wantReason, tt.wantAt)
			}
		})
	}
}

// Every policy, outcome, budget, time, wait and history at once.
func TestDecideKeepsTheInvariantsInEveryCell(t *testing.T) {
	t.Parallel()
	times := []time.Time{release, release.Add(time.Hour), deadline.Add(-61 * time.Second), deadline.Add(-time.Minute), deadline.Add(-1), deadline, deadline.Add(time.Hour)}
	for policyName, p := range policies {
		for _, outcome := range []reminder.Outcome{reminder.Accepted, reminder.Transient, reminder.Permanent, reminder.Unknown, "", "Maybe"} {
			for _, reason := range []reminder.Reason{"", reminder.PermanentFailure, reminder.InvalidRecipient, reminder.EndpointGone, reminder.InvalidMessage} {
				for n := range budget + 1 {
					for _, now := range times {
						for _, wait := range []time.Duration{0, -time.Hour, time.Hour, forever} {
							for _, open := range []bool{false, true} {
								r := submitting(p, attempts(n))
								r.Unresolved = open
								if checkDecide(t, r, reminder.Result{Outcome: outcome, Reason: reason, RetryAfter: wait}, p, now); t.Failed() {
									t.Fatalf("in the cell: %s, %q(%s), %d attempts, at %s, wait %s, open %t", policyName, outcome, reason, n, now, wait, open)
								}
							}
						}
					}
				}
			}
		}
	}
}

func checkDecide(t *testing.T, r reminder.Record, res reminder.Result, p delivery.Policy, now time.Time) {
	t.Helper()
	d := delivery.Decide(r, res, p, now)
	isUnknown := res.Outcome != reminder.Accepted && res.Outcome != reminder.Transient && res.Outcome != reminder.Permanent
	open := r.Unresolved || isUnknown
	// The answer is known now: what was under way is no longer open by itself.
	before := r
	before.State, before.Unmarked, before.Unresolved = reminder.Claimed, false, open && res.Outcome != reminder.Accepted
	checkNext(t, before, rebased(d.Record, before, r), now)

	counted := r.Attempts
	if r.State == reminder.Claimed {
		counted++
	}
	if d.Record.Attempts != counted {
		t.Errorf("attempts: got %d, want %d: one submission counts once", d.Record.Attempts, counted)
	}
	if (d.Record.State == reminder.Sent) != (res.Outcome == reminder.Accepted) {
		t.Errorf("%s became %s", res.Outcome, d.Record.State)
	}
	switch d.Action {
	case delivery.Retry:
		if counted >= p.Retry.Attempts || d.At.Before(now) || !d.At.Before(r.DeadlineTime) || !d.At.Equal(d.Record.NextAttemptTime) {
			t.Errorf("I4, I8: retry at %s after %d submissions", d.At, counted)
		}
		if open && !p.Dedupes && p.OnUnknown != reminder.RetryUnknown && isUnknown {
			t.Error("I2: repeats what may have been accepted")
		}
		if d.Record.Unresolved != open {
			t.Errorf("I6: unresolved is %t, want %t", d.Record.Unresolved, open)
		}
	case delivery.Settle:
		if !d.Record.State.Terminal() {
			t.Errorf("settles as %s", d.Record.State)
		}
		if open && d.Record.State != reminder.Sent && d.Record.Reason != reminder.ReconciliationRequired {
			t.Errorf("I6: Dead(%s) although it may have been accepted", d.Record.Reason)
		}
		if !open && d.Record.Reason == reminder.ReconciliationRequired {
			t.Error("asks a person although nothing is open")
		}
	default:
		t.Errorf("unexpected action %s", d.Action)
	}
}

// rebased checks that Previous is the footprint of the record as it was handed in,
// and gives back the next revision as if it followed the other one.
func rebased(next, before, handed reminder.Record) reminder.Record {
	if previous := handed.Footprint(); cmp.Equal(&previous, next.Previous) {
		footprint := before.Footprint()
		next.Previous = &footprint
	}
	return next
}

func TestAcceptanceClearsTheDiagnosticAndKeepsTheReceipt(t *testing.T) {
	t.Parallel()
	r := submitting(park, func(r *reminder.Record) { r.Diagnostic, r.Receipt = "status 503", "" })
	d := delivery.Decide(r, accepted, park, release)
	if d.Record.Receipt != "status 202" || d.Record.Diagnostic != "" || !d.Record.FinishTime.Equal(release) {
		t.Errorf("got receipt %q, diagnostic %q, finished %s", d.Record.Receipt, d.Record.Diagnostic, d.Record.FinishTime)
	}
	d = delivery.Decide(r, transient, park, release)
	if d.Record.Receipt != "" || d.Record.Diagnostic != "status 503" {
		t.Errorf("got receipt %q, diagnostic %q", d.Record.Receipt, d.Record.Diagnostic)
	}
}

func TestLongTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	text := "x" + strings.Repeat("ж", 200)
	for what, got := range map[string]struct {
		text string
		max  int
	}{
		"diagnostic": {delivery.Decide(submitting(park), reminder.Result{Outcome: reminder.Permanent, Diagnostic: text}, park, release).Record.Diagnostic, 256},
		"receipt":    {delivery.Decide(submitting(park), reminder.Result{Outcome: reminder.Accepted, Receipt: text}, park, release).Record.Receipt, 128},
		"refusal":    {delivery.Refuse(in(reminder.Claimed), reminder.InvalidMessage, text, park, release).Record.Diagnostic, 256},
	} {
		if n := len(got.text); n > got.max || n < got.max-utf8.UTFMax || !utf8.ValidString(got.text) {
			t.Errorf("%s: %d bytes, valid UTF-8: %t; want at most %d", what, n, utf8.ValidString(got.text), got.max)
		}
	}
}

func TestRefuseEndsAClaim(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		r := in(reminder.Claimed, attempts(1))
		r.Unresolved = open
		d := delivery.Refuse(r, reminder.InvalidMessage, "no attribute name", park, release)
		checkNext(t, r, d.Record, release)
		want := reminder.InvalidMessage
		if open {
			want = reminder.ReconciliationRequired
		}
		if d.Action != delivery.Settle || d.Record.State != reminder.Dead || d.Record.Reason != want || d.Record.Attempts != 1 || d.Record.Diagnostic != "no attribute name" {
			t.Errorf("got %s %+v, want Dead(%s)", d.Action, d.Record, want)
		}
	}
}

func TestReleaseGivesAClaimBack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		record       reminder.Record
		wantAttempts int
	}{
		"a claim":                                {in(reminder.Claimed, attempts(1)), 1},
		"a mark that was not used is no attempt": {in(reminder.Sending, attempts(2)), 1},
		"a claim without marks":                  {in(reminder.Claimed, unmarked), 0},
	}
	for name, tt := range tests {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, open %t", name, open), func(t *testing.T) {
				t.Parallel()
				r := tt.record
				r.Unresolved = open
				d := delivery.Release(r, release)
				checkNext(t, r, d.Record, release)
				if d.Action != delivery.Retry || d.Record.State != reminder.Scheduled || !d.At.Equal(release) || d.Record.Attempts != tt.wantAttempts || d.Record.Unresolved != open {
					t.Errorf("got %s at %s: %+v", d.Action, d.At, d.Record)
				}
			})
		}
	}
}

func TestMarkSending(t *testing.T) {
	t.Parallel()
	r := in(reminder.Claimed, attempts(1), unresolved)
	now := release.Add(time.Second)
	next := delivery.MarkSending(r, repeat, now)
	checkNext(t, r, next, now)
	if next.State != reminder.Sending || next.Owner != r.Owner || !next.LeaseUntilTime.Equal(now.Add(lease)) || next.Attempts != 2 || !next.Unresolved {
		t.Errorf("got %+v", next)
	}
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	now := release.Add(time.Hour)
	for _, state := range states {
		for _, res := range []reminder.Result{accepted, transient, permanent, unknown} {
			for policyName, p := range policies {
				t.Run(fmt.Sprintf("%s %s %s", state, res.Outcome, policyName), func(t *testing.T) {
					t.Parallel()
					r := in(state, attempts(1))
					r.Unresolved = state == reminder.Dead || state == reminder.Retrying
					if state == reminder.Dead {
						r.Reason = reminder.ReconciliationRequired
					}
					next, better := delivery.Upgrade(r, res, p, now)
					if want := state != reminder.Sent && res.Outcome == reminder.Accepted; better != want {
						t.Fatalf("upgrades: %t, want %t", better, want)
					}
					if !better {
						if diff := cmp.Diff(r, next); diff != "" {
							t.Errorf("I3: changed although nothing is to be written:\n%s", diff)
						}
						return
					}
					checkNext(t, r, next, now)
					want := 1
					if p.Dedupes {
						want = 2 // where no mark has counted the late submission
					}
					if next.State != reminder.Sent || next.Receipt != "status 202" || next.Unresolved || next.Attempts != want {
						t.Errorf("got %+v, want Sent with %d attempts", next, want)
					}
				})
			}
		}
	}
}
