// Package channeltest is the conformance suite of senders, and an HTTP receiver
// that misbehaves in every way that is known of the wild.
//
// [Run] is passed by every channel: it knows what each outcome may carry and
// that nothing confidential may leave. Which behaviour of a receiver means which
// outcome stands in the channel's own table of cases.
//
// It is for tests only and may not be linked into the image.
package channeltest
