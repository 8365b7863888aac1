package reminder_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func second(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func TestDueCountsWhatHasFallenDue(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		totals      reminder.Totals
		wantDue     int64
		wantPending int64
		wantOldest  time.Time
	}{
		"nothing yet is no data": {},
		"outcomes count, cancellations do not": {
			totals: reminder.Totals{Sent: 5, SentLate: 2, Dead: 3, Discarded: 2, Cancelled: 9, DeadTotal: 7, Replayed: 2}, wantDue: 10,
		},
		"a reminder is due at its release, not before": {
			totals:  reminder.Totals{Outstanding: map[string]int64{second(nine): 2, second(nine.Add(time.Second)): 4}},
			wantDue: 2, wantPending: 6, wantOldest: nine,
		},
		"the oldest due is the earliest release": {
			totals:  reminder.Totals{Sent: 1, Outstanding: map[string]int64{second(nine.Add(-time.Hour)): 1, second(nine.Add(-time.Minute)): 1}},
			wantDue: 3, wantPending: 2, wantOldest: nine.Add(-time.Hour),
		},
		"what is not due yet has no oldest": {
			totals: reminder.Totals{Outstanding: map[string]int64{second(nine.Add(time.Hour)): 1}}, wantPending: 1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.totals.Due(nine); got != tt.wantDue {
				t.Errorf("due: got %d, want %d", got, tt.wantDue)
			}
			if got := tt.totals.Pending(); got != tt.wantPending {
				t.Errorf("pending: got %d, want %d", got, tt.wantPending)
			}
			if got, ok := tt.totals.OldestDue(nine); !got.Equal(tt.wantOldest) || ok == tt.wantOldest.IsZero() {
				t.Errorf("oldest due: got %s, %t; want %s", got, ok, tt.wantOldest)
			}
		})
	}
}

func TestDecodeTotalsRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		data []byte
		want error
	}{
		"nothing":         {nil, reminder.ErrMalformed},
		"null":            {[]byte("null"), reminder.ErrMalformed},
		"a newer version": {with(t, "totals", map[string]any{"schemaVersion": 2}), reminder.ErrNewerSchema},
		"version 0":       {with(t, "totals", map[string]any{"schemaVersion": 0}), reminder.ErrMalformed},
		"counts as text":  {with(t, "totals", map[string]any{"sent": "10"}), reminder.ErrMalformed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := reminder.DecodeTotals(tt.data); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestLateIsAnAcceptanceAfterLateTime(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state  reminder.State
		finish time.Time
		want   bool
	}{
		"sent in time":           {reminder.Sent, nine.Add(time.Minute), false},
		"sent at the very limit": {reminder.Sent, nine.Add(5 * time.Minute), false},
		"sent late":              {reminder.Sent, nine.Add(5*time.Minute + 1), true},
		"dead is not late":       {reminder.Dead, nine.Add(time.Hour), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sampleRecord()
			r.State, r.FinishTime = tt.state, tt.finish
			if got := r.Late(); got != tt.want || r.Footprint().Late != tt.want {
				t.Errorf("got %t, footprint %t; want %t", got, r.Footprint().Late, tt.want)
			}
		})
	}
}
