// Package receiver is a small receiver of reminders for the demo and for
// integration tests: it behaves like a good provider, misbehaves where the
// recipient's address asks for it, and keeps count of what it has done, so that
// its books can be compared with the operator's.
//
// The address decides, so that no back door is needed; the part before the @ of
//
//	reject…      is refused for good (422)
//	fail-once…   is refused the first time (503)
//	slow-once…   is accepted the first time, but without an answer until the sender
//	             has given up
//	stall-once…  is held likewise the first time, and not accepted
//
// Everything else is accepted. A request to a path with ?dedupe=false is treated
// as by a receiver that ignores the Idempotency-Key: every acceptance has an
// effect of its own. Signatures are verified by the reference library of the
// Standard Webhooks specification, not by our own code.
//
// It is for tests and the demo and may not be linked into the image.
package receiver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Options configure a receiver.
type Options struct {
	// Secrets are the signing keys that are accepted, whsec_<base64> or base64.
	// Without any, signatures are not looked at.
	Secrets []string
	// IgnoreKeys makes every request one of a receiver that does not dedupe.
	IgnoreKeys bool
	// Log gets one JSON line per acceptance; nil means none.
	Log io.Writer
	// Now is the clock of the log; nil means the system's.
	Now func() time.Time
	// MaxHold is the longest time that slow-once waits for the sender to give up;
	// 0 means five minutes.
	MaxHold time.Duration
	// Delay is how long each answer takes, so that a burst takes its time too.
	Delay time.Duration
}

// Receiver is an [http.Handler]: POST, PUT or PATCH to any path is a reminder,
// GET /stats the books as JSON.
type Receiver struct {
	options  Options
	verifier []*webhooks.Webhook
	mu       sync.Mutex
	books    books
}

// maxBody is the largest request that is read, in bytes.
const maxBody = 1 << 20

// New is a receiver with empty books.
func New(o Options) (*Receiver, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxHold == 0 {
		o.MaxHold = 5 * time.Minute
	}
	r := &Receiver{options: o, books: newBooks()}
	for _, s := range o.Secrets {
		v, err := webhooks.NewWebhook(s)
		if err != nil {
			return nil, fmt.Errorf("read signing key %d: it is not base64", len(r.verifier)+1)
		}
		r.verifier = append(r.verifier, v)
	}
	return r, nil
}

// Stats are the books at this moment.
func (r *Receiver) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.books.stats()
}

// ServeHTTP takes a reminder or shows the books.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	switch {
	case q.Method == http.MethodGet && q.URL.Path == "/stats":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(r.Stats())
	case q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch:
		r.take(w, q)
	default:
		http.Error(w, "POST a reminder, or GET /stats", http.StatusMethodNotAllowed)
	}
}

// arrival is one request, read and parsed.
type arrival struct {
	// id is the Idempotency-Key, key the reminder's readable key.
	id, key, address, attempt string
	body                      []byte
	dedupe                    bool
}

func (r *Receiver) take(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	if err != nil {
		http.Error(w, "body is too large or broken", http.StatusBadRequest)
		return
	}
	if !r.verified(body, q.Header) {
		r.mu.Lock()
		r.books.badSignature()
		r.mu.Unlock()
		http.Error(w, "signature is missing or wrong", http.StatusUnauthorized)
		return
	}
	a, err := parse(q, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.dedupe = a.dedupe && !r.options.IgnoreKeys
	status, hold := r.enter(a)
	if hold {
		wait(q.Context(), r.options.MaxHold)
	}
	wait(q.Context(), r.options.Delay)
	w.WriteHeader(status)
}

// verified tells whether one of the keys verifies the request, by the
// specification's own library and its tolerance of five minutes.
func (r *Receiver) verified(body []byte, h http.Header) bool {
	for _, v := range r.verifier {
		if v.Verify(body, h) == nil {
			return true
		}
	}
	return len(r.verifier) == 0
}

func parse(q *http.Request, body []byte) (arrival, error) {
	var event struct {
		Data struct {
			Key       string `json:"key"`
			Recipient struct {
				Address string `json:"address"`
			} `json:"recipient"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return arrival{}, fmt.Errorf("body is not the JSON of a reminder")
	}
	a := arrival{
		id: q.Header.Get("Idempotency-Key"), key: event.Data.Key, address: event.Data.Recipient.Address,
		attempt: q.Header.Get("Ce-Attempt"), body: body, dedupe: q.URL.Query().Get("dedupe") != "false",
	}
	if a.id == "" || a.key == "" {
		return arrival{}, fmt.Errorf("Idempotency-Key or data.key is missing")
	}
	return a, nil
}

// enter books an arrival and decides how to answer it.
func (r *Receiver) enter(a arrival) (status int, hold bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.books.arrive(a)
	local, _, _ := strings.Cut(a.address, "@")
	switch {
	case strings.HasPrefix(local, "reject"):
		r.books.reject(a)
		return http.StatusUnprocessableEntity, false
	case strings.HasPrefix(local, "fail-once") && first:
		return http.StatusServiceUnavailable, false
	case strings.HasPrefix(local, "stall-once") && first:
		return http.StatusServiceUnavailable, true
	}
	if r.books.accept(a) {
		r.log(a)
	}
	return http.StatusOK, first && strings.HasPrefix(local, "slow-once")
}

// log appends an acceptance to the log; r.mu is held.
func (r *Receiver) log(a arrival) {
	if r.options.Log == nil {
		return
	}
	_ = json.NewEncoder(r.options.Log).Encode(struct {
		Key     string    `json:"key"`
		ID      string    `json:"id"`
		Time    time.Time `json:"time"`
		Attempt string    `json:"attempt,omitempty"`
	}{a.key, a.id, r.options.Now().UTC(), a.attempt})
}

// wait for a while, or until the sender has hung up.
func wait(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
