package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/receiver"
)

// account is what is known of one schedule, from four sources.
type account struct {
	schedule string
	// due are the keys of all reminders that have fallen due, by the spec.
	due []string
	// records are the ledger's, counts those of status, keys the receiver's.
	records map[string]reminder.Record
	counts  v1alpha1.ReminderCounts
	keys    map[string]receiver.KeyStats
}

// open is how many reminders are to have an outcome and have none; at least one
// while nothing of the schedule has reached the receiver.
func (a account) open() int {
	n := 0
	for _, key := range a.due {
		if !a.records[key].State.Terminal() {
			n++
		}
	}
	if accepted, rejected := taken(a.keys); accepted+rejected == 0 {
		n++
	}
	return n
}

// taken counts the keys that were accepted, and those that were only rejected.
func taken(keys map[string]receiver.KeyStats) (accepted, rejected int64) {
	for _, k := range keys {
		switch {
		case k.Accepted > 0:
			accepted++
		case k.Rejected > 0:
			rejected++
		}
	}
	return accepted, rejected
}

// verdict is what comparing the accounts found.
type verdict struct {
	delivered, duplicates, lost, dead int64
	// problems name each disagreement.
	problems []string
}

func (v *verdict) problem(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// compare compares the accounts of all schedules.
func compare(accounts []account) verdict {
	var v verdict
	for _, a := range accounts {
		v.compare(a)
	}
	return v
}

func (v *verdict) compare(a account) {
	for _, key := range slices.Sorted(maps.Keys(a.keys)) {
		if n := a.keys[key].Accepted; n > 1 {
			v.duplicates++
			v.problem("%s had an effect %d times", key, n)
		}
		if state := a.records[key].State; a.keys[key].Accepted > 0 && state != reminder.Sent {
			v.problem("%s was accepted, and the ledger says %q", key, state)
		}
	}
	accepted, rejected := taken(a.keys)
	v.delivered, v.dead = v.delivered+accepted, v.dead+a.counts.Dead
	v.losses(a)
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"sent", a.counts.Sent, accepted}, {"dead", a.counts.Dead, rejected},
		{"due", a.counts.Due, accepted + rejected}, {"pending", a.counts.Pending, 0},
	} {
		if c.got != c.want {
			v.problem("%s: status says %s=%d, the receiver's books %d", a.schedule, c.what, c.got, c.want)
		}
	}
}

// losses counts reminders that fell due and have no outcome, and those that the
// ledger calls sent although the receiver has not accepted them.
func (v *verdict) losses(a account) {
	for _, key := range a.due {
		if r, ok := a.records[key]; !ok || !r.State.Terminal() {
			v.lost++
			v.problem("%s fell due and has no outcome; the ledger says %q", key, r.State)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a.records)) {
		if a.records[key].State == reminder.Sent && a.keys[key].Accepted == 0 {
			v.lost++
			v.problem("%s is recorded as sent, and the receiver has not accepted it", key)
		}
	}
}

// accounts reads all sources. Of what falls due, only what did before the given
// time is expected.
func (s *site) accounts(ctx context.Context, before time.Time) ([]account, error) {
	books, err := s.stats(ctx)
	if err != nil {
		return nil, err
	}
	var list v1alpha1.ReminderScheduleList
	if err := s.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	all := make([]account, 0, len(list.Items))
	for i := range list.Items {
		obj := &list.Items[i]
		a := account{schedule: obj.Name, records: map[string]reminder.Record{}, keys: map[string]receiver.KeyStats{}}
		if a.due, err = dueKeys(obj, before); err != nil {
			return nil, err
		}
		if obj.Status.Counts != nil {
			a.counts = *obj.Status.Counts
		}
		for key, k := range books.Keys {
			if strings.HasPrefix(key, namespace+"/"+obj.Name+"/") {
				a.keys[key] = k
			}
		}
		err := s.Broker.Ledger.Of(ctx, namespace, obj.Name, func(r broker.Revision) error {
			a.records[r.Record.Key.String()] = r.Record
			return r.Err
		})
		if err != nil {
			return nil, fmt.Errorf("read the ledger of %s: %w", obj.Name, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// dueKeys are the keys of the reminders of a schedule that fell due before a time.
func dueKeys(obj *v1alpha1.ReminderSchedule, before time.Time) ([]string, error) {
	compiled, err := convert.Schedule(obj, nil)
	if err != nil {
		return nil, fmt.Errorf("read schedule %s: %w", obj.Name, err)
	}
	var keys []string
	for o := range compiled.Between(obj.CreationTimestamp.Time, before) {
		for _, r := range obj.Spec.Recipients {
			keys = append(keys, reminder.Key{Namespace: obj.Namespace, Schedule: obj.Name, Slot: reminder.SlotOf(o.Due), Recipient: r.ID}.String())
		}
	}
	return keys, nil
}

// table shows what the receiver counted.
func table(accounts []account) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "RECEIVER\tREQUESTS\tACCEPTED\tREPEATS\tREJECTED")
	for _, a := range accounts {
		var sum receiver.KeyStats
		for _, k := range a.keys {
			sum.Arrivals, sum.Accepted = sum.Arrivals+k.Arrivals, sum.Accepted+k.Accepted
			sum.Repeats, sum.Rejected = sum.Repeats+k.Repeats, sum.Rejected+k.Rejected
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", a.schedule, sum.Arrivals, sum.Accepted, sum.Repeats, sum.Rejected)
	}
	w.Flush()
	return text.String()
}

// isSuspended tells whether a schedule has seen that it is suspended.
func isSuspended(obj *v1alpha1.ReminderSchedule) bool {
	return slices.ContainsFunc(obj.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == v1alpha1.ReadyCondition && c.Reason == v1alpha1.ReasonSuspended
	})
}
