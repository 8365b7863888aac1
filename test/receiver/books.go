package receiver

import (
	"bytes"
	"crypto/sha256"
)

// Stats are the books of a receiver.
type Stats struct {
	// Arrivals counts requests with a good signature.
	Arrivals int `json:"arrivals"`
	// Accepted counts distinct idempotency keys that were accepted.
	Accepted int `json:"accepted"`
	// Duplicates counts keys whose effect happened more than once: 0 when all
	// requests were deduplicated.
	Duplicates int `json:"duplicates"`
	// Repeats counts requests that were recognised as repeats and had no effect.
	Repeats int `json:"repeats"`
	// Rejected counts requests that were refused for good.
	Rejected int `json:"rejected"`
	// BadSignatures counts requests whose signature was missing or wrong.
	BadSignatures int `json:"badSignatures"`
	// ChangedBodies counts repeats of a key with another body than the first.
	ChangedBodies int `json:"changedBodies"`
	// Keys holds the counts per readable key of a reminder.
	Keys map[string]KeyStats `json:"keys"`
}

// KeyStats are the counts of one reminder.
type KeyStats struct {
	Arrivals int `json:"arrivals"`
	// Accepted counts effects: 1 at most when requests are deduplicated.
	Accepted int `json:"accepted"`
	Repeats  int `json:"repeats"`
	Rejected int `json:"rejected"`
}

// entry is what is known of one idempotency key.
type entry struct {
	KeyStats
	key    string
	digest [sha256.Size]byte
}

// books are the counts by idempotency key.
type books struct {
	entries       map[string]*entry
	badSignatures int
	changedBodies int
}

func newBooks() books { return books{entries: map[string]*entry{}} }

func (b *books) badSignature() { b.badSignatures++ }

// arrive counts a request and tells whether it is the first with its key.
func (b *books) arrive(a arrival) (first bool) {
	digest := sha256.Sum256(a.body)
	e := b.entries[a.id]
	if e == nil {
		e = &entry{key: a.key, digest: digest}
		b.entries[a.id] = e
	}
	if !bytes.Equal(e.digest[:], digest[:]) {
		b.changedBodies++
	}
	e.Arrivals++
	return e.Arrivals == 1
}

// accept counts an acceptance and tells whether it has an effect.
func (b *books) accept(a arrival) (effect bool) {
	e := b.entries[a.id]
	if a.dedupe && e.Accepted > 0 {
		e.Repeats++
		return false
	}
	e.Accepted++
	return true
}

func (b *books) reject(a arrival) { b.entries[a.id].Rejected++ }

func (b *books) stats() Stats {
	s := Stats{BadSignatures: b.badSignatures, ChangedBodies: b.changedBodies, Keys: map[string]KeyStats{}}
	for _, e := range b.entries {
		s.Arrivals += e.Arrivals
		s.Repeats += e.Repeats
		s.Rejected += e.Rejected
		s.Accepted += min(e.Accepted, 1)
		if e.Accepted > 1 {
			s.Duplicates++
		}
		k := s.Keys[e.key]
		s.Keys[e.key] = KeyStats{
			Arrivals: k.Arrivals + e.Arrivals, Accepted: k.Accepted + e.Accepted,
			Repeats: k.Repeats + e.Repeats, Rejected: k.Rejected + e.Rejected,
		}
	}
	return s
}
