package integration

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"
)

// witness stands before the receiver: it writes down which reminder came when and
// what it said, and holds requests back, or refuses them once, where a test asks.
type witness struct {
	next http.Handler

	mu       sync.Mutex
	arrivals []arrival
	gates    map[string]chan struct{} // by schedule: its requests wait until this is closed
	refuses  map[string]bool          // by schedule: the first request of each reminder
	met      map[string]bool          // by idempotency key
}

// arrival is one request.
type arrival struct {
	at                                 time.Time
	id, key, schedule, recipient, text string
	due                                time.Time
}

func newWitness(next http.Handler) *witness {
	return &witness{next: next, gates: map[string]chan struct{}{}, refuses: map[string]bool{}, met: map[string]bool{}}
}

// hold keeps the requests of a schedule until the gate is closed; with refuse they
// are then refused once.
func (w *witness) hold(schedule string, gate chan struct{}, refuse bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gates[schedule], w.refuses[schedule] = gate, refuse
}

// of are the arrivals of a schedule, in order.
func (w *witness) of(schedule string) []arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	var own []arrival
	for _, a := range w.arrivals {
		if a.schedule == schedule {
			own = append(own, a)
		}
	}
	return own
}

func (w *witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	gate, refuse := w.note(r.Header.Get("Idempotency-Key"), body)
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	if refuse {
		http.Error(out, "not now", http.StatusServiceUnavailable)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.next.ServeHTTP(out, r)
}

// note writes an arrival down and tells what is to become of it.
func (w *witness) note(id string, body []byte) (gate chan struct{}, refuse bool) {
	var event struct {
		Data struct {
			Key, Schedule, Body string
			Recipient           struct{ ID string }
			DueTime             time.Time
		}
	}
	now := time.Now()
	_ = json.Unmarshal(body, &event)
	d := event.Data
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrivals = append(w.arrivals, arrival{at: now, id: id, key: d.Key, schedule: d.Schedule, recipient: d.Recipient.ID, text: d.Body, due: d.DueTime})
	refuse = w.refuses[d.Schedule] && !w.met[id]
	w.met[id] = true
	return w.gates[d.Schedule], refuse
}
