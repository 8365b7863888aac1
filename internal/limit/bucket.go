package limit

import "time"

// Bucket is a token bucket. In any stretch of time it gives at most burst tokens
// and those that the rate adds. The zero value gives none.
type Bucket struct {
	rate, burst, tokens float64
	at                  time.Time
}

// idle is how long to wait where the rate is 0: until it is set anew.
const idle = time.Second

// Set is the bucket with another rate per second and another burst. It gains no
// token by that, and loses those beyond the burst.
func (b Bucket) Set(rate, burst float64, now time.Time) Bucket {
	b = b.filled(now)
	b.rate, b.burst = rate, burst
	b.tokens = min(b.tokens, burst)
	return b
}

// Take takes a token, or says how long to wait until one may be there.
func (b Bucket) Take(now time.Time) (Bucket, time.Duration) {
	b = b.filled(now)
	if b.tokens >= 1 {
		b.tokens--
		return b, 0
	}
	if b.rate <= 0 {
		return b, idle
	}
	wait := time.Duration((1 - b.tokens) / b.rate * float64(time.Second))
	return b, min(wait, idle) + time.Microsecond
}

// Back gives a token back that was not used.
func (b Bucket) Back() Bucket {
	b.tokens = min(b.tokens+1, b.burst)
	return b
}

// filled is the bucket with what has come by now. A clock that was put back brings
// nothing.
func (b Bucket) filled(now time.Time) Bucket {
	if elapsed := now.Sub(b.at).Seconds(); elapsed > 0 && !b.at.IsZero() {
		b.tokens = min(b.tokens+elapsed*b.rate, b.burst)
	}
	b.at = now
	return b
}
