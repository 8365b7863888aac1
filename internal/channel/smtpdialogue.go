package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// maxTalk is how much is read from a relay per mail, in bytes, with TLS.
const maxTalk = 256 << 10

// errTalkative: the relay wrote more than any relay has to say.
var errTalkative = errors.New("the relay wrote too much")

// relayConn bounds what is read, and notices when something could not be written.
type relayConn struct {
	net.Conn
	left int
	// cut: a write went out in part or not at all, so that what was written last has
	// not arrived in full.
	cut bool
}

// Read reads within the bound.
func (c *relayConn) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTalkative
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// Write notices what is cut.
func (c *relayConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.cut = c.cut || n < len(b)
	return n, err
}

// dialogue is one connection to a relay.
type dialogue struct {
	*smtpSender
	conn   *relayConn
	client *smtp.Client
	data   io.WriteCloser
	// stop keeps the end of the context from breaking the connection.
	stop func() bool
	// answered: the relay answered last, so that it can be told goodbye.
	answered bool
}

// step is one exchange with the relay.
type step struct {
	at stage
	do func() error
}

// deliver goes through the steps of a mail up to the relay's answer to its end.
func (d *dialogue) deliver(ctx context.Context, to string, mail []byte, login credentials) reminder.Result {
	for _, s := range []step{
		{stageGreeting, func() error { return d.greet(ctx) }},
		{stageHello, func() error { return d.client.Hello(heloName(d.relay.From)) }},
		{stageTLS, d.secure},
		{stageAuth, func() error { return d.authenticate(login) }},
		{stageMail, func() error { return d.mail(to) }},
		{stageRecipient, func() error { return d.client.Rcpt("<" + to + ">") }},
		{stageData, d.openData},
		{stageContent, func() error { return d.write(mail) }},
		{stageEnd, d.endData},
	} {
		if err := d.quietly(s.do); err != nil {
			return d.judge(ctx, s.at, err)
		}
	}
	d.answered = true
	return reminder.Result{Outcome: reminder.Accepted, Receipt: "code 250"}
}

// quietly does a step unless the relay has said something without being asked: it
// would be taken for the answer to the step.
func (d *dialogue) quietly(do func() error) error {
	if d.client != nil && d.client.Text.R.Buffered() > 0 {
		return errUnasked
	}
	return do()
}

// greet waits for the relay's greeting, behind TLS on the port for that.
func (d *dialogue) greet(ctx context.Context) (err error) {
	var conn net.Conn = d.conn
	if d.relay.Port == smtpsPort {
		secure := tls.Client(conn, d.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			return err
		}
		conn = secure
	}
	d.client, err = smtp.NewClient(conn, d.relay.Host)
	return err
}

// secure turns the connection to TLS as the channel asks for.
func (d *dialogue) secure() error {
	offered, _ := d.client.Extension("STARTTLS")
	switch {
	case d.relay.Port == smtpsPort, d.relay.TLS == reminder.TLSNone:
		return nil
	case offered:
		return d.client.StartTLS(d.tls)
	case d.relay.TLS == reminder.TLSRequire:
		return &settled{channelFault("the relay offers no STARTTLS, and smtp.tls is Require")}
	}
	return nil
}

// authenticate logs in, if the channel has credentials; never without TLS.
func (d *dialogue) authenticate(login credentials) error {
	if !d.login {
		return nil
	}
	if _, encrypted := d.client.TLSConnectionState(); !encrypted {
		return &settled{channelFault("the connection is not encrypted, so that the password was not sent")}
	}
	_, offered := d.client.Extension("AUTH")
	kinds := strings.Fields(strings.ToUpper(offered))
	password := string(login.password.Reveal())
	switch {
	case slices.Contains(kinds, "PLAIN"):
		return d.client.Auth(smtp.PlainAuth("", login.user, password, d.relay.Host, false))
	case slices.Contains(kinds, "LOGIN"):
		return d.client.Auth(smtp.LoginAuth(login.user, password, d.relay.Host, false))
	}
	return &settled{channelFault("the relay offers neither AUTH PLAIN nor AUTH LOGIN")}
}

// mail opens the transaction; with SMTPUTF8 only if an address needs it.
func (d *dialogue) mail(to string) error {
	plain := isASCII(d.relay.From) && isASCII(to)
	if offered, _ := d.client.Extension("SMTPUTF8"); !offered && !plain {
		if !isASCII(d.relay.From) {
			return &settled{channelFault("the relay offers no SMTPUTF8, which smtp.from needs")}
		}
		return &settled{reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidRecipient, Diagnostic: "address unsupported: the relay offers no SMTPUTF8"}}
	}
	d.client.SkipSMTPUTF8(plain)
	return d.client.Mail("<" + d.relay.From + ">")
}

func (d *dialogue) openData() (err error) {
	d.data, err = d.client.Data()
	return err
}

// write writes the mail without its end: a relay does not accept what it has by then.
func (d *dialogue) write(mail []byte) error {
	_, err := d.data.Write(mail)
	return err
}

// endData writes the final dot and waits for the answer.
func (d *dialogue) endData() error { return d.data.Close() }

// end closes the connection, with a goodbye if the relay has answered.
func (d *dialogue) end() {
	if d.stop() && d.answered && d.conn.SetDeadline(time.Now().Add(drainTime)) == nil {
		_ = d.client.Quit()
	}
	_ = d.conn.Close()
}

// heloName is the name of this client: the domain of the sender, which a relay can
// look up, where the pod's own name means nothing outside of the cluster.
func heloName(from string) string {
	if domain := domainOf(from); isASCII(domain) {
		return domain
	}
	return "localhost"
}

func domainOf(address string) string {
	_, domain, _ := strings.Cut(address, "@")
	return domain
}
