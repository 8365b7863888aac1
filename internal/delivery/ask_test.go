package delivery_test

import (
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var (
	yes     = reminder.Answer{Verdict: reminder.Yes, Text: "status 200"}
	no      = reminder.Answer{Verdict: reminder.No, Text: "status 404"}
	unclear = reminder.Answer{Verdict: reminder.Unclear, Text: "status 503"}
)

func asked(p delivery.Policy) delivery.Policy {
	p.Reconciles = true
	return p
}

func permitted(p delivery.Policy) delivery.Policy {
	p.AsksEligibility = true
	return p
}

// decided is what a decision says, in one line of a table.
type decided struct {
	action     delivery.Action
	state      reminder.State
	reason     reminder.Reason
	at         time.Time
	diagnostic string
}

func (want decided) check(t *testing.T, d delivery.Decision, question delivery.Question) {
	t.Helper()
	got := decided{d.Action, d.Record.State, d.Record.Reason, d.At, d.Record.Diagnostic}
	if got != want || d.Question != question {
		t.Errorf("got %+v %s, want %+v %s", got, d.Question, want, question)
	}
}

func TestAdmitAsksBeforeAReminderIsParked(t *testing.T) {
	t.Parallel()
	lapsed := release.Add(lease)
	open := in(reminder.Retrying, unresolved, attempts(1), func(r *reminder.Record) {
		r.UpdateTime, r.NextAttemptTime, r.Diagnostic = release.Add(30*time.Minute-lease), release.Add(30*time.Minute), "timeout"
	})
	fresh := open
	fresh.UpdateTime = fresh.NextAttemptTime.Add(-lease / 2)
	tests := map[string]struct {
		record   reminder.Record
		facts    delivery.Facts
		policy   delivery.Policy
		now      time.Time
		question delivery.Question
		want     decided
	}{
		"a lapsed submission":                 {in(reminder.Sending), delivery.Facts{}, asked(park), lapsed, delivery.AskReconciled, decided{action: delivery.Ask}},
		"that was accepted is Sent":           {in(reminder.Sending), delivery.Facts{Reconciled: yes}, asked(park), lapsed, "", decided{action: delivery.Settle, state: reminder.Sent}},
		"also past its deadline":              {in(reminder.Sending), delivery.Facts{Reconciled: yes}, asked(park), deadline, "", decided{action: delivery.Settle, state: reminder.Sent}},
		"that was not is taken over":          {in(reminder.Sending), delivery.Facts{Reconciled: no}, asked(park), lapsed, "", decided{action: delivery.Submit, state: reminder.Claimed}},
		"past its deadline it is dead":        {in(reminder.Sending), delivery.Facts{Reconciled: no}, asked(park), deadline, "", decided{action: delivery.Settle, state: reminder.Dead, reason: reminder.DeadlineReached}},
		"suspended meanwhile it is cancelled": {in(reminder.Sending), delivery.Facts{Suspended: true, Reconciled: no}, asked(park), lapsed, "", decided{action: delivery.Settle, state: reminder.Cancelled, reason: reminder.Suspended}},
		"with its last attempt used":          {in(reminder.Sending, attempts(budget)), delivery.Facts{Reconciled: no}, asked(park), lapsed, "", decided{action: delivery.Settle, state: reminder.Dead, reason: reminder.RetryBudgetExhausted}},
		"no clear answer parks":               {in(reminder.Sending), delivery.Facts{Reconciled: unclear}, asked(park), lapsed, "", decided{action: delivery.Settle, state: reminder.Dead, reason: reminder.ReconciliationRequired, diagnostic: "reconcileURL: status 503"}},
		"a live submission is left alone":     {in(reminder.Sending), delivery.Facts{}, asked(park), lapsed.Add(-1), "", decided{action: delivery.Wait, at: lapsed}},
		"where nobody can be asked it parks":  {in(reminder.Sending), delivery.Facts{}, park, lapsed, "", decided{action: delivery.Settle, state: reminder.Dead, reason: reminder.ReconciliationRequired}},
		"a retry of an unknown outcome":       {open, delivery.Facts{}, asked(park), open.NextAttemptTime, delivery.AskReconciled, decided{action: delivery.Ask, diagnostic: ""}},
		"not before its time":                 {open, delivery.Facts{}, asked(park), open.NextAttemptTime.Add(-1), "", decided{action: delivery.Reschedule, state: reminder.Retrying, at: open.NextAttemptTime, diagnostic: "timeout"}},
		"not while it may be under way":       {fresh, delivery.Facts{}, asked(park), open.NextAttemptTime, "", decided{action: delivery.Reschedule, state: reminder.Retrying, at: fresh.UpdateTime.Add(lease), diagnostic: "timeout"}},
		"that was not accepted is sent again": {open, delivery.Facts{Reconciled: no}, asked(park), open.NextAttemptTime, "", decided{action: delivery.Submit, state: reminder.Claimed, diagnostic: "timeout"}},
		"that may repeat is not asked for":    {open, delivery.Facts{}, asked(repeat), open.NextAttemptTime, "", decided{action: delivery.Submit, state: reminder.Claimed, diagnostic: "timeout"}},
		"unless it would end in the open":     {open, delivery.Facts{}, asked(repeat), deadline, delivery.AskReconciled, decided{action: delivery.Ask}},
		"where it would be cancelled too":     {open, delivery.Facts{Inactive: true}, asked(dedupes), open.NextAttemptTime, delivery.AskReconciled, decided{action: delivery.Ask}},
		"a reminder with nothing open is not": {in(reminder.Scheduled), delivery.Facts{}, asked(park), release, "", decided{action: delivery.Submit, state: reminder.Claimed}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := delivery.Admit(tt.record, tt.facts, tt.policy, "w2", tt.now)
			tt.want.check(t, d, tt.question)
			if d.Record.State == reminder.Sent && (d.Record.Receipt != "reconciled: status 200" || d.Record.Unresolved || !d.Record.FinishTime.Equal(tt.now)) {
				t.Errorf("got receipt %q, unresolved %t, finished %s", d.Record.Receipt, d.Record.Unresolved, d.Record.FinishTime)
			}
			if d.Action == delivery.Submit && tt.facts.Reconciled.Verdict == reminder.No && d.Record.Unresolved {
				t.Error("is still unresolved although the channel has denied it")
			}
		})
	}
}

// A claim of a channel that dedupes has counted no submission yet.
func TestAConfirmedSubmissionCountsOnce(t *testing.T) {
	t.Parallel()
	for _, r := range []reminder.Record{in(reminder.Claimed, unmarked), in(reminder.Sending, attempts(1)), in(reminder.Retrying, unresolved, attempts(1))} {
		d := delivery.Admit(r, delivery.Facts{Reconciled: yes}, asked(dedupes), "w2", deadline)
		if previous := r.Footprint(); d.Record.State != reminder.Sent || d.Record.Attempts != 1 || *d.Record.Previous != previous {
			t.Errorf("%s: got %s with %d attempts, previous %+v; I5: want Sent with 1, %+v", r.State, d.Record.State, d.Record.Attempts, d.Record.Previous, previous)
		}
	}
}

func TestDecideAsksBeforeAReminderIsParked(t *testing.T) {
	t.Parallel()
	now := release.Add(10 * time.Second)
	hearing := func(r reminder.Result, a reminder.Answer) reminder.Result {
		r.Reconciled = a
		return r
	}
	soon := func(p delivery.Policy) delivery.Policy {
		p.Retry.Delays = []time.Duration{time.Second}
		return asked(p)
	}
	last := []func(*reminder.Record){attempts(budget - 1)}
	tests := map[string]struct {
		policy   delivery.Policy
		record   []func(*reminder.Record)
		result   reminder.Result
		now      time.Time
		question delivery.Question
		want     decided
	}{
		"an unknown outcome under Park":        {asked(park), nil, unknown, now, delivery.AskReconciled, decided{action: delivery.Ask}},
		"that was accepted is Sent":            {asked(park), nil, hearing(unknown, yes), now, "", decided{action: delivery.Settle, state: reminder.Sent}},
		"that was not is asked for once more":  {soon(park), nil, hearing(unknown, no), now, "", decided{delivery.Retry, reminder.Retrying, "", now.Add(lease), "timeout"}},
		"after the backoff where it is longer": {asked(delivery.Policy{Retry: reminder.Retry{Attempts: 2, Delays: []time.Duration{time.Hour}}, Lease: lease}), nil, hearing(unknown, no), now, "", decided{delivery.Retry, reminder.Retrying, "", now.Add(time.Hour), "timeout"}},
		"also when no attempt is left":         {soon(park), last, hearing(unknown, no), now, "", decided{delivery.Retry, reminder.Retrying, "", now.Add(lease), "timeout"}},
		"or is parked where the deadline is":   {soon(park), nil, hearing(unknown, no), deadline.Add(-lease), "", decided{delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}, "timeout; reconcileURL: status 404"}},
		"no clear answer parks":                {asked(park), nil, hearing(unknown, unclear), now, "", decided{delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}, "timeout; reconcileURL: status 503"}},
		"nobody is asked where it may repeat":  {asked(repeat), nil, unknown, now, "", decided{delivery.Retry, reminder.Retrying, "", now.Add(time.Minute), "timeout"}},
		"but at the end of the budget":         {asked(dedupes), last, unknown, now, delivery.AskReconciled, decided{action: delivery.Ask}},
		"and at the deadline":                  {asked(dedupes), nil, unknown, deadline, delivery.AskReconciled, decided{action: delivery.Ask}},
		"a refusal after an unknown outcome":   {asked(dedupes), []func(*reminder.Record){unresolved}, permanent, now, delivery.AskReconciled, decided{action: delivery.Ask}},
		"that was accepted before is Sent":     {asked(dedupes), []func(*reminder.Record){unresolved}, hearing(permanent, yes), now, "", decided{action: delivery.Settle, state: reminder.Sent}},
		"a refusal by itself is plain":         {asked(park), nil, permanent, now, "", decided{delivery.Settle, reminder.Dead, reminder.PermanentFailure, time.Time{}, "status 400"}},
		"so is a busy receiver":                {asked(park), last, transient, now, "", decided{delivery.Settle, reminder.Dead, reminder.RetryBudgetExhausted, time.Time{}, "status 503"}},
		"an acceptance asks nobody":            {asked(park), []func(*reminder.Record){unresolved}, accepted, now, "", decided{action: delivery.Settle, state: reminder.Sent}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := submitting(tt.policy, tt.record...)
			d := delivery.Decide(r, tt.result, tt.policy, tt.now)
			tt.want.check(t, d, tt.question)
			if d.Action == delivery.Retry && tt.result.Reconciled.Verdict == reminder.No && !d.Record.Unresolved {
				t.Error("I6: believes at once that what may be under way was not accepted")
			}
			if previous := r.Footprint(); d.Action != delivery.Ask && *d.Record.Previous != previous {
				t.Errorf("I5: previous is %+v, want %+v", *d.Record.Previous, previous)
			}
		})
	}
}

func TestEligibilityIsJudgedAtEachAttempt(t *testing.T) {
	t.Parallel()
	later := delivery.Policy{Retry: reminder.Retry{Attempts: budget, InitialDelay: time.Nanosecond}, OnUnknown: reminder.ParkUnknown, Lease: lease, Retention: retention, AsksEligibility: true}
	wait := func(d time.Duration) reminder.Answer {
		a := unclear
		a.RetryAfter = d
		return a
	}
	why := "line 1, column 1: the recipient has no attribute status"
	tests := map[string]struct {
		record   reminder.Record
		facts    delivery.Facts
		policy   delivery.Policy
		now      time.Time
		question delivery.Question
		want     decided
	}{
		"false cancels":                             {in(reminder.Scheduled), delivery.Facts{NotEligible: true}, park, release, "", decided{action: delivery.Settle, state: reminder.Cancelled, reason: reminder.NotEligible}},
		"false cancels a retry":                     {in(reminder.Retrying, attempts(1)), delivery.Facts{NotEligible: true}, park, release.Add(time.Hour), "", decided{action: delivery.Settle, state: reminder.Cancelled, reason: reminder.NotEligible}},
		"but not before its time":                   {in(reminder.Retrying, attempts(1)), delivery.Facts{NotEligible: true}, park, release.Add(time.Minute), "", decided{action: delivery.Reschedule, state: reminder.Retrying, at: release.Add(30 * time.Minute)}},
		"nor what is not due":                       {in(reminder.Scheduled), delivery.Facts{NotEligible: true}, park, release.Add(-1), "", decided{action: delivery.Reschedule, state: reminder.Scheduled, at: release}},
		"false also past the deadline":              {in(reminder.Scheduled), delivery.Facts{NotEligible: true}, park, deadline, "", decided{action: delivery.Settle, state: reminder.Cancelled, reason: reminder.NotEligible}},
		"false does not hide an open outcome":       {in(reminder.Retrying, unresolved), delivery.Facts{NotEligible: true}, repeat, release.Add(time.Hour), "", decided{action: delivery.Settle, state: reminder.Dead, reason: reminder.ReconciliationRequired}},
		"an error is dead, and not false":           {in(reminder.Scheduled), delivery.Facts{Undecidable: why}, park, release, "", decided{action: delivery.Settle, state: reminder.Dead, reason: reminder.InvalidEligibility, diagnostic: "spec.delivery.eligibility: " + why}},
		"an error before its time is none":          {in(reminder.Scheduled), delivery.Facts{Undecidable: why}, park, release.Add(-1), "", decided{action: delivery.Reschedule, state: reminder.Scheduled, at: release}},
		"the URL is asked":                          {in(reminder.Scheduled), delivery.Facts{}, permitted(park), release, delivery.AskEligible, decided{action: delivery.Ask}},
		"not before its time":                       {in(reminder.Scheduled), delivery.Facts{}, permitted(park), release.Add(-1), "", decided{action: delivery.Reschedule, state: reminder.Scheduled, at: release}},
		"nor past its deadline":                     {in(reminder.Scheduled), delivery.Facts{}, permitted(park), deadline, "", decided{action: delivery.Settle, state: reminder.Dead, reason: reminder.DeadlineReached}},
		"nor for what was cancelled":                {in(reminder.Scheduled), delivery.Facts{Suspended: true}, permitted(park), release, "", decided{action: delivery.Settle, state: reminder.Cancelled, reason: reminder.Suspended}},
		"nor for what another worker holds":         {in(reminder.Claimed), delivery.Facts{}, permitted(park), release, "", decided{action: delivery.Wait, at: release.Add(lease)}},
		"nor for what has ended":                    {in(reminder.Sent), delivery.Facts{}, permitted(park), release, "", decided{action: delivery.Suppress, state: reminder.Sent}},
		"yes is a go":                               {in(reminder.Scheduled), delivery.Facts{Eligible: yes}, permitted(park), release, "", decided{action: delivery.Submit, state: reminder.Claimed}},
		"no cancels":                                {in(reminder.Scheduled), delivery.Facts{Eligible: no}, permitted(park), release, "", decided{delivery.Settle, reminder.Cancelled, reminder.NotEligible, time.Time{}, "eligibilityURL: status 404"}},
		"no answer is tried again":                  {in(reminder.Scheduled), delivery.Facts{Eligible: unclear}, permitted(park), release, "", decided{delivery.Retry, reminder.Retrying, "", release.Add(time.Minute), "eligibilityURL: status 503"}},
		"a second apart at least":                   {in(reminder.Scheduled), delivery.Facts{Eligible: unclear}, later, release, "", decided{delivery.Retry, reminder.Retrying, "", release.Add(time.Second), "eligibilityURL: status 503"}},
		"and not before it is wanted":               {in(reminder.Scheduled), delivery.Facts{Eligible: wait(time.Hour)}, permitted(park), release, "", decided{delivery.Retry, reminder.Retrying, "", release.Add(time.Hour), "eligibilityURL: status 503"}},
		"up to the deadline":                        {in(reminder.Scheduled), delivery.Facts{Eligible: unclear}, permitted(park), deadline.Add(-time.Minute), "", decided{delivery.Settle, reminder.Dead, reminder.DeadlineReached, time.Time{}, "eligibilityURL: status 503"}},
		"also with a single attempt allowed":        {in(reminder.Scheduled), delivery.Facts{Eligible: unclear}, permitted(delivery.Policy{Retry: reminder.Retry{Attempts: 1, Delays: []time.Duration{time.Minute}}}), release, "", decided{delivery.Retry, reminder.Retrying, "", release.Add(time.Minute), "eligibilityURL: status 503"}},
		"a no to what may have been accepted parks": {in(reminder.Retrying, unresolved, attempts(1)), delivery.Facts{Eligible: no}, permitted(repeat), release.Add(time.Hour), "", decided{delivery.Settle, reminder.Dead, reminder.ReconciliationRequired, time.Time{}, "eligibilityURL: status 404"}},
		"or has the channel asked before":           {in(reminder.Retrying, unresolved, attempts(1)), delivery.Facts{Eligible: no}, asked(permitted(repeat)), release.Add(time.Hour), delivery.AskReconciled, decided{action: delivery.Ask}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := delivery.Admit(tt.record, tt.facts, tt.policy, "w2", tt.now)
			tt.want.check(t, d, tt.question)
			if d.Record.Attempts != tt.record.Attempts && d.Action != delivery.Ask {
				t.Errorf("counts %d attempts, want %d: only submissions count", d.Record.Attempts, tt.record.Attempts)
			}
		})
	}
}
