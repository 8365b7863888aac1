package reminder

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Key is the stable identity of a reminder: one occurrence for one recipient on
// one channel. It holds neither the attempt nor any object's UID, so that
// re-creating a schedule does not remind a customer twice.
type Key struct {
	// Namespace and Schedule name the ReminderSchedule.
	Namespace string `json:"namespace"`
	Schedule  string `json:"schedule"`
	// Slot is the due instant in UTC, RFC 3339 with whole seconds
	// (2026-11-03T08:00:00Z), or a business date (2026-11-03).
	Slot string `json:"slot"`
	// Recipient is the recipient's id, as the user wrote it.
	Recipient string `json:"recipient"`
	// Channel is the name of the ReminderChannel, in the same namespace.
	Channel string `json:"channel"`
}

// SlotOf is the slot of an occurrence that falls due at t.
func SlotOf(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

// String is the form that people read and type:
// shop/renewal-notice/2026-11-03T08:00:00Z/acct_4821.
func (k Key) String() string {
	return k.Namespace + "/" + k.Schedule + "/" + k.Slot + "/" + k.Recipient
}

// ID is the hash that channels see as the idempotency key: 128 bits of SHA-256
// over every part of the key, base32, 26 characters of a-z2-7.
func (k Key) ID() string {
	return digest(k.Namespace, k.Schedule, k.Slot, k.Recipient, k.Channel)
}

// Token is the key's name in the ledger and the tail of its subjects:
// <namespace>.<schedule>.<slot>.<hash of recipient and channel>, each part
// escaped to the KV alphabet, so that a.b and a + b never collide.
func (k Key) Token() string {
	return Escape(k.Namespace) + "." + k.scheduleTail()
}

func (k Key) scheduleTail() string {
	return Escape(k.Schedule) + "." + compactSlot(k.Slot) + "." + digest(k.Recipient, k.Channel)
}

// Subject is the subject of the reminder's messages behind a stage
// (reminders.<p>.sched or reminders.<p>.due):
// <namespace>.<channel>.<schedule>.<slot>.<hash>.
func (k Key) Subject() string {
	return Escape(k.Namespace) + "." + Escape(k.Channel) + "." + k.scheduleTail()
}

// Validate tells whether all parts are there, survive JSON, and the slot has
// exactly one of its two forms: another spelling of the same instant would be
// another key, and a second reminder.
func (k Key) Validate() error {
	if err := k.validateParts(); err != nil {
		return err
	}
	if k.Recipient == "" {
		return fmt.Errorf("key: recipient is empty: %w", ErrMalformed)
	}
	return nil
}

// GapKey is the key of the record of a run of missed occurrences, by its first due
// time. It names no recipient, which no reminder's key does.
func GapKey(namespace, schedule, channel string, first time.Time) Key {
	return Key{Namespace: namespace, Schedule: schedule, Slot: SlotOf(first), Channel: channel}
}

func (k Key) validateGap() error {
	if k.Recipient != "" {
		return fmt.Errorf("key of a gap: recipient is not empty: %w", ErrMalformed)
	}
	return k.validateParts()
}

func (k Key) validateParts() error {
	parts := []struct{ name, value string }{
		{"namespace", k.Namespace}, {"schedule", k.Schedule}, {"channel", k.Channel},
	}
	for _, part := range parts {
		if part.value == "" {
			return fmt.Errorf("key: %s is empty: %w", part.name, ErrMalformed)
		}
		if !utf8.ValidString(part.value) {
			return fmt.Errorf("key: %s is not valid UTF-8: %w", part.name, ErrMalformed)
		}
	}
	if !utf8.ValidString(k.Recipient) {
		return fmt.Errorf("key: recipient is not valid UTF-8: %w", ErrMalformed)
	}
	if t, err := time.Parse(time.RFC3339, k.Slot); err == nil && SlotOf(t) == k.Slot {
		return nil
	}
	if t, err := time.Parse(time.DateOnly, k.Slot); err == nil && t.Format(time.DateOnly) == k.Slot {
		return nil
	}
	return fmt.Errorf("key: slot is neither a UTC instant in whole seconds nor a date: %w", ErrMalformed)
}

// compactSlot leaves out what the KV alphabet does not have:
// 2026-11-03T08:00:00Z becomes 20261103T080000Z.
func compactSlot(slot string) string {
	return Escape(strings.NewReplacer("-", "", ":", "").Replace(slot))
}

// RecipientToken is the key of a recipient in the audience bucket, behind
// <namespace>.<schedule>.
func RecipientToken(id string) string { return digest(id) }

// digest is 128 bits of SHA-256 over the parts, each preceded by its length so
// that ("ab","c") and ("a","bc") differ.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:16]))
}
