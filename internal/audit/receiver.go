package audit

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Log is what a receiver has accepted, by the readable key of reminders and by their idempotency key.
type Log struct {
	// Read is the store's clock before the log was read: what was accepted since may be missing in it.
	Read time.Time

	byKey, byID map[string]int64
}

// NewLog is an empty log.
func NewLog(read time.Time) *Log {
	return &Log{Read: read, byKey: map[string]int64{}, byID: map[string]int64{}}
}

// isID is the form of reminder.Key.ID.
var isID = regexp.MustCompile(`^[a-z2-7]{26}$`)

// Add takes a line: a reminder's key (shop/renewal-notice/2026-11-03T08:00:00Z/acct_4821), its idempotency key, or a JSON
// object with one of them as key or id. It answers false where the line says neither.
func (l *Log) Add(line string) bool {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		var object struct{ Key, ID string }
		if json.Unmarshal([]byte(line), &object) != nil {
			return false
		}
		if line = object.ID; line == "" {
			line = object.Key
		}
	}
	switch {
	case isID.MatchString(line):
		l.byID[line]++
	case strings.Count(line, "/") >= 3:
		l.byKey[line]++
	default:
		return false
	}
	return true
}

// of is how often a reminder was accepted.
func (l *Log) of(key string, group []*entry) (n int64) {
	n = l.byKey[key]
	for _, e := range group {
		n += l.byID[e.key.ID()]
	}
	return n
}

// receiver compares the ledger with the receiver's log. Reminders that differ in their channel alone have one readable
// key and are looked at together.
func (v *verdict) receiver(b *Books, f Facts) {
	v.report.Duplicates = new(int64)
	groups := map[string][]*entry{}
	for _, e := range b.entries {
		if e.is.State != reminder.Missed {
			groups[e.key.String()] = append(groups[e.key.String()], e)
		}
	}
	for key, group := range groups {
		v.accepted(key, group, f)
	}
	prefix := b.Namespace + "/" + b.Schedule + "/"
	for key := range f.Accepted.byKey {
		if strings.HasPrefix(key, prefix) && groups[key] == nil && f.Proven.covers(key[len(prefix):]) {
			v.find(AcceptedUnsent, key, "the receiver has accepted it, and the ledger has no record of it")
			*v.report.Duplicates += max(f.Accepted.byKey[key]-1, 0)
		}
	}
}

// accepted compares the reminders of one readable key.
func (v *verdict) accepted(key string, group []*entry, f Facts) {
	var sent int64
	settled, now, last := true, f.Now.Add(-f.Grace), group[0].is
	for _, e := range group {
		if e.is.State == reminder.Sent {
			sent++
			settled = settled && e.finish.Before(f.Accepted.Read.Add(-f.Grace))
		} else {
			last = e.is
		}
		settled = settled && e.written.Before(now)
	}
	n := f.Accepted.of(key, group)
	if n > max(sent, 1) {
		*v.report.Duplicates++
		v.find(Duplicate, key, "the receiver has accepted it %d times", n)
	}
	switch {
	case n < sent && settled:
		v.find(NotAccepted, key, "recorded as Sent, and the receiver has not accepted it")
	case n > 0 && sent == 0 && settled && last.Reason != "":
		v.find(AcceptedUnsent, key, "the receiver has accepted it, and the ledger says %s(%s)", last.State, last.Reason)
	case n > 0 && sent == 0 && settled:
		v.find(AcceptedUnsent, key, "the receiver has accepted it, and the ledger says %s", last.State)
	}
}

// covers tells whether the slot at the beginning of the tail of a readable key lies in a range.
func (r *Range) covers(tail string) bool {
	slot, _, _ := strings.Cut(tail, "/")
	due, err := time.Parse(time.RFC3339, slot)
	return r != nil && err == nil && due.After(r.From) && !due.After(r.Through)
}
