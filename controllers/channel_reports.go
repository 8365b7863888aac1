package controllers

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// reports is what the live workers of a channel say together.
type reports struct {
	workers, paused  int
	inFlight, atMost int64
	throttled        int64
	// until is when the first worker tries again, and fault the pause of one that the
	// receiver has not asked for.
	until time.Time
	fault *reminder.Pause
}

func foldReports(live []reminder.Worker) reports {
	r := reports{workers: len(live)}
	for _, w := range live {
		r.inFlight += int64(w.InFlight)
		r.atMost += int64(max(w.Limit, w.InFlight))
		r.throttled += w.Throttled
		if w.Pause == nil {
			continue
		}
		if r.paused++; r.paused == 1 || w.Pause.UntilTime.Before(r.until) {
			r.until = w.Pause.UntilTime
		}
		if _, ok := remedies[w.Pause.Cause]; ok && r.fault == nil {
			r.fault = w.Pause
		}
	}
	return r
}

// describe writes the numbers. What a worker has given back, and what is on its way
// to one, waits like what none has fetched.
func (r reports) describe(s *v1alpha1.ReminderChannelStatus, b broker.Backlog) {
	s.InFlight = min(r.inFlight, b.InFlight)
	s.Backlog = b.Waiting + b.InFlight - s.InFlight
	s.Throttled, s.Saturation, s.PausedUntilTime = r.throttled, nil, nil
	if r.atMost > 0 {
		s.Saturation = new(int32(100 * r.inFlight / r.atMost))
	}
	if r.paused > 0 {
		s.PausedUntilTime = new(metav1.NewTime(r.until))
	}
}

// remedies say for each cause of a pause its reason, what it is, and what to do.
var remedies = map[reminder.PauseCause]struct{ reason, what, remedy string }{
	reminder.PauseRefused: {v1alpha1.ReasonChannelPaused, "the receiver refuses the channel itself", "correct the credentials, the certificate or the address; a changed Secret is read within about two minutes"},
	reminder.PauseFailing: {v1alpha1.ReasonCircuitOpen, "the receiver failed many times in a row", "see why it does; sending goes on by itself when it answers again"},
	reminder.PauseGone:    {v1alpha1.ReasonEndpointGone, "the receiver says that the endpoint is gone (410)", "point http.url to where it is now, or delete the channel; an edit tries it at once"},
}

// summary is whether the channel sends. A receiver that asked for a pause is as it
// should be.
func (r reports) summary() condition.Summary {
	switch {
	case r.fault != nil:
		cause := remedies[r.fault.Cause]
		text := fmt.Sprintf("%s: %s (%d of %d workers paused); %s. Reminders wait up to their deadline, and no attempt is counted", cause.what, r.fault.Diagnostic, r.paused, r.workers, cause.remedy)
		return condition.Waiting(cause.reason, text)
	case r.paused > 0:
		return condition.Ready(v1alpha1.ReasonAvailable, "registered; the receiver asked for a pause, and workers keep it")
	}
	return condition.Ready(v1alpha1.ReasonAvailable, "registered; its consumer and its worker Deployment are in place")
}
