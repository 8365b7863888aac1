package channel_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const (
	sender   = "canary-sender@billing.example"
	user     = "canary-user"
	password = "canary-password"
)

// mailOpen opens an SMTP channel towards an address, without TLS; changes come last.
func mailOpen(t *testing.T, address string, changes ...func(*setup)) channel.Sender {
	t.Helper()
	s := &setup{
		channel: reminder.Channel{
			Namespace: "shop", Name: "billing", Type: reminder.ChannelSMTP, SendTimeout: 10 * time.Second,
			SMTP: &reminder.SMTPChannel{Host: "canary-relay.example", Port: 587, TLS: reminder.TLSNone, From: sender},
		},
		options: channel.Options{
			Now: func() time.Time { return now },
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, address)
			},
		},
	}
	for _, change := range changes {
		change(s)
	}
	got, err := channel.New(s.channel, s.options)
	if err != nil {
		t.Fatalf("open channel: %v", err)
	}
	return got
}

// relayed opens a sender towards a relay that behaves as told.
func relayed(o ct.RelayOptions, changes ...func(*setup)) func(*testing.T, *ct.Bench) channel.Sender {
	return func(t *testing.T, b *ct.Bench) channel.Sender {
		b.Canary("canary-")
		return mailOpen(t, ct.NewRelay(t, o).Addr(), changes...)
	}
}

// scripted opens a sender towards a relay that says what it is told to.
func scripted(greeting string, answers map[string]string, changes ...func(*setup)) func(*testing.T, *ct.Bench) channel.Sender {
	return func(t *testing.T, b *ct.Bench) channel.Sender {
		b.Canary("canary-")
		return mailOpen(t, ct.NewScript(t, ct.Script{Greeting: greeting, Answers: answers}), changes...)
	}
}

const hello = "220 " + ct.Leak + "\r\n"

func says(word, answer string) func(*testing.T, *ct.Bench) channel.Sender {
	return scripted(hello, map[string]string{word: answer}, quick)
}

func quick(s *setup) { s.timeout(400 * time.Millisecond) }

func TestSMTPCodes(t *testing.T) {
	t.Parallel()
	fault := ": the relay refused this client"
	ct.Run(t, map[string]ct.Case{
		"250 to a mail is accepted":               {Open: relayed(ct.RelayOptions{}), Want: accepted("code 250")},
		"554 at the greeting is transient":        {Open: scripted("554 "+ct.Leak+"\r\n", nil), Want: transient("code 554 at the greeting"+fault, 0)},
		"421 at the greeting is transient":        {Open: scripted("421 "+ct.Leak+"\r\n", nil), Want: transient("code 421 at the greeting", 0)},
		"550 to EHLO and HELO is transient":       {Open: scripted(hello, map[string]string{"EHLO": "550 " + ct.Leak + "\r\n", "HELO": "550 no\r\n"}), Want: transient("code 550 at EHLO"+fault, 0)},
		"a relay without EHLO takes mail":         {Open: says("EHLO", "502 "+ct.Leak+"\r\n"), Want: accepted("code 250")},
		"451 to MAIL is transient":                {Open: relayed(ct.RelayOptions{Mail: 451}), Want: transient("code 451 at MAIL", 0)},
		"421 to MAIL is transient":                {Open: relayed(ct.RelayOptions{Mail: 421}), Want: transient("code 421 at MAIL", 0)},
		"550 to MAIL is permanent":                {Open: relayed(ct.RelayOptions{Mail: 550}), Want: permanent(reminder.PermanentFailure, "code 550 at MAIL")},
		"530 to MAIL is the channel's fault":      {Open: relayed(ct.RelayOptions{Mail: 530}), Want: transient("code 530 at MAIL"+fault, 0)},
		"450 to RCPT is transient":                {Open: relayed(ct.RelayOptions{Rcpt: 450}), Want: transient("code 450 at RCPT", 0)},
		"550 to RCPT is the recipient's":          {Open: relayed(ct.RelayOptions{Rcpt: 550}), Want: permanent(reminder.InvalidRecipient, "code 550 at RCPT")},
		"552 to RCPT is the recipient's":          {Open: relayed(ct.RelayOptions{Rcpt: 552}), Want: permanent(reminder.InvalidRecipient, "code 552 at RCPT")},
		"251 to RCPT is accepted":                 {Open: says("RCPT", "251 "+ct.Leak+"\r\n"), Want: accepted("code 250")},
		"451 to DATA is transient":                {Open: says("DATA", "451 "+ct.Leak+"\r\n"), Want: transient("code 451 at DATA", 0)},
		"554 to DATA is permanent":                {Open: says("DATA", "554 "+ct.Leak+"\r\n"), Want: permanent(reminder.PermanentFailure, "code 554 at DATA")},
		"250 to DATA is transient":                {Open: says("DATA", "250 "+ct.Leak+"\r\n"), Want: transient("code 250 at DATA", 0)},
		"452 to the mail is transient":            {Open: relayed(ct.RelayOptions{Data: 452}), Want: transient("code 452 at the end of the mail", 0)},
		"552 to the mail is permanent":            {Open: relayed(ct.RelayOptions{Data: 552}), Want: permanent(reminder.PermanentFailure, "code 552 at the end of the mail")},
		"354 to the mail is unknown":              {Open: says(".", "354 "+ct.Leak+"\r\n"), Want: unknown("code 354 at the end of the mail")},
		"what is no code after the mail":          {Open: says(".", ct.Leak+"\r\n"), Want: unknown("connection failed after the mail was sent")},
		"what is no code before it is transient":  {Open: says("RCPT", ct.Leak+"\r\n"), Want: transient("connection failed at RCPT, before the mail was sent", 0)},
		"two answers to RCPT are not one to DATA": {Open: says("RCPT", "250 a\r\n354 "+ct.Leak+"\r\n"), Want: transient("the receiver wrote before it was asked at DATA, before the mail was sent", 0)},
		"two answers to DATA are not one to it":   {Open: says("DATA", "354 a\r\n250 "+ct.Leak+"\r\n"), Want: transient("the receiver wrote before it was asked at the content, before the mail was sent", 0)},
		"an answer without end is transient":      {Open: says("EHLO", strings.Repeat("250-"+ct.Leak+"\r\n", 20_000)), Want: transient("too much text from the receiver at EHLO, before the mail was sent", 0)},
	})
}

func TestSMTPConnections(t *testing.T) {
	t.Parallel()
	ended := func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}
	dials := func(err error) func(*setup) {
		return func(s *setup) {
			s.options.DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
			}
		}
	}
	slow := ct.RelayOptions{Wrap: func(c net.Conn) net.Conn { return drippingConn{c} }}
	ct.Run(t, map[string]ct.Case{
		"a refused connection is transient":               {Open: relayed(ct.RelayOptions{}, dials(syscall.ECONNREFUSED)), Want: transient("connection refused at connecting, before the mail was sent", 0)},
		"an unknown host is transient":                    {Open: relayed(ct.RelayOptions{}, dials(&net.DNSError{Name: "canary-host", IsNotFound: true})), Want: transient("host not found at connecting, before the mail was sent", 0)},
		"a context that has ended is transient":           {Open: relayed(ct.RelayOptions{}), Context: ended, Want: transient("cancelled at connecting, before the mail was sent", 0)},
		"a relay that does not greet is transient":        {Open: scripted("", nil, quick), Want: transient("timeout at the greeting, before the mail was sent", 0)},
		"a relay that drips is transient":                 {Open: relayed(slow, quick), Want: transient("", 0)},
		"a close at RCPT is transient":                    {Open: says("RCPT", ""), Want: transient("connection closed by the receiver at RCPT, before the mail was sent", 0)},
		"a close at DATA is transient":                    {Open: says("DATA", ""), Want: transient("connection closed by the receiver at DATA, before the mail was sent", 0)},
		"a close after the final dot is unknown":          {Open: relayed(ct.RelayOptions{AtEnd: ct.DropAtEnd}), Want: unknown("connection closed by the receiver after the mail was sent")},
		"a reset after the final dot is unknown":          {Open: relayed(ct.RelayOptions{AtEnd: ct.ResetAtEnd}), Want: unknown("")},
		"no answer after the final dot is unknown":        {Open: relayed(ct.RelayOptions{AtEnd: ct.HangAtEnd}, quick), Want: unknown("timeout after the mail was sent")},
		"a connection cut before the dot is transient":    {Open: relayed(ct.RelayOptions{}, cut(3)), Want: transient("connection closed at the end of the mail, before the mail was sent", 0)},
		"a connection cut within the dot is transient":    {Open: relayed(ct.RelayOptions{}, cut(1)), Want: transient("connection closed at the end of the mail, before the mail was sent", 0)},
		"a connection that breaks behind it is unknown":   {Open: relayed(ct.RelayOptions{}, cut(0)), Want: unknown("timeout after the mail was sent")},
		"a relay that hangs on goodbye does not hold up":  {Open: scripted(hello, map[string]string{"QUIT": "\r"}), Want: accepted("code 250")},
		"a greylisting relay is transient the first time": {Open: relayed(ct.RelayOptions{Greylist: true}), Want: transient("code 450 at RCPT", 0)},
	})
}

// drippingConn writes a byte a time, with a pause.
type drippingConn struct{ net.Conn }

// Write drips.
func (c drippingConn) Write(b []byte) (int, error) {
	for i := range b {
		if _, err := c.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
		<-time.After(20 * time.Millisecond)
	}
	return len(b), nil
}

// cutConn breaks at the end of a mail, without its last bytes.
type cutConn struct {
	net.Conn
	short int
}

// Write breaks at the final dot.
func (c *cutConn) Write(b []byte) (int, error) {
	if !bytes.HasSuffix(b, []byte("\r\n.\r\n")) {
		return c.Conn.Write(b)
	}
	n, _ := c.Conn.Write(b[:len(b)-c.short])
	if c.short == 0 {
		return n, c.Conn.SetReadDeadline(time.Unix(1, 0))
	}
	_ = c.Conn.Close()
	return n, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
}

func cut(short int) func(*setup) {
	return func(s *setup) {
		dial := s.options.DialContext
		s.options.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			return &cutConn{c, short}, err
		}
	}
}

// relayCertificate is a certificate for example.com and 127.0.0.1, and a change that
// trusts it.
func relayCertificate(t *testing.T) (*tls.Config, func(*setup)) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return &tls.Config{Certificates: server.TLS.Certificates}, func(s *setup) {
		s.options.TLS = &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	}
}

func mode(m reminder.TLSMode) func(*setup) {
	return func(s *setup) { s.channel.SMTP.TLS = m }
}

func smtps(s *setup) { s.channel.SMTP.Port = 465 }

// logsIn has the credentials in a mounted Secret.
func logsIn(t *testing.T, password string) func(*setup) {
	t.Helper()
	dir := t.TempDir()
	writeCredentials(t, dir, password)
	return func(s *setup) { s.options.SecretDir, s.options.RequireSignature = dir, true }
}

func writeCredentials(t *testing.T, dir, password string) {
	t.Helper()
	for name, value := range map[string]string{channel.UserFile: user + "\n", channel.PasswordFile: password + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSMTPOverTLS(t *testing.T) {
	t.Parallel()
	config, trusting := relayCertificate(t)
	require, opportunistic := mode(reminder.TLSRequire), mode(reminder.TLSOpportunistic)
	offers, implicit := ct.RelayOptions{TLS: config}, ct.RelayOptions{TLS: config, Implicit: true}
	with := func(o ct.RelayOptions, login bool) ct.RelayOptions {
		o.User, o.Password, o.Login = user, password, login
		return o
	}
	good, bad := logsIn(t, password), logsIn(t, "canary-wrong")
	named := func(s *setup) { s.options.TLS = &tls.Config{ServerName: "example.com", MinVersion: tls.VersionTLS12} }
	unknownCA := "TLS: certificate signed by an unknown authority at "
	ct.Run(t, map[string]ct.Case{
		"STARTTLS where it is required":                {Open: relayed(offers, require, trusting), Want: accepted("code 250")},
		"STARTTLS where it is offered":                 {Open: relayed(offers, opportunistic, trusting), Want: accepted("code 250")},
		"a relay that proves nothing, opportunistic":   {Open: relayed(offers, opportunistic), Want: accepted("code 250")},
		"no STARTTLS, opportunistic":                   {Open: relayed(ct.RelayOptions{}, opportunistic), Want: accepted("code 250")},
		"no STARTTLS where it is required":             {Open: relayed(ct.RelayOptions{}, require, trusting), Want: transient("the relay offers no STARTTLS, and smtp.tls is Require", 0)},
		"a certificate of an unknown authority":        {Open: relayed(offers, require, named), Want: transient(unknownCA+"STARTTLS, before the mail was sent", 0)},
		"STARTTLS that is offered and refused":         {Open: scripted(hello, map[string]string{"EHLO": "250-a\r\n250 STARTTLS\r\n", "STARTTLS": "501 " + ct.Leak + "\r\n"}, opportunistic), Want: transient("code 501 at STARTTLS: the relay refused this client", 0)},
		"STARTTLS that is offered and no TLS":          {Open: scripted(hello, map[string]string{"EHLO": "250-a\r\n250 STARTTLS\r\n", "STARTTLS": "220 go\r\n" + ct.Leak + "\r\n"}, opportunistic, quick), Want: transient("", 0)},
		"encrypted from the start":                     {Open: relayed(implicit, require, trusting, smtps), Want: accepted("code 250")},
		"encrypted from the start by an unknown one":   {Open: relayed(implicit, require, smtps, named), Want: transient(unknownCA+"the greeting, before the mail was sent", 0)},
		"no TLS where it is from the start":            {Open: relayed(ct.RelayOptions{}, require, smtps), Want: transient("", 0)},
		"AUTH PLAIN":                                   {Open: relayed(with(offers, false), require, trusting, good), Want: accepted("code 250")},
		"AUTH LOGIN":                                   {Open: relayed(with(offers, true), require, trusting, good), Want: accepted("code 250")},
		"AUTH from the start":                          {Open: relayed(with(implicit, false), require, trusting, smtps, good), Want: accepted("code 250")},
		"a wrong password is the channel's fault":      {Open: relayed(with(offers, false), require, trusting, bad), Want: transient("code 535 at AUTH: the relay refused this client", 0)},
		"a wrong password by LOGIN":                    {Open: relayed(with(offers, true), require, trusting, bad), Want: transient("code 535 at AUTH: the relay refused this client", 0)},
		"a password that the relay does not ask for":   {Open: relayed(offers, require, trusting, good), Want: transient("the relay offers neither AUTH PLAIN nor AUTH LOGIN", 0)},
		"no password where the relay asks for one":     {Open: relayed(with(offers, false), require, trusting), Want: transient("code 530 at MAIL: the relay refused this client", 0)},
		"no answer after the final dot, encrypted":     {Open: relayed(ct.RelayOptions{TLS: config, AtEnd: ct.HangAtEnd}, require, trusting, func(s *setup) { s.timeout(time.Second) }), Want: unknown("timeout after the mail was sent")},
		"a password is not sent before there is a TLS": {Open: relayed(with(ct.RelayOptions{}, false), require, trusting, good), Want: transient("the relay offers no STARTTLS, and smtp.tls is Require", 0)},
	})
}

func TestSMTPReadsARotatedPassword(t *testing.T) {
	t.Parallel()
	config, trusting := relayCertificate(t)
	r := ct.NewRelay(t, ct.RelayOptions{TLS: config, User: user, Password: password})
	dir := t.TempDir()
	writeCredentials(t, dir, "canary-old")
	s := mailOpen(t, r.Addr(), mode(reminder.TLSRequire), trusting, func(s *setup) { s.options.SecretDir, s.options.RequireSignature = dir, true })
	if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Transient {
		t.Errorf("with the old password: %+v, want Transient", got)
	}
	writeCredentials(t, dir, password)
	if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Accepted {
		t.Errorf("with the new password: %+v, want Accepted", got)
	}
	if err := os.Remove(filepath.Join(dir, channel.PasswordFile)); err != nil {
		t.Fatal(err)
	}
	if got := s.Send(t.Context(), ct.Message()); got.Outcome != reminder.Transient || strings.Contains(got.Diagnostic, dir) {
		t.Errorf("without a password: %+v, want Transient without the path", got)
	}
	if mails := r.Mails(); len(mails) != 1 || mails[0].User != user || !mails[0].Encrypted {
		t.Errorf("mails %+v, want one of %s over TLS", mails, user)
	}
}

func TestAGreylistedMailGoesOutTheSecondTime(t *testing.T) {
	t.Parallel()
	r := ct.NewRelay(t, ct.RelayOptions{Greylist: true})
	s := mailOpen(t, r.Addr())
	for _, want := range []reminder.Outcome{reminder.Transient, reminder.Accepted} {
		if got := s.Send(t.Context(), ct.Message()); got.Outcome != want {
			t.Errorf("send is %+v, want %s", got, want)
		}
	}
}
