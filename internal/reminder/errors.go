package reminder

import "errors"

// Errors that the services of the broker room answer with. Test with errors.Is.
var (
	// ErrExists: create found a live entry under that key.
	ErrExists = errors.New("already exists")
	// ErrConflict: a compare-and-set met another revision than it expected.
	ErrConflict = errors.New("revision conflict")
	// ErrNotFound: there is no live entry under that key.
	ErrNotFound = errors.New("not found")
	// ErrFull: the store refused a write for want of space; nothing was written.
	ErrFull = errors.New("store is full")
	// ErrLost: a stream or bucket of ours does not exist (any more).
	ErrLost = errors.New("stream or bucket lost")
	// ErrUnavailable: the broker could not be reached or did not answer in time,
	// so the effect of the call is unknown; repeat it.
	ErrUnavailable = errors.New("broker unavailable")
	// ErrUnsent: nothing was handed over; it is safe to repeat the call.
	ErrUnsent = errors.New("not sent")
	// ErrRefused: the store answered and did not take the message.
	ErrRefused = errors.New("refused")
	// ErrTooLarge: the message is larger than the server or the stream takes.
	ErrTooLarge = errors.New("message too large")
	// ErrNewerSchema: the bytes were written by a newer version of the operator.
	// Hold them: an old reader must not consume what it cannot understand.
	ErrNewerSchema = errors.New("newer schema version")
	// ErrMalformed: the bytes are not what the subject or key promises.
	ErrMalformed = errors.New("malformed")
)
