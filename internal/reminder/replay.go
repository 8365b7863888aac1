package reminder

import "time"

// ReplayAction is what a ReminderReplay does with a dead letter.
type ReplayAction string

// The actions of a ReminderReplay: try again under the same key, or close without
// a send.
const (
	ActionReplay  ReplayAction = "Replay"
	ActionDiscard ReplayAction = "Discard"
)

// Replay is the audit entry of one ReminderReplay in the record of a reminder, and
// what makes it happen once: an object whose UID is in the record has handled it.
type Replay struct {
	// UID and Name identify the ReminderReplay, in the reminder's namespace. Who
	// created it stands in the API server's audit log, under the UID.
	UID  string `json:"uid"`
	Name string `json:"name"`
	// Action is what was done, Why the reason that the object gives, cut to 256
	// bytes, and Time when it was done.
	Action ReplayAction `json:"action"`
	Why    string       `json:"why"`
	Time   time.Time    `json:"time"`
	// Reason and DeadTime are those of the death that it answered.
	Reason   Reason    `json:"reason"`
	DeadTime time.Time `json:"deadTime"`
	// Attempts and Takeovers are those of the record up to then: the retry budget
	// begins anew behind them.
	Attempts  int `json:"attempts,omitempty"`
	Takeovers int `json:"takeovers,omitempty"`
	// DeadlineTime is the deadline from then on.
	DeadlineTime time.Time `json:"deadlineTime"`
}

// HandledBy answers the audit entry of the ReminderReplay with that UID; false when
// it has not handled the reminder.
func (r Record) HandledBy(uid string) (Replay, bool) {
	for _, entry := range r.Replays {
		if entry.UID == uid {
			return entry, true
		}
	}
	return Replay{}, false
}

// LastReplay is the newest entry with ActionReplay; the zero value when the reminder
// was never replayed.
func (r Record) LastReplay() Replay {
	var last Replay
	for _, entry := range r.Replays {
		if entry.Action == ActionReplay {
			last = entry
		}
	}
	return last
}
