package limit_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/limit"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var nine = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)

var (
	accepted  = reminder.Result{Outcome: reminder.Accepted}
	failing   = reminder.Result{Outcome: reminder.Transient, Fault: reminder.FaultEndpoint, Diagnostic: "status 500"}
	refused   = reminder.Result{Outcome: reminder.Transient, Fault: reminder.FaultChannel, Diagnostic: "code 535"}
	gone      = reminder.Result{Outcome: reminder.Permanent, Reason: reminder.EndpointGone, Fault: reminder.FaultGone}
	greylist  = reminder.Result{Outcome: reminder.Transient}
	invalid   = reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidRecipient}
	silence   = reminder.Result{Outcome: reminder.Unknown}
	throttled = reminder.Result{Outcome: reminder.Transient, Fault: reminder.FaultThrottled}
	asked     = reminder.Result{Outcome: reminder.Transient, Fault: reminder.FaultThrottled, RetryAfter: time.Minute}
)

// walk is a breaker through outcomes at one instant, none of a probe.
func walk(results ...reminder.Result) (b limit.Breaker) {
	for _, r := range results {
		b = b.Told(r, false, nine, 0.5)
	}
	return b
}

func times(n int, r reminder.Result) []reminder.Result {
	all := make([]reminder.Result, n)
	for i := range all {
		all[i] = r
	}
	return all
}

func TestWhatOpensTheBreaker(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		after []reminder.Result
		want  reminder.PauseCause
	}{
		"nothing":                                    {nil, ""},
		"a fault of the channel, at once":            {[]reminder.Result{refused}, reminder.PauseRefused},
		"410, at once":                               {[]reminder.Result{gone}, reminder.PauseGone},
		"one failure less than the threshold":        {times(limit.Threshold-1, failing), ""},
		"as many failures as the threshold":          {times(limit.Threshold, failing), reminder.PauseFailing},
		"an acceptance in between starts anew":       {append(append(times(limit.Threshold-1, failing), accepted), times(limit.Threshold-1, failing)...), ""},
		"a refusal of one reminder is an answer too": {append(append(times(limit.Threshold-1, failing), invalid), failing), ""},
		"greylisting, however often":                 {times(100, greylist), ""},
		"429 without a time":                         {times(100, throttled), ""},
		"429 with Retry-After":                       {[]reminder.Result{asked}, reminder.PauseAsked},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reminder.PauseCause("")
			if p := walk(tt.after...).Paused(); p != nil {
				got = p.Cause
			}
			if got != tt.want {
				t.Errorf("cause %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOneProbeDecides(t *testing.T) {
	t.Parallel()
	open := walk(refused)
	if _, v, wait := open.Ask(nine); v != limit.Wait || wait <= 0 || wait > 5*time.Second {
		t.Errorf("right after the fault: %s, %s", v, wait)
	}
	later := open.Paused().UntilTime
	half, v, _ := open.Ask(later)
	if v != limit.Probe {
		t.Fatalf("at its time: %s", v)
	}
	if _, v, _ := half.Ask(later.Add(time.Hour)); v != limit.Wait {
		t.Errorf("beside the probe: %s", v)
	}
	if _, v, _ := half.Abandoned().Ask(later); v != limit.Probe {
		t.Errorf("after a probe that came to nothing: %s", v)
	}
	for name, alive := range map[string]reminder.Result{"accepted": accepted, "a refusal of the reminder": invalid, "greylisted": greylist, "429": throttled} {
		if b := half.Told(alive, true, later, 0); b.Paused() != nil {
			t.Errorf("still open after a probe: %s", name)
		}
	}
	for name, still := range map[string]reminder.Result{"refused": refused, "failing": failing, "no word": silence, "gone": gone} {
		b := half.Told(still, true, later, 0.5)
		if p := b.Paused(); p == nil || !p.UntilTime.After(later) || !p.SinceTime.Equal(nine) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if b := half.Told(accepted, false, later, 0); b.Paused() == nil {
		t.Error("a submission from before closed the breaker")
	}
}

func TestAPauseThatWasAskedForEndsWithoutAProbe(t *testing.T) {
	t.Parallel()
	b := walk(asked)
	if _, v, wait := b.Ask(nine.Add(59 * time.Second)); v != limit.Wait || wait != time.Second {
		t.Errorf("before its end: %s, %s", v, wait)
	}
	if b, v, _ := b.Ask(nine.Add(time.Minute)); v != limit.Go || b.Paused() != nil {
		t.Errorf("at its end: %s, %v", v, b.Paused())
	}
	long := asked
	long.RetryAfter = 24 * time.Hour
	if p := walk(long).Paused(); p.UntilTime.Sub(nine) != 5*time.Minute {
		t.Errorf("a receiver stops the channel for %s", p.UntilTime.Sub(nine))
	}
}

// The pauses double up to the longest, and half of each is left to chance.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	for cause, tt := range map[reminder.PauseCause]struct {
		res            reminder.Result
		first, longest time.Duration
	}{
		reminder.PauseFailing: {failing, time.Second, time.Minute},
		reminder.PauseRefused: {refused, 5 * time.Second, 5 * time.Minute},
		reminder.PauseGone:    {gone, 5 * time.Minute, time.Hour},
	} {
		rapid.Check(t, func(t *rapid.T) {
			b, now, want := limit.Breaker{}, nine, tt.first
			for range limit.Threshold {
				b = b.Told(tt.res, false, now, rapid.Float64Range(0, 0.999).Draw(t, "share"))
			}
			for range 12 {
				p := b.Paused()
				if wait := p.UntilTime.Sub(now); p.Cause != cause || wait < want/2 || wait >= want {
					t.Fatalf("%s: paused for %s, want %s to %s", p.Cause, wait, want/2, want)
				}
				now, want = p.UntilTime, min(2*want, tt.longest)
				var v limit.Verdict
				if b, v, _ = b.Ask(now); v != limit.Probe {
					t.Fatalf("verdict %s", v)
				}
				b = b.Told(tt.res, true, now, rapid.Float64Range(0, 0.999).Draw(t, "share"))
			}
		})
	}
}

// Whatever happens, nothing is submitted during a pause but one probe at a time,
// a pause is bounded whatever the clock does, and a live receiver is found.
func TestBreakerProperties(t *testing.T) {
	t.Parallel()
	results := []reminder.Result{accepted, failing, refused, gone, greylist, invalid, silence, throttled, asked}
	rapid.Check(t, func(t *rapid.T) {
		b, now, probes, running := limit.Breaker{}, nine, 0, 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-3600, 3600).Draw(t, "seconds")) * time.Second)
			if running > 0 && rapid.Bool().Draw(t, "answer") {
				probe := probes > 0 && rapid.Bool().Draw(t, "of the probe")
				if probe {
					probes--
				}
				running--
				b = b.Told(rapid.SampledFrom(results).Draw(t, "result"), probe, now, rapid.Float64Range(0, 0.999).Draw(t, "share"))
				continue
			}
			paused := b.Paused()
			next, v, wait := b.Ask(now)
			switch {
			case v == limit.Go && paused != nil && paused.Cause != reminder.PauseAsked:
				t.Fatalf("submits during a pause: %+v", paused)
			case v == limit.Probe && probes > 0:
				t.Fatal("two probes at once")
			case v == limit.Wait && (wait <= 0 || wait > time.Hour):
				t.Fatalf("waits %s", wait)
			}
			if v == limit.Probe {
				probes++
			}
			if v != limit.Wait {
				running++
				b = next
			}
		}
	})
}
