package delivery

import (
	"hash/fnv"
	"math"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Backoff is the wait after a number of submissions (1 or more), never negative.
// Explicit delays are taken as they are, the last one repeating; exponential ones
// get full jitter: a share in (0, 1] of min(maxDelay, initialDelay × factor^(n-1)).
// The share is a stable hash of key and count, so that a repeated decision is
// the same decision.
func Backoff(retry reminder.Retry, attempts int, key reminder.Key) time.Duration {
	n := max(attempts, 1)
	if len(retry.Delays) > 0 {
		return max(retry.Delays[min(n, len(retry.Delays))-1], 0)
	}
	if retry.InitialDelay <= 0 {
		return 0 // nothing times an infinite factor would be no number
	}
	ceiling := float64(retry.InitialDelay) * math.Pow(max(retry.Factor, 1), float64(n-1))
	if limit := float64(retry.MaxDelay); retry.MaxDelay > 0 && ceiling > limit {
		ceiling = limit
	}
	if ceiling > float64(math.MaxInt64)/2 {
		ceiling = float64(math.MaxInt64) / 2
	}
	return time.Duration(ceiling * share(key.ID()+"/"+strconv.Itoa(n)))
}

// share maps text to a number in (0, 1], evenly.
func share(s string) float64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	x := h.Sum64()
	x ^= x >> 33 // the high bits of FNV mix badly for short texts
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return (float64(x>>11) + 1) / (1 << 53)
}
