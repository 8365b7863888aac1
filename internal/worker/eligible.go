package worker

import (
	"context"
	"fmt"
	"sync"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/message"
)

// conditions keeps the compiled eligibility of the schedules seen last.
type conditions struct {
	mu    sync.Mutex
	known map[string]*message.Condition
}

func newConditions() *conditions { return &conditions{known: map[string]*message.Condition{}} }

func (c *conditions) get(source string) (*message.Condition, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.known[source]; ok {
		return known, nil
	}
	compiled, err := message.CompileCondition(source)
	if err != nil {
		return nil, err
	}
	if len(c.known) >= maxCompiled {
		c.known = map[string]*message.Condition{}
	}
	c.known[source] = compiled
	return compiled, nil
}

// eligibility is what the schedule's expression says of the recipient as it is now.
// An expression that this version cannot compile, and a controller's could, proves
// nothing.
func (w *Worker) eligibility(j *job, f *delivery.Facts) error {
	if j.schedule.Eligibility == "" || f.Inactive {
		return nil
	}
	rule, err := w.conditions.get(j.schedule.Eligibility)
	if err != nil {
		return fmt.Errorf("eligibility of %s cannot be compiled: %w: %w", j.record.Key, errUnproven, err)
	}
	r := j.record
	holds, err := rule.Holds(message.Input{Recipient: j.receiver, Key: r.Key, DueTime: r.Due(), DeadlineTime: r.DeadlineTime})
	if err != nil {
		f.Undecidable = err.Error()
		return nil
	}
	f.NotEligible = !holds
	return nil
}

// admit decides what to do with the job, with what has to be asked for that.
func (w *Worker) admit(ctx context.Context, j job, f delivery.Facts) delivery.Decision {
	for {
		d := delivery.Admit(j.record, f, j.policy, w.owner, j.now())
		switch d.Question {
		case delivery.AskEligible:
			f.Eligible = j.channel.asker.Eligible(ctx, j.schedule.EligibilityURL, j.record.Key)
		case delivery.AskReconciled:
			f.Reconciled = w.reconciled(ctx, j)
		default:
			return d
		}
	}
}
