package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// smtpsPort is where a connection is encrypted from its start.
const smtpsPort = 465

// smtpSender hands mails to one relay, one connection each.
type smtpSender struct {
	name      string
	relay     reminder.SMTPChannel
	timeout   time.Duration
	dial      dialFunc
	tls       *tls.Config
	secretDir string
	login     bool
	program   string
	now       func() time.Time
}

func newSMTP(c reminder.Channel, o Options) (Sender, error) {
	if c.SMTP == nil {
		return nil, errors.New("smtp is not set")
	}
	s := &smtpSender{
		name: c.Namespace + "/" + c.Name, relay: *c.SMTP, timeout: c.SendTimeout, dial: o.DialContext,
		tls: relayTLS(o.TLS, *c.SMTP), secretDir: o.SecretDir, login: o.RequireSignature, program: o.UserAgent, now: o.Now,
	}
	if s.dial == nil {
		s.dial = o.Egress.dialer(o.Resolver, c.SendTimeout)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.login {
		if _, err := readCredentials(s.secretDir); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// check tells what in the configuration is wrong, without the value.
func (s *smtpSender) check() error {
	switch s.relay.TLS {
	case reminder.TLSRequire, reminder.TLSOpportunistic, reminder.TLSNone:
	default:
		return fmt.Errorf("smtp.tls is %q; allowed are Require, Opportunistic and None", s.relay.TLS)
	}
	switch {
	case s.timeout <= 0:
		return errors.New("sendTimeout is not positive")
	case s.relay.Host == "" || strings.ContainsFunc(s.relay.Host, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("smtp.host is not a host")
	case s.relay.Port < 1 || s.relay.Port > 65535:
		return errors.New("smtp.port is outside 1 to 65535")
	case !isMailbox(s.relay.From):
		return errors.New("smtp.from is not one bare e-mail address")
	case s.login && s.relay.TLS != reminder.TLSRequire:
		return errors.New("smtp.tls must be Require with a Secret: a password is not sent in the clear")
	}
	return nil
}

// relayTLS is how to speak TLS with the relay. Where TLS is not required, a relay
// that cannot prove its name is better than one that is spoken to in the clear.
func relayTLS(base *tls.Config, relay reminder.SMTPChannel) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if base != nil {
		config = base.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = relay.Host
	}
	if relay.TLS != reminder.TLSRequire {
		config.InsecureSkipVerify = true
	}
	return config
}

// Send hands m to the relay once.
func (s *smtpSender) Send(ctx context.Context, m reminder.Message) reminder.Result {
	if !isRecipient(m.Address) {
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidRecipient, Diagnostic: "the address is not one bare e-mail address"}
	}
	mail, err := compose(m, s.relay.From, s.program, s.now())
	if err != nil {
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidMessage, Diagnostic: err.Error()}
	}
	var login credentials
	if s.login {
		if login, err = readCredentials(s.secretDir); err != nil {
			return channelFault(err.Error())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	d, err := s.connect(ctx)
	if err != nil {
		return lost(ctx, stageConnect, err)
	}
	defer d.end()
	return d.deliver(ctx, m.Address, mail, login)
}

// connect opens a connection that breaks when ctx ends.
func (s *smtpSender) connect(ctx context.Context) (*dialogue, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := s.dial(ctx, "tcp", net.JoinHostPort(s.relay.Host, strconv.Itoa(s.relay.Port)))
	if err != nil {
		return nil, err
	}
	d := &dialogue{smtpSender: s, conn: &relayConn{Conn: conn, left: maxTalk}}
	d.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return d, nil
}

// String names the channel; the relay may be confidential.
func (s *smtpSender) String() string { return "SMTP channel " + s.name }

// GoString is String, for %#v.
func (s *smtpSender) GoString() string { return s.String() }
