package limit

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Threshold is how many submissions in a row must meet a failing endpoint before
// the channel is paused.
const Threshold = 10

// maxAsked bounds the pause of a whole channel that a receiver can ask for; the
// reminder that it answered waits as long as it was told to.
const maxAsked = 5 * time.Minute

// pauses are the first and the longest pause by their cause.
var pauses = map[reminder.PauseCause]struct{ first, longest time.Duration }{
	reminder.PauseFailing: {time.Second, time.Minute},
	reminder.PauseRefused: {5 * time.Second, 5 * time.Minute},
	reminder.PauseGone:    {5 * time.Minute, time.Hour},
	reminder.PauseAsked:   {0, maxAsked},
}

// Breaker is whether a worker submits to its channel. The zero value does.
type Breaker struct {
	// pause stands while the breaker is open or half open.
	pause *reminder.Pause
	// failures in a row, and pauses in a row without an answer in between.
	failures, pauses int
	// probing: the one submission of the half-open breaker is under way.
	probing bool
}

// Verdict is what a breaker says to a submission.
type Verdict string

// The verdicts: submit; submit as the probe, whose outcome decides; do not.
const (
	Go    Verdict = "Go"
	Probe Verdict = "Probe"
	Wait  Verdict = "Wait"
)

// Ask is the verdict on one submission, with the breaker as it is when that is
// followed. With Wait comes how long; at least until then nothing changes by itself.
func (b Breaker) Ask(now time.Time) (Breaker, Verdict, time.Duration) {
	if b.pause == nil {
		return b, Go, 0
	}
	if b.probing {
		return b, Wait, time.Second
	}
	// A clock that was put back must not make a pause endless.
	wait := min(b.pause.UntilTime.Sub(now), pauses[b.pause.Cause].longest)
	switch {
	case wait > 0:
		return b, Wait, wait
	case b.pause.Cause == reminder.PauseAsked:
		return Breaker{failures: b.failures}, Go, 0
	}
	b.probing = true
	return b, Probe, 0
}

// Told is the breaker after the outcome of a submission, of the probe or of
// another one. While it is open the others tell nothing new: they began before.
// Share, in [0, 1), spreads the pauses of workers that fail together.
func (b Breaker) Told(res reminder.Result, probe bool, now time.Time, share float64) Breaker {
	if b.pause != nil && !probe {
		return b
	}
	if probe {
		b.probing = false
	}
	switch cause := b.causeOf(res, probe); cause {
	case "":
		return b.answered(res)
	case reminder.PauseAsked:
		return Breaker{pause: paused(nil, cause, res, now, min(res.RetryAfter, maxAsked))}
	default:
		b.failures, b.pauses = 0, b.pauses+1
		b.pause = paused(b.pause, cause, res, now, backoff(cause, b.pauses, share))
		return b
	}
}

// Abandoned is the breaker after a probe that came to no submission.
func (b Breaker) Abandoned() Breaker {
	b.probing = false
	return b
}

// Paused is the pause that stands; nil when there is none.
func (b Breaker) Paused() *reminder.Pause { return b.pause }

// causeOf is why an outcome opens the breaker; empty when it does not.
func (b Breaker) causeOf(res reminder.Result, probe bool) reminder.PauseCause {
	switch res.Fault {
	case reminder.FaultChannel:
		return reminder.PauseRefused
	case reminder.FaultGone:
		return reminder.PauseGone
	case reminder.FaultThrottled:
		if res.RetryAfter > 0 {
			return reminder.PauseAsked
		}
	case reminder.FaultEndpoint:
		if probe || b.failures+1 >= Threshold {
			return reminder.PauseFailing
		}
	}
	if probe && res.Outcome == reminder.Unknown {
		return reminder.PauseFailing // no word from the receiver yet
	}
	return ""
}

// answered is the breaker after an outcome that does not open it.
func (b Breaker) answered(res reminder.Result) Breaker {
	if res.Fault == reminder.FaultEndpoint {
		return Breaker{failures: b.failures + 1}
	}
	return Breaker{}
}

// paused begins a pause, or goes on with the one before.
func paused(before *reminder.Pause, cause reminder.PauseCause, res reminder.Result, now time.Time, wait time.Duration) *reminder.Pause {
	p := &reminder.Pause{Cause: cause, SinceTime: now, UntilTime: now.Add(wait), Diagnostic: res.Diagnostic}
	if before != nil {
		p.SinceTime = before.SinceTime
	}
	return p
}

// backoff is the n-th pause in a row: twice the one before, up to the longest, of
// which the upper half is left to chance.
func backoff(cause reminder.PauseCause, n int, share float64) time.Duration {
	p := pauses[cause]
	wait := p.first
	for range n - 1 {
		if wait = min(2*wait, p.longest); wait == p.longest {
			break
		}
	}
	return wait/2 + time.Duration(float64(wait/2)*share)
}
