package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// outcome is what became of the reminders of a run, exactly: how many there are,
// how each of them ended, and what the receiver has seen.
type outcome struct {
	state   string // of all of them: Sent, Parked, or the reason of Dead or Cancelled
	records int
	// Sums over the records.
	attempts, retries, takeovers, suppressed int
	// arrivals at the receiver, and effects there.
	arrivals, effects int
}

// parked is the word for Dead(ReconciliationRequired) in the tables.
const parked = "Parked"

func (o outcome) String() string {
	return fmt.Sprintf("%d %s attempts=%d retries=%d takeovers=%d suppressed=%d arrivals=%d effects=%d",
		o.records, o.state, o.attempts, o.retries, o.takeovers, o.suppressed, o.arrivals, o.effects)
}

// dead tells whether the reminders are dead letters.
func (o outcome) dead() bool {
	return o.state != string(reminder.Sent) && o.state != string(reminder.ScheduleDeleted)
}

// points of workers, in the order of the tables' columns.
var workerPoints = []string{"W0", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8"}

// policies and answers are the other two dimensions, in the order in which they run.
var (
	policies = []string{"ByKey", "Retry", "Park"}
	answers  = []string{"accept", "reject", "timeout-accepted", "timeout-not"}
)

// workerTable says what must become of one reminder whose worker is killed, by
// policy and answer, for W0 to W8 (docs/failure-matrix.md rows 1 to 9, 15, 16, 19):
// the state and then attempts (a), retries (r), takeovers (t), suppressed
// redeliveries (s), arrivals at the receiver (n) and effects there (e); 0 where it is
// not said. A cell that begins with - has a point that is never met, such as the mark
// of a submission on a channel that deduplicates: nobody dies. At W3 the worker dies
// before a byte is sent, and in the timeout rows while the receiver holds the request.
var workerTable = map[string]map[string][9]string{
	// Sent again with the same key: one effect. A refusal says nothing of a submission
	// whose answer is not known, so that such a reminder is parked.
	"ByKey": {
		"accept":           {"Sent a1n1e1", "Sent a1t1n1e1", "- Sent a1n1e1", "Sent a1t1n1e1", "Sent a1t1n2e1", "Sent a1s1n1e1", "- Sent a1n1e1", "Sent a1s1n1e1", "Sent a1n1e1"},
		"reject":           {"PermanentFailure a1n1", "Parked a1t1n1", "- PermanentFailure a1n1", "Parked a1t1n1", "Parked a1t1n2", "PermanentFailure a1s1n1", "PermanentFailure a1s1n1", "PermanentFailure a1s1n1", "PermanentFailure a1n1"},
		"timeout-accepted": {"Sent a2r1n2e1", "Sent a2r1t1n2e1", "- Sent a2r1n2e1", "Sent a1t1n2e1", "Sent a1t1n2e1", "Sent a2r1n2e1", "- Sent a2r1n2e1", "Sent a2r1s1n2e1", "Sent a2r1n2e1"},
		"timeout-not":      {"Sent a2r1n2e1", "Sent a2r1t1n2e1", "- Sent a2r1n2e1", "Sent a1t1n2e1", "Sent a1t1n2e1", "Sent a2r1n2e1", "- Sent a2r1n2e1", "Sent a2r1s1n2e1", "Sent a2r1n2e1"},
	},
	// Never silently lost; two effects where the first one was not known of.
	"Retry": {
		"accept":           {"Sent a1n1e1", "Sent a1t1n1e1", "Sent a2t1n1e1", "Sent a2t1n1e1", "Sent a2t1n2e2", "Sent a1s1n1e1", "- Sent a1n1e1", "Sent a1s1n1e1", "Sent a1n1e1"},
		"reject":           {"PermanentFailure a1n1", "PermanentFailure a1t1n1", "Parked a2t1n1", "Parked a2t1n1", "Parked a2t1n2", "PermanentFailure a1s1n1", "PermanentFailure a1s1n1", "PermanentFailure a1s1n1", "PermanentFailure a1n1"},
		"timeout-accepted": {"Sent a2r1n2e2", "Sent a2r1t1n2e2", "Sent a3r1t1n2e2", "Sent a2t1n2e2", "Sent a2t1n2e2", "Sent a2r1n2e2", "- Sent a2r1n2e2", "Sent a2r1s1n2e2", "Sent a2r1n2e2"},
		"timeout-not":      {"Sent a2r1n2e1", "Sent a2r1t1n2e1", "Sent a3r1t1n2e1", "Sent a2t1n2e1", "Sent a2t1n2e1", "Sent a2r1n2e1", "- Sent a2r1n2e1", "Sent a2r1s1n2e1", "Sent a2r1n2e1"},
	},
	// Never repeated: parked wherever the answer is not known.
	"Park": {
		"accept":           {"Sent a1n1e1", "Sent a1t1n1e1", "Parked a1", "Parked a1", "Parked a1n1e1", "Sent a1s1n1e1", "- Sent a1n1e1", "Sent a1s1n1e1", "Sent a1n1e1"},
		"reject":           {"PermanentFailure a1n1", "PermanentFailure a1t1n1", "Parked a1", "Parked a1", "Parked a1n1", "PermanentFailure a1s1n1", "PermanentFailure a1s1n1", "PermanentFailure a1s1n1", "PermanentFailure a1n1"},
		"timeout-accepted": {"Parked a1n1e1", "Parked a1t1n1e1", "Parked a1", "Parked a1n1e1", "Parked a1n1e1", "Parked a1s1n1e1", "Parked a1s1n1e1", "Parked a1s1n1e1", "Parked a1n1e1"},
		"timeout-not":      {"Parked a1n1", "Parked a1t1n1", "Parked a1", "Parked a1n1", "Parked a1n1", "Parked a1s1n1", "Parked a1s1n1", "Parked a1s1n1", "Parked a1n1"},
	},
}

// schedulerRow is what must become of the reminders of a schedule whose planning
// dies: all of them are sent once, or cancelled by the deletion that C6 ends.
// While no controller lives, so many of them are sent all the same: those whose
// message was published.
type schedulerRow struct {
	point    string
	deleted  bool
	leastOut int
}

// recipients of each schedule in the cells of schedulers.
const recipients = 3

var schedulerTable = []schedulerRow{
	{point: "C0"}, {point: "C1"}, {point: "C2"}, {point: "C3", leastOut: 1}, {point: "C4", leastOut: recipients}, {point: "C5", leastOut: recipients}, {point: "C6", deleted: true},
}

// leaders is what else works when the planning dies.
var leaders = []string{"alive", "dead", "doubled"}

func (r schedulerRow) want() outcome {
	if r.deleted {
		return outcome{state: string(reminder.ScheduleDeleted), records: recipients}
	}
	return outcome{state: string(reminder.Sent), records: recipients, attempts: recipients, arrivals: recipients, effects: recipients}
}

// parseWant reads a cell of workerTable.
func parseWant(cell string) (o outcome, dies bool, err error) {
	rest, lives := strings.CutPrefix(cell, "- ")
	o.records = 1
	state, counts, ok := strings.Cut(rest, " ")
	if o.state = state; !ok || len(counts)%2 != 0 {
		return o, !lives, fmt.Errorf("cell %q is no state and counts", cell)
	}
	field := map[byte]*int{'a': &o.attempts, 'r': &o.retries, 't': &o.takeovers, 's': &o.suppressed, 'n': &o.arrivals, 'e': &o.effects}
	for i := 0; i < len(counts); i += 2 {
		into := field[counts[i]]
		n, err := strconv.Atoi(counts[i+1 : i+2])
		if err != nil || into == nil {
			return o, !lives, fmt.Errorf("cell %q: %q is no count", cell, counts[i:i+2])
		}
		*into = n
	}
	return o, !lives, nil
}
