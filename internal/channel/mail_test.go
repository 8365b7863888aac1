package channel_test

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// sendTo sends the message to an address.
func sendTo(t *testing.T, s channel.Sender, address string) reminder.Result {
	t.Helper()
	m := ct.Message()
	m.Address = address
	got := s.Send(t.Context(), m)
	ct.CheckResult(t, got)
	return got
}

func TestAddressesOfMail(t *testing.T) {
	t.Parallel()
	r := ct.NewRelay(t, ct.RelayOptions{})
	s := mailOpen(t, r.Addr())
	for _, good := range []string{"a@b.example", "first.last+tag@sub.b-c.example", "o'hara_{x}@b.example", "1@2.example"} {
		if got := sendTo(t, s, good); got.Outcome != reminder.Accepted {
			t.Errorf("%q: got %+v, want Accepted", good, got)
		}
	}
	sent := len(r.Mails())
	for _, bad := range []string{
		"", "a", "a@", "@b.example", "a@localhost", `"x" <a@b.example>`, "<a@b.example>", "x <a@b.example>", "a@b.example,c@d.example", "a@b.example c@d.example", "a@b@c.example",
		"b@[127.0.0.1]", "b@127.0.0.1", "b@[IPv6:::1]", "a@b\r\nBcc: c", "a@b.com>\r\nDATA\r\n", "a\n@b.example", "a@b.example\n", " a@b.example", "a b@c.example", "a\x00@b.example",
		`"a b"@c.example`, "a..b@c.example", ".a@c.example", "a.@c.example", "a@c..example", "a@.example", "a@c.example.", "a@-c.example", "a@c-.example", "a(x)@c.example", "a:b@c.example",
		"a@b.example> SIZE=1", "a\u2028@b.example", "a\u202e@b.example", "a@b\u00a0c.example", "\xff@b.example",
		strings.Repeat("a", 65) + "@b.example", "a@" + strings.Repeat("b", 64) + ".example", "a@" + strings.Repeat("b.", 130) + "example",
	} {
		got := sendTo(t, s, bad)
		if got.Outcome != reminder.Permanent || got.Reason != reminder.InvalidRecipient || got.Diagnostic != "the address is not one bare e-mail address" {
			t.Errorf("%q: got %+v, want it refused", bad, got)
		}
	}
	if got := len(r.Mails()); got != sent {
		t.Errorf("%d mails went out to addresses that are none", got-sent)
	}
}

func TestAddressesThatNeedSMTPUTF8(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"имя@b.example", "a@bücher.example"} {
		if got := sendTo(t, mailOpen(t, ct.NewRelay(t, ct.RelayOptions{}).Addr()), address); got != permanent(reminder.InvalidRecipient, "address unsupported: the relay offers no SMTPUTF8") {
			t.Errorf("%s without SMTPUTF8: got %+v", address, got)
		}
		r := ct.NewRelay(t, ct.RelayOptions{UTF8: true})
		if got := sendTo(t, mailOpen(t, r.Addr()), address); got.Outcome != reminder.Accepted || len(r.Mails()) != 1 || !r.Mails()[0].UTF8 || r.Mails()[0].To != address {
			t.Errorf("%s with SMTPUTF8: got %+v, mails %+v", address, got, r.Mails())
		}
	}
	r := ct.NewRelay(t, ct.RelayOptions{UTF8: true})
	if sendTo(t, mailOpen(t, r.Addr()), "a@b.example"); r.Mails()[0].UTF8 {
		t.Error("SMTPUTF8 is asked for without need")
	}
}

// readMail sends a message and takes apart what has arrived.
func readMail(t *testing.T, s channel.Sender, r *ct.Relay, m reminder.Message) (textproto.MIMEHeader, string) {
	t.Helper()
	if got := s.Send(t.Context(), m); got.Outcome != reminder.Accepted {
		t.Fatalf("send is %+v", got)
	}
	mails := r.Mails()
	data := mails[len(mails)-1].Data
	for line := range bytes.SplitSeq(data, []byte("\r\n")) {
		if len(line) > 998 || bytes.ContainsAny(line, "\r\n") || strings.ContainsFunc(string(line), func(r rune) bool { return r > 0x7e }) {
			t.Errorf("a line of %d bytes is no line of a mail: %q", len(line), line)
		}
	}
	reader := bufio.NewReader(bytes.NewReader(data))
	header, err := textproto.NewReader(reader).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(reader))
	if err != nil {
		t.Fatal(err)
	}
	return header, string(body)
}

func TestAMail(t *testing.T) {
	t.Parallel()
	r := ct.NewRelay(t, ct.RelayOptions{})
	s := mailOpen(t, r.Addr())
	m := ct.Message()
	m.Subject, m.Body = "Ihr Plan läuft aus", "Grüße,\n.\nQUIT\r\nFrom here\n"
	header, body := readMail(t, s, r, m)
	want := map[string]string{
		"Message-Id": "<" + m.ID + "@reminders.billing.example>", "From": "<" + sender + ">", "To": "<" + m.Address + ">", "Date": "Tue, 03 Nov 2026 08:00:05 +0000",
		"Mime-Version": "1.0", "Content-Type": "text/plain; charset=UTF-8", "Content-Transfer-Encoding": "quoted-printable", "Auto-Submitted": "auto-generated", "User-Agent": "reminder-operator",
	}
	for name, value := range want {
		if got := header.Values(name); len(got) != 1 || got[0] != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if len(header) != len(want)+1 {
		t.Errorf("headers %v, want %d", header, len(want)+1)
	}
	if got, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject")); err != nil || got != m.Subject {
		t.Errorf("subject %q, %v", got, err)
	}
	if got := strings.ReplaceAll(body, "\r\n", "\n"); got != strings.ReplaceAll(m.Body, "\r\n", "\n") && got != strings.ReplaceAll(m.Body, "\r\n", "\n")+"\n" {
		t.Errorf("body %q", got)
	}
	if mails := r.Mails(); len(mails) != 1 || mails[0].From != sender || mails[0].To != m.Address {
		t.Errorf("envelope %+v", mails)
	}
}

// Whatever the subject, it arrives as it is and brings no header of its own.
func TestSubjectsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	r := ct.NewRelay(t, ct.RelayOptions{})
	s := mailOpen(t, r.Addr())
	check := func(t *testing.T, subject string) {
		m := ct.Message()
		m.Subject = subject
		before := len(r.Mails())
		got := s.Send(t.Context(), m)
		if got.Outcome == reminder.Permanent {
			return
		}
		data, _, _ := bytes.Cut(r.Mails()[before].Data, []byte("\r\n\r\n"))
		header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(data, "\r\n\r\n"...)))).ReadMIMEHeader()
		if err != nil || len(header) != 10 {
			t.Fatalf("headers %v, %v", header, err)
		}
		if got, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject")); err != nil || strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(subject), " ") {
			t.Fatalf("subject %q became %q (%v)", subject, got, err)
		}
	}
	for _, subject := range []string{"", "a", "=?utf-8?q?Hi=0D=0ABcc:_x@evil.example?=", "=?a", strings.Repeat("a", 998), strings.Repeat("ü", 400), "a: b", strings.Repeat("word ", 150) + "end"} {
		check(t, subject)
	}
	for _, bad := range []string{"Hi\r\nBcc: x@evil.example", "a\nb", "a\rb", "a\x00b", "a\u0085b", "a\u2028b", "\xff"} {
		m := ct.Message()
		m.Subject = bad
		if got := s.Send(t.Context(), m); got.Reason != reminder.InvalidMessage {
			t.Errorf("subject %q: got %+v, want it refused", bad, got)
		}
	}
	deadline := time.Now().Add(2 * time.Second)
	rapid.Check(t, func(rt *rapid.T) {
		if subject := rapid.StringN(0, 300, 900).Draw(rt, "subject"); time.Now().Before(deadline) {
			check(t, subject)
		}
	})
}

func TestRelaysThatAreRefused(t *testing.T) {
	t.Parallel()
	good := reminder.SMTPChannel{Host: "relay.example", Port: 587, TLS: reminder.TLSRequire, From: sender}
	for name, c := range map[string]struct {
		change func(*reminder.SMTPChannel)
		login  bool
		want   string
	}{
		"no host":                      {func(c *reminder.SMTPChannel) { c.Host = "" }, false, "smtp.host"},
		"port 0":                       {func(c *reminder.SMTPChannel) { c.Port = 0 }, false, "smtp.port"},
		"an unknown mode":              {func(c *reminder.SMTPChannel) { c.TLS = "STARTTLS" }, false, "smtp.tls"},
		"a sender with a name":         {func(c *reminder.SMTPChannel) { c.From = "canary <a@b.example>" }, false, "smtp.from"},
		"a sender with a line break":   {func(c *reminder.SMTPChannel) { c.From = "a@b.example\r\nRSET" }, false, "smtp.from"},
		"a password in the clear":      {func(c *reminder.SMTPChannel) { c.TLS = reminder.TLSNone }, true, "a password is not sent in the clear"},
		"a password, perhaps":          {func(c *reminder.SMTPChannel) { c.TLS = reminder.TLSOpportunistic }, true, "a password is not sent in the clear"},
		"a Secret that is not there":   {func(*reminder.SMTPChannel) {}, true, "the channel's Secret is not mounted"},
		"everything as it ought to be": {func(*reminder.SMTPChannel) {}, false, ""},
	} {
		relay := good
		c.change(&relay)
		_, err := channel.New(reminder.Channel{Type: reminder.ChannelSMTP, SendTimeout: time.Second, SMTP: &relay}, channel.Options{RequireSignature: c.login})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestCheckSecretOfARelay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		user, password, want string
	}{
		"both":                 {"u", "p", ""},
		"no password":          {"u", "", "key password is empty"},
		"only a line break":    {"\n", "p", "key username is empty"},
		"two lines":            {"u", "canary\nx", "key password has more than one line, or a NUL"},
		"a password too large": {"u", strings.Repeat("x", 5000), "key password has more than 4096 bytes"},
	} {
		got := ""
		if err := channel.CheckSecret(reminder.ChannelSMTP, map[string][]byte{channel.UserFile: []byte(c.user), channel.PasswordFile: []byte(c.password)}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: error is %q, want %q", name, got, c.want)
		}
	}
	if err := channel.CheckSecret(reminder.ChannelSMTP, nil); err == nil || err.Error() != "lacks the key username" {
		t.Errorf("no keys: got %v", err)
	}
}
