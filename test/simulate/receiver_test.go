package simulate

import (
	"context"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// sender is a process's way to the receiver.
type sender struct{ *client }

// Send hands a message over: the receiver accepts or not, and answers or not.
func (s sender) Send(ctx context.Context, m reminder.Message) reminder.Result {
	if s.isDead() {
		return reminder.Result{Outcome: reminder.Unknown}
	}
	id := m.ID + "/" + strconv.Itoa(s.submission(m.Key))
	pass(s.between(time.Millisecond, 300*time.Millisecond, id, "there"))
	if ctx.Err() != nil {
		return reminder.Result{Outcome: reminder.Unknown}
	}
	answer := 0 // once the faults have ended, it accepts
	if s.faulty() {
		answer = s.upTo(8, id, "answer")
	}
	s.note(s.name, "RECEIVER", id+" answers "+strconv.Itoa(answer))
	switch answer {
	case 4:
		return reminder.Result{Outcome: reminder.Transient, RetryAfter: time.Duration(s.upTo(30, id, "retry after")) * time.Second}
	case 5:
		return reminder.Result{Outcome: reminder.Permanent}
	case 6: // not accepted, no answer
		<-ctx.Done()
		return reminder.Result{Outcome: reminder.Unknown}
	}
	s.accept(m)
	if s.faulty() && s.chance(s.rates.crash/4, s.name, id, "in call") {
		_ = s.die("in the call, accepted")
	}
	if answer == 7 { // accepted, no answer
		<-ctx.Done()
		return reminder.Result{Outcome: reminder.Unknown}
	}
	pass(s.between(time.Millisecond, 300*time.Millisecond, id, "back"))
	return reminder.Result{Outcome: reminder.Accepted, Receipt: "ok"}
}

func (w *world) submission(key reminder.Key) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[key]++
	return w.asked[key]
}

func (w *world) accept(m reminder.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dedupes || !w.seen[m.Key] {
		w.accepted[m.Key] = append(w.accepted[m.Key], time.Now())
	}
	w.seen[m.Key] = true
}
