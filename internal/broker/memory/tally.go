package memory

import (
	"context"
	"encoding/json"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Tally is as broker.TallyStore.
type Tally struct {
	*Broker
	bucket *bucket
}

const checkpoint = "checkpoint"

// Totals reads the counters of a schedule and the revision to save over.
func (t Tally) Totals(_ context.Context, namespace, schedule string) (reminder.Totals, uint64, error) {
	now, unlock := t.lock()
	defer unlock()
	value, revision, err := t.bucket.get(now, path(namespace, schedule))
	if isNotFound(err) {
		return reminder.Totals{Namespace: namespace, Schedule: schedule}, 0, nil
	}
	if err != nil {
		return reminder.Totals{}, 0, err
	}
	totals, err := reminder.DecodeTotals(value)
	return totals, revision, err
}

// SaveTotals stores the counters of a schedule by compare-and-set.
func (t Tally) SaveTotals(_ context.Context, totals reminder.Totals, last uint64) error {
	value, err := totals.Encode()
	if err != nil {
		return err
	}
	now, unlock := t.lock()
	defer unlock()
	_, err = t.bucket.write(now, path(totals.Namespace, totals.Schedule), value, last, 0)
	return err
}

// ForgetTotals removes the counters of a schedule.
func (t Tally) ForgetTotals(_ context.Context, namespace, schedule string) error {
	t.forget(t.bucket, path(namespace, schedule), true)
	return nil
}

// Checkpoint is the revision up to which all counters are complete.
func (t Tally) Checkpoint(context.Context) (revision uint64, err error) {
	now, unlock := t.lock()
	defer unlock()
	value, _, err := t.bucket.get(now, checkpoint)
	if isNotFound(err) {
		return 0, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &revision)
	}
	return revision, err
}

// SaveCheckpoint stores the checkpoint, whatever is there.
func (t Tally) SaveCheckpoint(_ context.Context, revision uint64) error {
	value, err := json.Marshal(revision)
	if err != nil {
		return err
	}
	now, unlock := t.lock()
	defer unlock()
	t.bucket.put(now, checkpoint, value, 0)
	return nil
}
