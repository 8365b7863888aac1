package reminder

import "time"

// Outcome is what a channel said of one submission. There is no fifth one: an
// error that fits none of the other three is Unknown.
type Outcome string

// The outcomes of a submission.
const (
	// Accepted: the channel took responsibility for the message.
	Accepted Outcome = "Accepted"
	// Transient: the channel did not accept it, and a later attempt may succeed.
	Transient Outcome = "Transient"
	// Permanent: the channel did not accept it and never will.
	Permanent Outcome = "Permanent"
	// Unknown: the channel may or may not have accepted it.
	Unknown Outcome = "Unknown"
)

// Result is the outcome of one submission with what is known beside it.
type Result struct {
	Outcome Outcome
	// Reason refines Permanent: PermanentFailure, InvalidRecipient, EndpointGone
	// or InvalidMessage. Empty for the other outcomes.
	Reason Reason
	// Fault is what the outcome tells of the channel itself; empty when nothing.
	Fault Fault
	// RetryAfter is the wait that the receiver asked for; 0 when it did not ask.
	RetryAfter time.Duration
	// Receipt names the acceptance at the receiver, such as a status code or a
	// provider's id; at most 128 characters, never a body or an address.
	Receipt string
	// Diagnostic says what went wrong, redacted: class, status code or error
	// kind; never a URL, an address, a header or the receiver's text.
	Diagnostic string
	// Reconciled is what the channel said when it was asked whether it has accepted
	// the reminder after all; zero where nobody asked.
	Reconciled Answer
}

// Message is one reminder as it is handed to a channel.
type Message struct {
	Key Key
	// ID is Key.ID(), the idempotency key; the same in every attempt.
	ID           string
	DueTime      time.Time
	DeadlineTime time.Time
	// Attempt counts submissions from 1.
	Attempt int
	// Address is the recipient's address on the channel.
	Address string
	Subject string
	Body    string
	// HTML is the body in HTML, and UnsubscribeURL an https or mailto address; empty for
	// none.
	HTML           string
	UnsubscribeURL string
}
