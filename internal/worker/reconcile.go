package worker

import (
	"context"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Asker puts questions about a reminder to other systems. It answers soon after
// ctx ends at the latest, and always with a verdict.
type Asker interface {
	// Eligible asks a schedule's eligibilityURL.
	Eligible(ctx context.Context, at reminder.Endpoint, key reminder.Key) reminder.Answer
	// Reconciled asks the channel's reconcileURL.
	Reconciled(ctx context.Context, key reminder.Key) reminder.Answer
}

// nobody answers nothing: a worker without an asker sends nothing that needs one.
type nobody struct{}

func (nobody) Eligible(context.Context, reminder.Endpoint, reminder.Key) reminder.Answer {
	return reminder.Answer{Verdict: reminder.Unclear, Text: "this worker cannot ask"}
}

func (nobody) Reconciled(context.Context, reminder.Key) reminder.Answer {
	return nobody{}.Eligible(context.Background(), "", reminder.Key{})
}

// askerOf makes the asker of a channel's entry.
func (w *Worker) askerOf(c reminder.Channel) (Asker, error) {
	if w.NewAsker == nil {
		return nobody{}, nil
	}
	return w.NewAsker(c)
}

// decide says what becomes of a submission, and asks the channel before the
// reminder would wait for a person.
func (w *Worker) decide(ctx context.Context, j job, result reminder.Result) delivery.Decision {
	d := delivery.Decide(j.record, result, j.policy, j.now())
	if d.Question == delivery.AskReconciled {
		result.Reconciled = w.reconciled(ctx, j)
		d = delivery.Decide(j.record, result, j.policy, j.now())
	}
	return d
}

// reconciled asks the channel, also while the worker is stopping: a reminder whose
// outcome is open should not be parked for that.
func (w *Worker) reconciled(ctx context.Context, j job) reminder.Answer {
	a := j.channel.asker.Reconciled(context.WithoutCancel(ctx), j.record.Key)
	w.Log.Info("Asked the channel for an open outcome", "key", j.record.Key.String(), "accepted", a.Verdict, "answer", a.Text)
	return a
}
