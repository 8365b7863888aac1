package simulate

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker/memory"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// What the simulated channel promises, and how long things last.
const (
	sendTimeout = 4 * time.Second
	ackWait     = 8 * time.Second
	lease       = 16 * time.Second
	retention   = 24 * time.Hour
	lookAhead   = 2 * time.Minute
	skew        = 2 * time.Second // of any clock, either way
	faultsFor   = 4 * time.Minute
	quietFor    = 5 * time.Minute // longer than every deadline, and some repairs
)

const namespace, schedule, channel = "shop", "renewal", "mail"

// world is one simulated run.
type world struct {
	dice
	broker *memory.Broker
	// alone: without the audit sweep, and without what only it can heal: lost messages,
	// and edits while a job is in flight.
	alone   bool
	begin   time.Time
	dedupes bool
	unknown reminder.OnUnknown
	retry   reminder.Retry
	rates   rates
	slots   []slot
	people  []reminder.Recipient
	edits   []edit
	away    []span // when the broker does not answer

	mu       sync.Mutex
	accepted map[reminder.Key][]time.Time // what reached the addressee
	seen     map[reminder.Key]bool
	asked    map[reminder.Key]int
	trace    uint64 // hash of everything that has happened
	log      []string
	keepLog  bool
	wrong    []string
	killed   int
}

// rates are how often something goes wrong: once in so many calls; 0 for never.
type rates struct{ crash, stall, lost, repeat uint64 }

// slot is one occurrence.
type slot struct{ due, deadline time.Time }

// edit is what the user does, and when.
type edit struct {
	at                 time.Duration
	suspended, deleted bool
}

type span struct{ from, to time.Duration }

func newWorld(seed uint64, keepLog bool) *world {
	w := &world{
		dice: dice(seed), broker: memory.New(), begin: time.Now(), keepLog: keepLog,
		accepted: map[reminder.Key][]time.Time{}, seen: map[reminder.Key]bool{}, asked: map[reminder.Key]int{},
	}
	switch w.upTo(3, "policy") {
	case 0:
		w.dedupes = true
	case 1:
		w.unknown = reminder.ParkUnknown
	case 2:
		w.unknown = reminder.RetryUnknown
	}
	w.retry = reminder.Retry{Attempts: 1 + w.upTo(5, "attempts"), InitialDelay: w.between(time.Second, 20*time.Second, "delay"), Factor: 2, MaxDelay: time.Minute}
	if w.chance(3, "delays") {
		w.retry = reminder.Retry{Attempts: w.retry.Attempts, Delays: []time.Duration{w.between(time.Second, 30*time.Second, "fixed")}}
	}
	w.rates = rates{
		crash: []uint64{0, 400, 80, 25}[w.upTo(4, "crash rate")], stall: []uint64{0, 300, 60}[w.upTo(3, "stall rate")],
		lost: []uint64{0, 100, 20}[w.upTo(3, "lost rate")], repeat: []uint64{0, 10, 3}[w.upTo(3, "repeat rate")],
	}
	w.alone = w.chance(4, "alone")
	w.plan()
	return w
}

// plan makes the schedule: minutes from now, as a cron expression would have them.
func (w *world) plan() {
	for i := range 1 + w.upTo(4, "slots") {
		due := w.begin.Add(time.Duration(i*(20+w.upTo(40, "step"))+5+w.upTo(15, "first")) * time.Second)
		w.slots = append(w.slots, slot{due, due.Add(w.between(15*time.Second, 3*time.Minute, "deadline", strconv.Itoa(i)).Truncate(time.Second))})
	}
	for i := range 1 + w.upTo(3, "people") {
		id := "acct_" + strconv.Itoa(i)
		w.people = append(w.people, reminder.Recipient{ID: id, Address: id + "@example.com", Active: true})
	}
	if !w.alone && w.chance(3, "edited") {
		at := w.between(0, 2*time.Minute, "suspend")
		w.edits = append(w.edits, edit{at: at, suspended: true})
		switch w.upTo(3, "then") {
		case 0:
			w.edits = append(w.edits, edit{at: at + w.between(0, time.Minute, "resume")})
		case 1:
			w.edits = append(w.edits, edit{at: at + w.between(0, time.Minute, "delete"), deleted: true})
		}
	}
	for i := range w.upTo(3, "outages") {
		from := w.between(0, 3*time.Minute, "outage", strconv.Itoa(i))
		w.away = append(w.away, span{from, from + w.between(time.Second, 40*time.Second, "outage lasts", strconv.Itoa(i))})
	}
}

func (w *world) elapsed() time.Duration { return time.Since(w.begin) }

// faulty tells whether things still go wrong.
func (w *world) faulty() bool { return w.elapsed() < faultsFor }

func (w *world) brokerAway() bool {
	for _, s := range w.away {
		if at := w.elapsed(); s.from <= at && at < s.to {
			return true
		}
	}
	return false
}

// wanted is the spec as the user has it now, and its generation.
func (w *world) wanted() (edit, int64) {
	now, generation := edit{}, int64(1)
	for _, e := range w.edits {
		if w.elapsed() >= e.at {
			now = e
			generation++
		}
	}
	return now, generation
}

// note keeps what happened: its hash always, its text on request.
func (w *world) note(who, what, subject string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%12d %-12s %-22s %s", w.elapsed().Microseconds(), who, what, subject)
	h := fnv.New64a()
	h.Write([]byte(strconv.FormatUint(w.trace, 16)))
	h.Write([]byte(line))
	w.trace = h.Sum64()
	if w.keepLog {
		w.log = append(w.log, line)
	}
}

func (w *world) broken(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}
