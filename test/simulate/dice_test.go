package simulate

import (
	"hash/fnv"
	"strconv"
	"time"
)

// dice answers the same for the same question, in whatever order questions come:
// what happens to a call depends on its name and number alone, never on which
// goroutine is faster.
type dice uint64

func (d dice) roll(parts ...string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(strconv.FormatUint(uint64(d), 10)))
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// chance is true once in n questions.
func (d dice) chance(n uint64, parts ...string) bool {
	return n > 0 && d.roll(append(parts, "chance")...)%n == 0
}

// upTo is a number in [0, n).
func (d dice) upTo(n int, parts ...string) int { return int(d.roll(parts...) % uint64(n)) }

// between is a time in [low, high), to the nanosecond, so that no two things happen
// at once.
func (d dice) between(low, high time.Duration, parts ...string) time.Duration {
	return low + time.Duration(d.roll(append(parts, "time")...)%uint64(high-low))
}

// pass lets time pass.
func pass(d time.Duration) { <-time.After(d) }
