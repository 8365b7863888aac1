package channel

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// notAllowed tells no address: it may be one of the cluster's inside.
const notAllowed = "address not allowed; an administrator of the operator can allow its range with --egress-allow"

// failed is the result of a submission that met no status. An address that is not
// allowed is a fault of the channel's configuration. Unless it is certain
// that no byte of the request left, the receiver may have accepted it.
func failed(ctx context.Context, err error, sent bool) reminder.Result {
	if errors.Is(err, errNotAllowed) {
		return refusedAddress()
	}
	if sent {
		return reminder.Result{Outcome: reminder.Unknown, Fault: faultOf(ctx, err), Diagnostic: kindOf(err, "no valid response") + " after the request was written"}
	}
	return reminder.Result{Outcome: reminder.Transient, Fault: faultOf(ctx, err), Diagnostic: kindOf(err, "connection failed") + " before the request was written"}
}

// faultOf is what a submission that met no answer tells of the channel. What ended
// because the worker stops tells nothing.
func faultOf(ctx context.Context, err error) reminder.Fault {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(ctx.Err(), context.Canceled):
		return ""
	case untrusted(err):
		return reminder.FaultChannel
	}
	return reminder.FaultEndpoint
}

// untrusted tells whether the receiver's certificate, or ours, is not accepted.
func untrusted(err error) bool {
	return as[x509.UnknownAuthorityError](err) || as[x509.HostnameError](err) || as[x509.CertificateInvalidError](err) ||
		as[*tls.CertificateVerificationError](err) || alert(err)
}

// refusedAddress is the result when the address that a channel leads to may not be
// dialled.
func refusedAddress() reminder.Result {
	return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.PermanentFailure, Diagnostic: notAllowed}
}

// failureOf says why a question met no status.
func failureOf(err error) string {
	if errors.Is(err, errNotAllowed) {
		return notAllowed
	}
	return kindOf(err, "no valid response")
}

// kindOf names the kind of a failure in words of our own: the texts of network
// errors hold hosts, addresses and URLs, and a URL may be a credential.
func kindOf(err error, otherwise string) string {
	for _, k := range kinds {
		if k.is(err) {
			return k.name
		}
	}
	return otherwise
}

var kinds = []struct {
	name string
	is   func(error) bool
}{
	{"response header too large", is(errTooLarge)},
	{"malformed response", is(errMalformed)},
	{"the receiver wrote before it was asked", is(errUnasked)},
	{"too much text from the receiver", is(errTalkative)},
	{"cancelled", is(context.Canceled)},
	{"no allowed address reachable", is(errPartly)},
	{"DNS lookup timed out", dns(func(e *net.DNSError) bool { return e.IsTimeout })},
	{"host not found", dns(func(e *net.DNSError) bool { return e.IsNotFound })},
	{"DNS lookup failed", dns(func(*net.DNSError) bool { return true })},
	{"timeout", timeout},
	{"connection refused", is(syscall.ECONNREFUSED)},
	{"connection reset", is(syscall.ECONNRESET)},
	{"connection broken", is(syscall.EPIPE)},
	{"network unreachable", is(syscall.ENETUNREACH)},
	{"host unreachable", is(syscall.EHOSTUNREACH)},
	{"too many open files", is(syscall.EMFILE)},
	{"TLS: certificate signed by an unknown authority", as[x509.UnknownAuthorityError]},
	{"TLS: certificate is for another name", as[x509.HostnameError]},
	{"TLS: certificate expired or not yet valid", expired},
	{"TLS: certificate not valid", as[*tls.CertificateVerificationError]},
	{"TLS: the receiver does not speak TLS", as[tls.RecordHeaderError]},
	{"TLS: the receiver sent an alert", alert},
	{"connection closed by the receiver", is(io.EOF)},
	{"connection closed by the receiver", is(io.ErrUnexpectedEOF)},
	{"connection closed", is(net.ErrClosed)},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func dns(match func(*net.DNSError) bool) func(error) bool {
	return func(err error) bool {
		target, ok := errors.AsType[*net.DNSError](err)
		return ok && match(target)
	}
}

func timeout(err error) bool {
	target, ok := errors.AsType[net.Error](err)
	return ok && target.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// alert tells whether the peer ended TLS; crypto/tls marks that by the operation only.
func alert(err error) bool {
	target, ok := errors.AsType[*net.OpError](err)
	return ok && target.Op == "remote error"
}

func expired(err error) bool {
	target, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok && target.Reason == x509.Expired
}
