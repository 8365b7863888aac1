package reminder

import "time"

// Verdict is what an Answer comes to. The zero value: nobody was asked.
type Verdict string

// The verdicts of an answer.
const (
	// Yes: the reminder is still wanted, or it was accepted.
	Yes Verdict = "Yes"
	// No: the reminder is not wanted any more, or it was not accepted.
	No Verdict = "No"
	// Unclear: whoever was asked did not answer, or not in words that say either.
	Unclear Verdict = "Unclear"
)

// Answer is what another system says of a reminder when it is asked.
type Answer struct {
	Verdict Verdict
	// RetryAfter is the wait that an unclear answer asked for; 0 when it did not ask.
	RetryAfter time.Duration
	// Text says what the answer was, redacted: a status code or the kind of a
	// failure; never a URL, an address, a header or the other system's text.
	Text string
}
