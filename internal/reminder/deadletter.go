package reminder

import (
	"encoding/json"
	"fmt"
	"time"
)

// DeadLetter is one message of the stream REMINDERS_DEAD: a reminder whose
// automatic policy has ended. It holds no address and no text.
type DeadLetter struct {
	SchemaVersion int       `json:"schemaVersion"`
	Key           Key       `json:"key"`
	Owner         Owner     `json:"owner"`
	Reason        Reason    `json:"reason"`
	Attempts      int       `json:"attempts"`
	ReleaseTime   time.Time `json:"releaseTime"`
	DeadlineTime  time.Time `json:"deadlineTime"`
	DeadTime      time.Time `json:"deadTime"`
	// Diagnostic is redacted, at most 256 characters.
	Diagnostic string `json:"diagnostic,omitempty"`
}

// DeadLetterOf is the dead letter of a dead record.
func DeadLetterOf(r Record) DeadLetter {
	return DeadLetter{
		SchemaVersion: 1, Key: r.Key, Owner: OwnerOf(r.Reason), Reason: r.Reason, Attempts: r.Attempts,
		ReleaseTime: r.ReleaseTime, DeadlineTime: r.DeadlineTime, DeadTime: r.FinishTime, Diagnostic: r.Diagnostic,
	}
}

// Encode is the body of the dead letter's message.
func (d DeadLetter) Encode() ([]byte, error) { return json.Marshal(d) }

// DecodeDeadLetter reads the body of a dead letter.
func DecodeDeadLetter(data []byte) (DeadLetter, error) {
	var d DeadLetter
	if err := decode(data, 1, &d); err != nil {
		return DeadLetter{}, fmt.Errorf("decode dead letter: %w", err)
	}
	return d, nil
}
