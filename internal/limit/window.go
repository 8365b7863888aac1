package limit

import "github.com/reminder-operator/reminder-operator/internal/reminder"

// Window is how many submissions one worker has under way at most: additive
// increase, multiplicative decrease. It halves when the receiver is overloaded
// and grows by one for each window of acceptances.
type Window struct {
	limit float64
	most  int
	// deaf is how many outcomes are not counted against it, because they speak of
	// submissions from before the last decrease.
	deaf int
}

// NewWindow is a window that is wide open.
func NewWindow(most int) Window { return Window{limit: float64(max(most, 1)), most: max(most, 1)} }

// Limit is how many submissions may be under way, from 1 to the most.
func (w Window) Limit() int { return min(max(int(w.limit), 1), w.most) }

// Resized is the window with another most; one that was wide open stays so.
func (w Window) Resized(most int) Window {
	most = max(most, 1)
	if w.limit >= float64(w.most) {
		w.limit = float64(most)
	}
	w.limit, w.most = min(w.limit, float64(most)), most
	return w
}

// Restarted is the window after a pause: one submission, and then more with each
// that is accepted, so that a receiver that has just come back is not run over.
func (w Window) Restarted() Window { return Window{limit: 1, most: w.most} }

// Told is the window after the outcome of a submission.
func (w Window) Told(res reminder.Result) Window {
	overloaded := res.Fault == reminder.FaultThrottled || res.Fault == reminder.FaultEndpoint
	switch {
	case overloaded && w.deaf == 0:
		w.deaf = w.Limit() - 1
		w.limit = max(w.limit/2, 1)
		return w
	case res.Outcome == reminder.Accepted:
		w.limit = min(w.limit+1/w.limit, float64(w.most))
	}
	w.deaf = max(w.deaf-1, 0)
	return w
}
