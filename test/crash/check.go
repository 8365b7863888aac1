package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/receiver"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// crash is the running matrix.
type crash struct {
	*printer
	*system.System
	runs, lost, duplicates, miscounted int
	failures                           map[string]string // by run: what is wrong
	order                              []string          // of failures
	arrivals                           int               // that the cells allow
}

// run is one run of a cell; its name is also that of the schedule, in lower case.
type run struct {
	cell   string // such as W4/Park/reject
	repeat int
}

func (r run) name() string {
	return fmt.Sprintf("%s-%d", strings.ToLower(strings.ReplaceAll(r.cell, "/", "-")), r.repeat)
}

// fail notes what is wrong with a run, once, and says it.
func (c *crash) fail(r run, format string, args ...any) {
	if c.failures == nil {
		c.failures = map[string]string{}
	}
	name := r.name()
	if _, known := c.failures[name]; known {
		return
	}
	c.failures[name] = fmt.Sprintf(format, args...)
	c.order = append(c.order, name)
	c.say("FAILED %s, run %d: %s", r.cell, r.repeat, c.failures[name])
	c.say("  run it again by: go run ./test/crash -cell %s", r.cell)
}

func (c *crash) failed() bool { return len(c.failures) > 0 }

// printLast prints the result.
func (c *crash) printLast() {
	counters := "exact"
	if c.miscounted > 0 {
		counters = "wrong"
	}
	for _, name := range c.order {
		fmt.Fprintf(c.out, "crash: FAILED %s: %s\n", name, c.failures[name])
	}
	fmt.Fprintf(c.out, "crash: runs=%d lost=%d duplicates=%d counters=%s seconds=%d\n", c.runs, c.lost, c.duplicates, counters, c.seconds())
}

// seen is what ledger and receiver say of a run, in the words of the tables.
func (c *crash) seen(ctx context.Context, r run) (outcome, []reminder.Record, error) {
	records, err := c.RecordsOf(ctx, r.name())
	if err != nil {
		return outcome{}, nil, err
	}
	o := outcome{records: len(records)}
	var states []string
	for i := range records {
		rec := &records[i]
		states = append(states, stateOf(rec))
		o.attempts += rec.Attempts
		o.retries += rec.Retries
		o.takeovers += rec.Takeovers
		o.suppressed += rec.Suppressed
	}
	slices.Sort(states)
	o.state = strings.Join(slices.Compact(states), "+")
	o.arrivals, o.effects = booked(c.Receiver.Stats(), r.name())
	return o, records, nil
}

// stateOf is a record's state in the words of the tables.
func stateOf(r *reminder.Record) string {
	switch {
	case r.Reason == reminder.ReconciliationRequired:
		return parked
	case r.Reason != "":
		return string(r.Reason)
	}
	return string(r.State)
}

// booked are arrivals and effects of a schedule in the receiver's books.
func booked(s receiver.Stats, schedule string) (arrivals, effects int) {
	for key, k := range s.Keys {
		if strings.HasPrefix(key, system.Tenant+"/"+schedule+"/") {
			arrivals += k.Arrivals
			effects += k.Accepted
		}
	}
	return arrivals, effects
}

// settled tells whether a run is as it must be: ledger, receiver, dead letters, and
// counters in status or, once the schedule is deleted, in the tally.
func (c *crash) settled(ctx context.Context, r run, want outcome) (bool, string, error) {
	got, records, err := c.seen(ctx, r)
	if err != nil || got != want {
		return false, got.String(), err
	}
	for i := range records {
		if fault, err := c.faultOf(ctx, &records[i], want); fault != "" || err != nil {
			return false, fault, err
		}
	}
	counts, err := c.counts(ctx, r)
	if err != nil || counts != countsOf(records) {
		return false, fmt.Sprintf("counters are %+v, want %+v", counts, countsOf(records)), err
	}
	return true, "", nil
}

// faultOf looks at the times of one record, and whether its dead letter stands if
// it is dead, once and for one owner.
func (c *crash) faultOf(ctx context.Context, r *reminder.Record, want outcome) (string, error) {
	if r.State == reminder.Sent && (r.FinishTime.Before(r.ReleaseTime) || !r.FinishTime.Before(r.DeadlineTime)) {
		return fmt.Sprintf("%s was accepted at %s, not within %s and %s", r.Key, r.FinishTime, r.ReleaseTime, r.DeadlineTime), nil
	}
	letters := 0
	for _, owner := range []reminder.Owner{reminder.OwnerData, reminder.OwnerCapacity, reminder.OwnerPolicy, reminder.OwnerReconcile} {
		letter := reminder.DeadLetterOf(*r)
		letter.Owner = owner
		standing, err := c.Broker.DeadLetters.Standing(ctx, letter)
		if err != nil {
			return "", err
		}
		if standing {
			letters++
		}
	}
	if (letters == 1) != want.dead() || letters > 1 {
		return fmt.Sprintf("%d dead letters of %s stand", letters, r.Key), nil
	}
	return "", nil
}

// counts are the counters of a run.
func (c *crash) counts(ctx context.Context, r run) (v1alpha1.ReminderCounts, error) {
	obj := &v1alpha1.ReminderSchedule{}
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: system.Tenant, Name: r.name()}, obj)
	if client.IgnoreNotFound(err) != nil {
		return v1alpha1.ReminderCounts{}, err
	}
	if err == nil {
		if obj.Status.Counts == nil {
			return v1alpha1.ReminderCounts{}, nil
		}
		return *obj.Status.Counts, nil
	}
	t, _, err := c.Broker.Tally.Totals(ctx, system.Tenant, r.name())
	return v1alpha1.ReminderCounts{
		Due: t.Sent + t.Dead + t.Missed, Missed: t.Missed, Sent: t.Sent, SentLate: t.SentLate, Retried: t.Retried, Suppressed: t.Suppressed,
		Cancelled: t.Cancelled, Dead: t.Dead, Pending: t.Pending(), Republished: t.Republished,
	}, err
}

// countsOf folds the records as they stand.
func countsOf(records []reminder.Record) (n v1alpha1.ReminderCounts) {
	for i := range records {
		r := &records[i]
		switch r.State {
		case reminder.Sent:
			n.Sent++
		case reminder.Dead:
			n.Dead++
		case reminder.Cancelled:
			n.Cancelled++
		default:
			n.Pending++
		}
		if r.Late() {
			n.SentLate++
		}
		n.Retried += int64(r.Retries)
		n.Suppressed += int64(r.Suppressed)
		n.Republished += int64(r.Republished)
	}
	n.Due = n.Sent + n.Dead
	return n
}

// judge counts a run and what is wrong with it now.
func (c *crash) judge(ctx context.Context, r run, want outcome) {
	c.runs++
	c.arrivals += want.arrivals
	got, records, err := c.seen(ctx, r)
	for i := range records {
		if !records[i].State.Terminal() {
			c.lost++
		}
	}
	c.lost += max(want.records-len(records), 0)
	c.duplicates += max(got.effects-want.effects, 0)
	ok, seen, settledErr := c.settled(ctx, r, want)
	if counts, err := c.counts(ctx, r); err != nil || counts != countsOf(records) {
		c.miscounted++
	}
	if err != nil || settledErr != nil || !ok {
		c.fail(r, "it is %s, want %s; %s %v %v", got, want, seen, err, settledErr)
	}
}

// judgeBooks looks at what the receiver has as a whole: nothing of anybody else.
func (c *crash) judgeBooks() {
	if s := c.Receiver.Stats(); s.Arrivals != c.arrivals || s.ChangedBodies+s.BadSignatures != 0 {
		c.fail(run{cell: "receiver"}, "%d arrivals, want %d; %d changed bodies, %d bad signatures", s.Arrivals, c.arrivals, s.ChangedBodies, s.BadSignatures)
	}
}
