package channel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Publisher stores a message in the stream that takes its subject, and remembers
// its id for a while. It publishes once.
//
// Its errors: reminder.ErrUnsent when nothing was handed over, ErrLost when no
// stream takes the subject, ErrFull, ErrTooLarge and ErrRefused when the stream did
// not take it. After any other error the message may have been stored.
type Publisher interface {
	Publish(ctx context.Context, subject, id string, header map[string]string, body []byte) (sequence uint64, duplicate bool, err error)
}

// natsSender publishes reminders to one subject.
type natsSender struct {
	name    string
	subject string
	timeout time.Duration
	to      Publisher
}

func newNATS(c reminder.Channel, o Options) (Sender, error) {
	switch {
	case c.NATS == nil:
		return nil, errors.New("nats is not set")
	case c.SendTimeout <= 0:
		return nil, errors.New("sendTimeout is not positive")
	case o.Publisher == nil:
		return nil, errors.New("a channel of type NATS needs a publisher")
	}
	if err := checkSubject(c.NATS.Subject); err != nil {
		return nil, fmt.Errorf("nats.subject %w", err)
	}
	return &natsSender{name: c.Namespace + "/" + c.Name, subject: c.NATS.Subject, timeout: c.SendTimeout, to: o.Publisher}, nil
}

// checkSubject refuses subjects that are patterns, and those of NATS and of the
// operator itself.
func checkSubject(subject string) error {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '*' || r == '>' }) {
			return errors.New("is not tokens with dots between them, without blanks and wildcards")
		}
	}
	if first, _, _ := strings.Cut(subject, "."); first == "reminders" || strings.HasPrefix(first, "$") || strings.HasPrefix(first, "_") {
		return errors.New("begins with reminders, $ or _, which are reserved")
	}
	return nil
}

// Send publishes m once. Its message id is the same in every attempt.
func (s *natsSender) Send(ctx context.Context, m reminder.Message) reminder.Result {
	body, err := encode(m)
	if err != nil {
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidMessage, Diagnostic: "the message cannot be encoded"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if ctx.Err() != nil {
		return reminder.Result{Outcome: reminder.Transient, Diagnostic: kindOf(ctx.Err(), "not sent") + " before the message was published"}
	}
	sequence, duplicate, err := s.to.Publish(ctx, s.subject, m.ID, attributes(m), body)
	if err != nil {
		return unpublished(err)
	}
	receipt := fmt.Sprintf("sequence %d", sequence)
	if duplicate {
		receipt += ", stored before"
	}
	return reminder.Result{Outcome: reminder.Accepted, Receipt: receipt}
}

// unpublished is the result that an error of a publisher means.
func unpublished(err error) reminder.Result {
	for _, known := range []struct {
		kind error
		text string
	}{
		{reminder.ErrLost, "no stream takes the subject"},
		{reminder.ErrUnsent, "NATS was not reached"},
		{reminder.ErrFull, "the stream is full"},
		{reminder.ErrRefused, "the stream refused the message"},
	} {
		if errors.Is(err, known.kind) {
			return reminder.Result{Outcome: reminder.Transient, Fault: reminder.FaultEndpoint, Diagnostic: known.text}
		}
	}
	if errors.Is(err, reminder.ErrTooLarge) {
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidMessage, Diagnostic: "the message is larger than the stream takes"}
	}
	return reminder.Result{Outcome: reminder.Unknown, Fault: reminder.FaultEndpoint, Diagnostic: kindOf(err, "no valid answer") + " after the message was published"}
}

// String names the channel.
func (s *natsSender) String() string { return "NATS channel " + s.name }

// GoString is String, for %#v.
func (s *natsSender) GoString() string { return s.String() }
