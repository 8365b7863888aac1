package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Jitter returns how long after its due time a reminder is released, so that the reminders of one moment are spread: whole
// seconds from 0 to limit, both included, evenly, by a hash of what makes the reminder the one it is. It depends on nothing
// else, neither the process nor the time nor other fields of the schedule, so that no edit, restart or change of the leader
// moves a reminder. schedule should hold the namespace, so that schedules of the same name are spread too.
func Jitter(limit time.Duration, schedule, recipient, slot string) time.Duration {
	seconds := uint64(max(limit, 0) / time.Second)
	if seconds == 0 {
		return 0
	}
	hash := sha256.New()
	for _, part := range []string{schedule, recipient, slot} {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return time.Duration(binary.BigEndian.Uint64(hash.Sum(nil))%(seconds+1)) * time.Second
}
