package controllers

import (
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// What live workers report stands in status, with why they pause and what to do.
func TestReportsOfWorkersInStatus(t *testing.T) {
	t.Parallel()
	pause := func(cause reminder.PauseCause, in time.Duration) *reminder.Pause {
		now := time.Now().UTC()
		return &reminder.Pause{Cause: cause, SinceTime: now, UntilTime: now.Add(in), Diagnostic: "what the worker says"}
	}
	tests := map[string]struct {
		pauses     []*reminder.Pause // one for each worker
		wantReason string
		wantSays   []string
	}{
		"nobody is paused":            {[]*reminder.Pause{nil, nil}, v1alpha1.ReasonAvailable, nil},
		"the receiver refuses us":     {[]*reminder.Pause{pause(reminder.PauseRefused, time.Minute), nil}, v1alpha1.ReasonChannelPaused, []string{"refuses the channel itself", "what the worker says", "1 of 2 workers", "credentials"}},
		"the receiver fails":          {[]*reminder.Pause{pause(reminder.PauseFailing, time.Hour), pause(reminder.PauseFailing, time.Minute)}, v1alpha1.ReasonCircuitOpen, []string{"2 of 2 workers", "by itself"}},
		"the endpoint is gone":        {[]*reminder.Pause{pause(reminder.PauseGone, time.Minute)}, v1alpha1.ReasonEndpointGone, []string{"410", "http.url"}},
		"the receiver asked for it":   {[]*reminder.Pause{pause(reminder.PauseAsked, time.Minute)}, v1alpha1.ReasonAvailable, []string{"asked for a pause"}},
		"it asked one, fails another": {[]*reminder.Pause{pause(reminder.PauseAsked, time.Minute), pause(reminder.PauseFailing, time.Hour)}, v1alpha1.ReasonCircuitOpen, nil},
		"a cause of a newer version":  {[]*reminder.Pause{pause("Newer", time.Minute)}, v1alpha1.ReasonAvailable, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.create(aChannel(logs))
			r := s.channels()
			s.passChannel(r)
			s.wait(11 * time.Second)
			var first time.Time
			for i, p := range tt.pauses {
				w := reminder.Worker{Namespace: "shop", Channel: "mail", Name: string(rune('a' + i)), InFlight: 3, Limit: 12, Throttled: 7, Pause: p}
				if err := s.Broker.Registry.Beat(t.Context(), w); err != nil {
					t.Fatal(err)
				}
				if p != nil && (first.IsZero() || p.UntilTime.Before(first)) {
					first = p.UntilTime
				}
			}
			s.passChannel(r)
			s.wantChannel(tt.wantReason, tt.wantSays...)
			got := s.channel().Status
			if n := int64(len(tt.pauses)); int64(got.Workers) != n || got.Throttled != 7*n || got.Saturation == nil || *got.Saturation != 25 {
				t.Errorf("status %+v", got)
			}
			if got.InFlight != 0 {
				t.Errorf("%d in flight, of which the broker knows nothing", got.InFlight)
			}
			if p := got.PausedUntilTime; (p == nil) != first.IsZero() || p != nil && !p.Time.Equal(first.Truncate(time.Second)) {
				t.Errorf("paused until %v, want %s", p, first)
			}
		})
	}
}
