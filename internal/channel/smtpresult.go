package channel

import (
	"context"
	"errors"
	"fmt"
	"net/textproto"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// stage is where in the dialogue with a relay something went wrong.
type stage string

const (
	stageConnect   stage = "connecting"
	stageGreeting  stage = "the greeting"
	stageHello     stage = "EHLO"
	stageTLS       stage = "STARTTLS"
	stageAuth      stage = "AUTH"
	stageMail      stage = "MAIL"
	stageRecipient stage = "RCPT"
	stageData      stage = "DATA"
	stageContent   stage = "the content"
	stageEnd       stage = "the end of the mail"
)

// settled is an error of ours that knows its result.
type settled struct{ result reminder.Result }

// Error is the result's diagnostic.
func (s *settled) Error() string { return s.result.Diagnostic }

// channelFault is the result when the relay or the channel's settings are at
// fault, whatever the mail: TLS, credentials, a relay that serves nobody. The
// channel pauses, and no reminder pays for it.
func channelFault(diagnostic string) reminder.Result {
	return reminder.Result{Outcome: reminder.Transient, Fault: reminder.FaultChannel, Diagnostic: diagnostic}
}

// judge is the result of a step that failed.
func (d *dialogue) judge(ctx context.Context, at stage, err error) reminder.Result {
	if s, ok := errors.AsType[*settled](err); ok {
		d.answered = true
		return s.result
	}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		d.answered = reply.Code != 421 // which closes
		return answered(at, reply.Code)
	}
	if at == stageEnd && !d.conn.cut {
		return reminder.Result{Outcome: reminder.Unknown, Fault: reminder.FaultEndpoint, Diagnostic: kind(ctx, err) + " after the mail was sent"}
	}
	return lost(ctx, at, err)
}

// answered is the result that a relay's code means; its text is never looked at.
//
//	421, 4xx before MAIL                        Transient, a fault of the endpoint
//	other 4xx, such as greylisting              Transient
//	530, 534, 535, 538: log in, use TLS         Transient, a fault of the channel
//	5xx before MAIL                             Transient, a fault of the channel
//	5xx to RCPT                                 Permanent, InvalidRecipient
//	other 5xx                                   Permanent, PermanentFailure
//	any other code after the mail               Unknown
func answered(at stage, code int) reminder.Result {
	text := fmt.Sprintf("code %d at %s", code, at)
	switch {
	case code/100 == 5 && beforeMail(at, code):
		return channelFault(text + ": the relay refused this client")
	case code/100 == 5 && at == stageRecipient:
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidRecipient, Diagnostic: text}
	case code/100 == 5:
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.PermanentFailure, Diagnostic: text}
	case code/100 != 4 && at == stageEnd:
		return reminder.Result{Outcome: reminder.Unknown, Diagnostic: text}
	}
	res := reminder.Result{Outcome: reminder.Transient, Diagnostic: text}
	if code == 421 || beforeMail(at, code) {
		res.Fault = reminder.FaultEndpoint
	}
	return res
}

// beforeMail tells whether a refusal is about the client and not about the mail.
func beforeMail(at stage, code int) bool {
	switch at {
	case stageConnect, stageGreeting, stageHello, stageTLS, stageAuth:
		return true
	case stageMail, stageRecipient, stageData, stageContent, stageEnd:
	}
	return code == 530 || code == 534 || code == 535 || code == 538
}

// lost is the result when the connection ended before the whole mail was written.
func lost(ctx context.Context, at stage, err error) reminder.Result {
	if errors.Is(err, errNotAllowed) {
		return refusedAddress()
	}
	return reminder.Result{Outcome: reminder.Transient, Fault: faultOf(ctx, err), Diagnostic: fmt.Sprintf("%s at %s, before the mail was sent", kind(ctx, err), at)}
}

// kind names a failure. The end of ctx breaks the connection, which looks like a
// timeout.
func kind(ctx context.Context, err error) string {
	if ctx.Err() != nil && timeout(err) {
		err = ctx.Err()
	}
	return kindOf(err, "connection failed")
}
