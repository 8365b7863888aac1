package channel

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// judge is the result that a receiver's answer means.
//
//	2xx, or one of the channel's success codes   Accepted
//	another 2xx when the channel lists its own   Unknown
//	408, 5xx                                     Transient, a fault of the endpoint
//	429, and 503 with Retry-After                Transient, throttled
//	410                                          Permanent, EndpointGone
//	3xx (not followed), other 4xx                Permanent, PermanentFailure
//	anything else                                Unknown
func judge(a answer, success []int, now time.Time) reminder.Result {
	status := a.status
	text := "status " + strconv.Itoa(status)
	class := status / 100
	switch {
	case slices.Contains(success, status), class == 2 && len(success) == 0:
		return reminder.Result{Outcome: reminder.Accepted, Receipt: text}
	case class == 2:
		return reminder.Result{Outcome: reminder.Unknown, Diagnostic: text + " is not one of the channel's success codes"}
	case class == 5, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		wait := retryAfter(a.retryAfter, now)
		return reminder.Result{Outcome: reminder.Transient, Fault: overload(status, wait), RetryAfter: wait, Diagnostic: text}
	case status == http.StatusGone:
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.EndpointGone, Fault: reminder.FaultGone, Diagnostic: text}
	case class == 3:
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.PermanentFailure, Diagnostic: text + ": redirects are not followed"}
	case class == 4:
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.PermanentFailure, Diagnostic: text}
	}
	return reminder.Result{Outcome: reminder.Unknown, Diagnostic: text}
}

// overload is what a transient answer tells of the endpoint: that it asks for less,
// or that it fails. Retry-After is taken by any transient answer; only with 503
// does it say that nobody else should come either.
func overload(status int, wait time.Duration) reminder.Fault {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && wait > 0 {
		return reminder.FaultThrottled
	}
	return reminder.FaultEndpoint
}
