package channeltest

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// RelayOptions say how a [Relay] behaves; the zero value accepts everything.
type RelayOptions struct {
	// TLS is offered by STARTTLS, or spoken from the start with Implicit.
	TLS      *tls.Config
	Implicit bool
	// UTF8 offers SMTPUTF8.
	UTF8 bool
	// User and Password are asked for by AUTH PLAIN, or LOGIN with Login.
	User, Password string
	Login          bool
	// Mail, Rcpt and Data are the codes at MAIL, RCPT and the end of the mail; 0
	// means accepted.
	Mail, Rcpt, Data int
	// Greylist answers 450 to the first RCPT of each address.
	Greylist bool
	// AtEnd is called when the whole mail has been read, before it is answered.
	AtEnd func(r *Relay, c net.Conn)
	// Wrap changes each connection, such as to slow it down.
	Wrap func(net.Conn) net.Conn
}

// Relay is a mail relay on the loopback interface that misbehaves as told.
type Relay struct {
	RelayOptions
	// Closed ends when the relay shuts down; whatever waits must watch it.
	Closed chan struct{}

	listener net.Listener
	mu       sync.Mutex
	mails    []Mail
	seen     map[string]bool
}

// Mail is one mail as it arrived in full.
type Mail struct {
	From, To  string
	Data      []byte
	UTF8      bool
	Encrypted bool
	User      string
}

// NewRelay starts a relay that ends with the test.
func NewRelay(t testing.TB, o RelayOptions) *Relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	r := &Relay{RelayOptions: o, Closed: make(chan struct{}), listener: listener, seen: map[string]bool{}}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{relay: r, conn: c}, nil }))
	server.Domain, server.EnableSMTPUTF8, server.AllowInsecureAuth = Leak+".example", o.UTF8, true
	server.ErrorLog = log.New(io.Discard, "", 0)
	if o.Wrap != nil {
		listener = wrapped{listener, o.Wrap}
	}
	switch {
	case o.Implicit:
		listener = tls.NewListener(listener, o.TLS)
	case o.TLS != nil:
		server.TLSConfig = o.TLS
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		close(r.Closed)
		_ = listener.Close() // also if Serve has not begun
		_ = server.Close()
		serving.Wait()
	})
	return r
}

// Addr is the host and port where the relay listens.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Mails are the mails that have arrived in full so far.
func (r *Relay) Mails() []Mail {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Mail(nil), r.mails...)
}

func (r *Relay) arrived(m Mail) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mails = append(r.mails, m)
}

// again tells whether an address was there before.
func (r *Relay) again(address string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.seen[address]
	r.seen[address] = true
	return before
}

// DropAtEnd closes the connection when the mail has been read.
func DropAtEnd(_ *Relay, c net.Conn) { _ = c.Close() }

// ResetAtEnd resets the connection when the mail has been read.
func ResetAtEnd(_ *Relay, c net.Conn) { reset(c) }

// HangAtEnd never answers to a mail.
func HangAtEnd(r *Relay, _ net.Conn) { <-r.Closed }

// wrapped is a listener whose connections are changed.
type wrapped struct {
	net.Listener
	wrap func(net.Conn) net.Conn
}

// Accept changes the next connection.
func (w wrapped) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return w.wrap(c), nil
}

// session is one connection of a relay.
type session struct {
	relay *Relay
	conn  *smtp.Conn
	mail  Mail
	user  string
}

func refuse(code int) error {
	if code == 0 {
		return nil
	}
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 7, 1}, Message: Leak}
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string {
	switch {
	case s.relay.User == "":
		return nil
	case s.relay.Login:
		return []string{sasl.Login}
	}
	return []string{"CRAM-MD5", sasl.Plain}
}

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	check := func(user, password string) error {
		if user != s.relay.User || password != s.relay.Password {
			return refuse(535)
		}
		s.user = user
		return nil
	}
	if s.relay.Login {
		return &loginServer{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, o *smtp.MailOptions) error {
	_, encrypted := s.conn.TLSConnectionState()
	s.mail = Mail{From: from, UTF8: o.UTF8, Encrypted: encrypted, User: s.user}
	if s.relay.User != "" && s.user == "" {
		return refuse(530)
	}
	return refuse(s.relay.Mail)
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = to
	if s.relay.Greylist && !s.relay.again(to) {
		return refuse(450)
	}
	return refuse(s.relay.Rcpt)
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) (err error) {
	if s.mail.Data, err = io.ReadAll(r); err != nil {
		return err
	}
	s.relay.arrived(s.mail)
	if s.relay.AtEnd != nil {
		s.relay.AtEnd(s.relay, s.conn.Conn())
	}
	return refuse(s.relay.Data)
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.mail = Mail{} }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// loginServer is AUTH LOGIN.
type loginServer struct {
	check func(user, password string) error
	asked int
	user  string
}

// Next implements sasl.Server.
func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	l.asked++
	switch l.asked {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		l.user = string(response)
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.user, string(response))
}
