package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/audit"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// auditor reads what an audit compares.
type auditor struct {
	*auditFlags
	cluster *cluster
	broker  *broker.Broker
	stdin   io.Reader
	now     func() time.Time

	began     time.Time     // by the clock of NATS
	retention time.Duration // of outcomes
	log       *audit.Log    // of the standard input
}

// subject is a schedule to audit.
type subject struct{ namespace, name string }

func (a *auditor) prepare(ctx context.Context) (err error) {
	if a.began, err = a.broker.Registry.Time(ctx); err != nil {
		return fmt.Errorf("read NATS: %w; is this the operator's account?", err)
	}
	a.retention, err = a.broker.DeadLetters.Kept(ctx)
	return err
}

// subjects are the schedules of the names, or all that the cluster or NATS knows, in order.
func (a *auditor) subjects(ctx context.Context, namespace string, names []string) (all []subject, err error) {
	for _, name := range names {
		all = append(all, subject{namespace, name})
	}
	if len(names) > 0 {
		return all, nil
	}
	var list v1alpha1.ReminderScheduleList
	if err := a.cluster.list(ctx, &list, namespace); err != nil {
		return nil, err
	}
	for i := range list.Items {
		all = append(all, subject{list.Items[i].Namespace, list.Items[i].Name})
	}
	err = a.broker.Registry.Schedules(ctx, func(s reminder.Schedule, _ uint64) error {
		if namespace == "" || s.Namespace == namespace {
			all = append(all, subject{s.Namespace, s.Name})
		}
		return nil
	})
	slices.SortFunc(all, func(x, y subject) int {
		return cmp.Or(cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name))
	})
	return slices.Compact(all), err
}

// list reads all schedules of a namespace; of all for an empty one.
func (c *cluster) list(ctx context.Context, into *v1alpha1.ReminderScheduleList, namespace string) error {
	if err := c.reader.List(ctx, into, client.InNamespace(namespace)); err != nil {
		if apierrors.IsForbidden(err) {
			return fmt.Errorf("list ReminderSchedules: %w; give their names", err)
		}
		return fmt.Errorf("list ReminderSchedules: %w", err)
	}
	return nil
}

// pause is the time between two readings of what differs.
const pause = time.Second

// all audits schedules. What differs is read again until it agrees or the patience has ended.
func (a *auditor) all(ctx context.Context, subjects []subject) ([]audit.Report, error) {
	reports := make([]audit.Report, len(subjects))
	end := a.now().Add(a.wait)
	for i, s := range subjects {
		var err error
		if reports[i], err = a.one(ctx, s); err != nil {
			return nil, err
		}
	}
	for a.now().Before(end) && slices.ContainsFunc(reports, unsettled) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		for i, s := range subjects {
			if !unsettled(reports[i]) {
				continue
			}
			again, err := a.one(ctx, s)
			if err != nil {
				return nil, err
			}
			reports[i] = again
		}
	}
	return reports, nil
}

// unsettled reports may become better by waiting.
func unsettled(r audit.Report) bool { return !r.Equal() || r.Unproven == unobserved }

// one reads and compares everything of a schedule. What is read first may be older than what the ledger says then.
func (a *auditor) one(ctx context.Context, s subject) (audit.Report, error) {
	now, err := a.broker.Registry.Time(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	f := audit.Facts{Now: now, Grace: a.grace, Retention: a.retention}
	if f.Accepted, err = a.accepted(now); err != nil {
		return audit.Report{}, err
	}
	created, err := a.schedule(ctx, s, &f)
	if err != nil {
		return audit.Report{}, err
	}
	if f.Jobs, err = a.broker.Queue.Of(ctx, s.namespace, s.name); err != nil {
		return audit.Report{}, err
	}
	if f.Letters, err = a.broker.DeadLetters.Of(ctx, s.namespace, s.name); err != nil {
		return audit.Report{}, err
	}
	books, err := a.books(ctx, s, &f)
	if err != nil {
		return audit.Report{}, err
	}
	if created.IsZero() && !books.Has() {
		return audit.Report{}, fmt.Errorf("there is no ReminderSchedule %s in namespace %s, and NATS knows of none", s.name, s.namespace)
	}
	if f.Whole, err = a.broker.Ledger.Pristine(ctx); err != nil {
		return audit.Report{}, err
	}
	f.Whole = f.Whole || created.Add(a.retention).After(now)
	return audit.Compare(books, f), nil
}

// books are the ledger of a schedule up to what the tally includes, which is waited for: it folds what was written within
// a second or two.
func (a *auditor) books(ctx context.Context, s subject, f *audit.Facts) (*audit.Books, error) {
	books := audit.NewBooks(s.namespace, s.name, f.Now.Add(-a.lag-time.Minute))
	cut, err := a.broker.Ledger.LastRevision(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.read(ctx, books, 1, cut); err != nil {
		return nil, err
	}
	for end := a.now().Add(a.wait); ; {
		if f.Tally, _, err = a.broker.Tally.Totals(ctx, s.namespace, s.name); err != nil {
			return nil, err
		}
		if f.Tally.Applied >= books.Last() || !a.now().Before(end) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause / 4):
		}
	}
	if f.Tally.Applied > cut {
		return books, a.read(ctx, books, cut+1, f.Tally.Applied)
	}
	return books, nil
}

func (a *auditor) read(ctx context.Context, books *audit.Books, from, through uint64) error {
	return a.broker.Ledger.Log(ctx, books.Namespace, books.Schedule, from, through, func(r broker.Revision) error {
		if r.Err != nil {
			books.Spoil(r.Number, r.Token, r.Err)
		} else {
			books.Add(r.Number, r.Token, r.Record, r.WriteTime)
		}
		return nil
	})
}

// schedule reads the object and what the registry has of it, and works out what must have fallen due. It answers when the
// object was made.
func (a *auditor) schedule(ctx context.Context, s subject, f *audit.Facts) (time.Time, error) {
	entry, _, err := a.broker.Registry.Schedule(ctx, s.namespace, s.name)
	if err != nil && !errors.Is(err, reminder.ErrNotFound) {
		return time.Time{}, err
	}
	o, err := a.cluster.schedule(ctx, s.namespace, s.name)
	if err != nil {
		return time.Time{}, err
	}
	if o.schedule == nil {
		f.Unproven = "there is no such object any more"
		return entry.CreateTime, nil
	}
	status := statusOf(o.schedule)
	status.Read, status.Lag = f.Now, a.lag
	f.Status = &status
	e := &expectation{obj: o.schedule, entry: entry, now: f.Now, retention: a.retention}
	if f.Unproven = e.work(ctx, a.cluster); f.Unproven == "" {
		f.Slots, f.Proven, f.Planned = e.slots, &e.proven, entry.Cursor.DoneTime
	}
	return o.schedule.CreationTimestamp.UTC(), nil
}

func statusOf(obj *v1alpha1.ReminderSchedule) audit.StatusCounts {
	var s audit.StatusCounts
	if c := obj.Status.Counts; c != nil {
		s = audit.StatusCounts{
			Written: true, Due: c.Due, Missed: c.Missed, Sent: c.Sent, SentLate: c.SentLate, Retried: c.Retried, Suppressed: c.Suppressed,
			Cancelled: c.Cancelled, Dead: c.Dead, Pending: c.Pending, Republished: c.Republished,
		}
	}
	if d := obj.Status.DeadLetters; d != nil {
		s.Open, s.Total, s.Replayed, s.Discarded = d.Open, d.Total, d.Replayed, d.Discarded
	}
	return s
}
