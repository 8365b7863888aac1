package broker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// TallyStore keeps the counters of each schedule together with the ledger
// revision that they include, one value and one compare-and-set per schedule.
type TallyStore struct{ bucket }

// checkpointKey cannot be a schedule's: those have two tokens.
const checkpointKey = "checkpoint"

func totalsKey(namespace, schedule string) string {
	return reminder.Escape(namespace) + "." + reminder.Escape(schedule)
}

// Totals reads the counters of a schedule and the revision to save over; an
// empty value and 0 when there are none yet.
func (t *TallyStore) Totals(ctx context.Context, namespace, schedule string) (reminder.Totals, uint64, error) {
	value, revision, err := t.get(ctx, totalsKey(namespace, schedule))
	if isNotFound(err) {
		return reminder.Totals{Namespace: namespace, Schedule: schedule}, 0, nil
	}
	if err != nil {
		return reminder.Totals{}, 0, err
	}
	totals, err := reminder.DecodeTotals(value)
	if err != nil {
		return reminder.Totals{}, 0, fmt.Errorf("%s: %w", t.what("get", totalsKey(namespace, schedule)), err)
	}
	return totals, revision, nil
}

// SaveTotals stores the counters of a schedule by compare-and-set.
func (t *TallyStore) SaveTotals(ctx context.Context, totals reminder.Totals, last uint64) error {
	value, err := totals.Encode()
	if err != nil {
		return fmt.Errorf("encode totals of %s/%s: %w", totals.Namespace, totals.Schedule, err)
	}
	_, err = t.write(ctx, totalsKey(totals.Namespace, totals.Schedule), value, last, 0)
	return err
}

// ForgetTotals removes the counters of a schedule.
func (t *TallyStore) ForgetTotals(ctx context.Context, namespace, schedule string) error {
	return t.forget(ctx, totalsKey(namespace, schedule))
}

// Checkpoint is the ledger revision up to which every schedule's counters are
// complete; 0 before the first.
func (t *TallyStore) Checkpoint(ctx context.Context) (uint64, error) {
	value, _, err := t.get(ctx, checkpointKey)
	if isNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var revision uint64
	if err := json.Unmarshal(value, &revision); err != nil {
		return 0, fmt.Errorf("%s: %w", t.what("get", checkpointKey), reminder.ErrMalformed)
	}
	return revision, nil
}

// SaveCheckpoint stores the checkpoint. An older one may overwrite a newer one:
// folding a revision twice has no effect.
func (t *TallyStore) SaveCheckpoint(ctx context.Context, revision uint64) error {
	value, err := json.Marshal(revision)
	if err != nil {
		return fmt.Errorf("encode checkpoint: %w", err)
	}
	return t.put(ctx, checkpointKey, value, 0)
}
