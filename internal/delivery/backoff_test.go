package delivery_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const forever = time.Duration(math.MaxInt64)

func TestBackoffStaysUnderItsCeiling(t *testing.T) {
	t.Parallel()
	exponential := reminder.Retry{InitialDelay: 30 * time.Second, Factor: 2, MaxDelay: 15 * time.Minute}
	tests := map[string]struct {
		retry       reminder.Retry
		attempts    int
		wantCeiling time.Duration
	}{
		"the first retry waits at most the initial delay":      {exponential, 1, 30 * time.Second},
		"the second at most twice that":                        {exponential, 2, time.Minute},
		"the fifth at most sixteen times that":                 {exponential, 5, 8 * time.Minute},
		"the sixth is capped":                                  {exponential, 6, 15 * time.Minute},
		"the 2147483648th is capped and does not overflow":     {exponential, math.MaxInt32 + 1, 15 * time.Minute},
		"a count below one is the first":                       {exponential, 0, 30 * time.Second},
		"a negative count is the first":                        {exponential, -7, 30 * time.Second},
		"a factor of zero repeats the initial delay":           {reminder.Retry{InitialDelay: time.Second}, 9, time.Second},
		"a factor below one never shortens":                    {reminder.Retry{InitialDelay: time.Second, Factor: 0.5}, 9, time.Second},
		"no cap: it grows beyond the range and stays positive": {reminder.Retry{InitialDelay: time.Hour, Factor: 10}, math.MaxInt32 + 1, forever},
		"a cap at the end of the range":                        {reminder.Retry{InitialDelay: time.Hour, Factor: 10, MaxDelay: forever}, 1000, forever},
		"a cap below the initial delay":                        {reminder.Retry{InitialDelay: time.Hour, Factor: 2, MaxDelay: time.Minute}, 1, time.Minute},
		"the largest initial delay":                            {reminder.Retry{InitialDelay: forever, Factor: 2}, 2, forever},
		"a factor beyond all bounds":                           {reminder.Retry{InitialDelay: time.Nanosecond, Factor: math.MaxFloat64, MaxDelay: time.Hour}, 3, time.Hour},
		"no initial delay at all: at once, however often":      {reminder.Retry{Factor: 2, MaxDelay: time.Hour}, math.MaxInt32 + 1, 0},
		"a negative initial delay: at once, never in the past": {reminder.Retry{InitialDelay: -time.Hour, Factor: 2, MaxDelay: time.Hour}, 3, 0},
		"a single explicit delay in the past is none":          {reminder.Retry{Delays: []time.Duration{-time.Hour}}, 1, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range 100 {
				k := key
				k.Recipient += string(rune('a' + i))
				got := delivery.Backoff(tt.retry, tt.attempts, k)
				if got < 0 || got > tt.wantCeiling || got == 0 && tt.wantCeiling > time.Microsecond {
					t.Fatalf("got %s, want it in (0, %s]", got, tt.wantCeiling)
				}
			}
		})
	}
}

func TestExplicitDelaysAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	retry := reminder.Retry{Delays: []time.Duration{5 * time.Minute, 10 * time.Minute}, InitialDelay: time.Hour, Factor: 3}
	for attempts, want := range map[int]time.Duration{-1: 5 * time.Minute, 0: 5 * time.Minute, 1: 5 * time.Minute, 2: 10 * time.Minute, 3: 10 * time.Minute, math.MaxInt32 + 1: 10 * time.Minute} {
		if got := delivery.Backoff(retry, attempts, key); got != want {
			t.Errorf("after %d submissions: got %s, want %s", attempts, got, want)
		}
	}
}

func TestJitterIsStableAndSpread(t *testing.T) {
	t.Parallel()
	retry := reminder.Retry{InitialDelay: time.Minute, Factor: 1}
	const n = 4000
	var quarters [4]int
	for i := range n {
		k := key
		k.Slot = reminder.SlotOf(release.Add(time.Duration(i) * time.Minute))
		d := delivery.Backoff(retry, 1, k)
		if again := delivery.Backoff(retry, 1, k); again != d {
			t.Fatalf("the same decision twice: %s, then %s", d, again)
		}
		quarters[min(int(4*d/time.Minute), 3)]++
	}
	for i, got := range quarters {
		if got < n/4-n/20 || got > n/4+n/20 {
			t.Errorf("quarter %d of the delay got %d of %d: not even", i, got, n)
		}
	}
}

func TestBackoffIsNeverNegative(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		retry := reminder.Retry{
			InitialDelay: time.Duration(rapid.Int64().Draw(t, "initial")), Factor: rapid.Float64().Draw(t, "factor"),
			MaxDelay: time.Duration(rapid.Int64().Draw(t, "max")),
		}
		if d := delivery.Backoff(retry, rapid.Int().Draw(t, "attempts"), key); d < 0 {
			t.Fatalf("%+v: %s", retry, d)
		}
	})
}
