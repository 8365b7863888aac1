package simulate

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// planner is a controller without an API server: it takes the steps of
// controllers/schedule_apply.go in their order, with the decisions of package
// delivery.
type planner struct {
	*client
	known bool // this process has planned the entry as it is
	seen  int64
}

// run makes a pass every few seconds until ctx ends.
func (p *planner) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := p.pass(ctx); err != nil {
			p.known = false
		}
		pass(p.between(3*time.Second, 12*time.Second, p.name, p.number("pause")))
	}
}

func (p *planner) pass(ctx context.Context) error {
	want, generation := p.wanted()
	entry, revision, err := registry{p.client}.Schedule(ctx, namespace, schedule)
	if err != nil && !errors.Is(err, reminder.ErrNotFound) {
		return err
	}
	if entry.Generation > generation || entry.Deleted {
		return nil
	}
	next, from := p.register(entry, want, generation)
	current := p.known && p.seen == generation
	if next != nil {
		if revision, err = (registry{p.client}).PutSchedule(ctx, *next, revision); err != nil {
			return err
		}
		entry = *next
	}
	if !current {
		if err := p.settle(ctx, entry); err != nil {
			return err
		}
		from = earlier(from, p.now())
	}
	if !entry.Suspended && !entry.Deleted {
		if err := p.plan(ctx, entry, from); err != nil {
			return err
		}
	}
	if entry.Cursor.Open() {
		entry.Cursor = entry.Cursor.Close()
		if _, err := (registry{p.client}).PutSchedule(ctx, entry, revision); err != nil {
			return err
		}
	}
	p.known, p.seen = true, generation
	return nil
}

// register is the entry that the registry must hold, nil if it does, and from when on
// this pass plans.
func (p *planner) register(have reminder.Schedule, want edit, generation int64) (*reminder.Schedule, time.Time) {
	next := reminder.Schedule{
		SchemaVersion: reminder.RegistryVersion, Namespace: namespace, Name: schedule, UID: "uid", Generation: generation, PlanHash: "plan", Epoch: 1,
		AudienceHash: "people", Suspended: want.suspended, Deleted: want.deleted, Channel: channel, Body: "Hello", Retry: p.retry, OnUnknown: p.unknown,
		Cursor: have.Cursor,
	}
	now := p.now().UTC().Truncate(time.Second)
	if have.Suspended && !next.Suspended {
		next.Cursor = reminder.Cursor{DoneTime: now, ThroughTime: now}
	}
	from := next.Cursor.DoneTime
	if !next.Cursor.Open() && !next.Suspended && !next.Deleted {
		if through := now.Add(lookAhead); p.ahead(next.Cursor.ThroughTime, through) {
			from = next.Cursor.ThroughTime
			next.Cursor = reminder.Cursor{DoneTime: from, ThroughTime: through}
		}
	}
	if have.Epoch != 0 && have.Generation == generation && reflect.DeepEqual(have.Cursor, next.Cursor) {
		return nil, from
	}
	return &next, from
}

func (p *planner) ahead(from, through time.Time) bool {
	for _, s := range p.slots {
		if s.due.After(from) && !s.due.After(through) {
			return true
		}
	}
	return false
}

// settle withdraws and cancels what the entry no longer covers.
func (p *planner) settle(ctx context.Context, entry reminder.Schedule) error {
	reason := reminder.Reason("")
	switch {
	case entry.Deleted:
		reason = reminder.ScheduleDeleted
	case entry.Suspended:
		reason = reminder.Suspended
	default:
		return nil
	}
	if err := (queue{p.client}).WithdrawSchedule(ctx); err != nil {
		return err
	}
	return ledger{p.client}.Of(ctx, func(r broker.Revision) error {
		have, _, err := registry{p.client}.Schedule(ctx, namespace, schedule)
		if err == nil && have.Generation != entry.Generation {
			err = reminder.ErrConflict
		}
		if err != nil {
			return err
		}
		return p.cancel(ctx, r, reason)
	})
}

func (p *planner) cancel(ctx context.Context, r broker.Revision, reason reminder.Reason) error {
	next, ok := delivery.Cancel(r.Record, reason, retention, p.now())
	if !ok {
		return nil
	}
	if _, err := (ledger{p.client}).Update(ctx, next, r.Number); err != nil {
		return err
	}
	if next.State == reminder.Dead {
		if err := (deadLetters{p.client}).Publish(ctx, reminder.DeadLetterOf(next)); err != nil {
			return err
		}
	}
	return queue{p.client}.Withdraw(ctx, next.Key)
}

// plan writes record and message of each reminder behind from.
func (p *planner) plan(ctx context.Context, entry reminder.Schedule, from time.Time) error {
	for _, s := range p.slots {
		if !s.due.After(from) || s.due.After(entry.Cursor.ThroughTime) {
			continue
		}
		for _, person := range p.people {
			if err := p.planOne(ctx, p.planned(s, person.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) planned(s slot, id string) delivery.Planned {
	return delivery.Planned{
		Key:   reminder.Key{Namespace: namespace, Schedule: schedule, Slot: reminder.SlotOf(s.due), Recipient: id, Channel: channel},
		Epoch: 1, DueTime: s.due, ReleaseTime: s.due, DeadlineTime: s.deadline, LateTime: s.due.Add(20 * time.Second),
	}
}

func (p *planner) planOne(ctx context.Context, one delivery.Planned) error {
	now := p.now().UTC()
	record := delivery.Plan(one, retention, now)
	revision, err := ledger{p.client}.Create(ctx, record)
	if errors.Is(err, reminder.ErrExists) {
		record, revision, err = p.replan(ctx, one, now)
	}
	if err != nil || record.State != reminder.Scheduled {
		return err
	}
	if record.ReleaseTime.After(now) {
		return queue{p.client}.Release(ctx, record, revision, record.ReleaseTime, now)
	}
	return queue{p.client}.Restore(ctx, record, revision)
}

func (p *planner) replan(ctx context.Context, one delivery.Planned, now time.Time) (reminder.Record, uint64, error) {
	have, revision, err := ledger{p.client}.Get(ctx, one.Key.Token())
	if err != nil {
		return have, 0, err
	}
	next, changed := delivery.Replan(have, one, retention, now)
	if !changed {
		return have, revision, nil
	}
	revision, err = ledger{p.client}.Update(ctx, next, revision)
	return next, revision, err
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
