package channel_test

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"testing"

	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestAMailWithHTML(t *testing.T) {
	t.Parallel()
	r := ct.NewRelay(t, ct.RelayOptions{})
	s := mailOpen(t, r.Addr())
	m := ct.Message()
	m.Body, m.HTML = "Grüße\n", "<p>Grüße</p>\n--reminder\n.\n"+strings.Repeat("<b>long</b>", 300)
	for range 2 { // as in a second attempt
		if got := s.Send(t.Context(), m); got.Outcome != reminder.Accepted {
			t.Fatalf("send is %+v", got)
		}
	}
	mails := r.Mails()
	if !bytes.Equal(mails[0].Data, mails[1].Data) {
		t.Error("a second attempt is another mail")
	}
	read, err := netmail.ReadMessage(bytes.NewReader(mails[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s, %v", kind, err)
	}
	parts := multipart.NewReader(read.Body, params["boundary"])
	for _, want := range []struct{ kind, text string }{{"text/plain; charset=UTF-8", m.Body}, {"text/html; charset=UTF-8", m.HTML}} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil || part.Header.Get("Content-Type") != want.kind || strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") != strings.TrimSuffix(want.text, "\n") {
			t.Errorf("%v: %q, %v; want %q", part.Header, text, err, want.text)
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("more parts: %v", err)
	}
}

func TestTheHeaderForUnsubscribing(t *testing.T) {
	t.Parallel()
	r := ct.NewRelay(t, ct.RelayOptions{})
	s := mailOpen(t, r.Addr())
	for address, click := range map[string]string{
		"https://a.example/u?t=" + strings.Repeat("x", 870): "List-Unsubscribe=One-Click", "https://a.example/u?t=1,2": "List-Unsubscribe=One-Click", "mailto:leave@a.example?subject=x": "", "": "",
	} {
		m := ct.Message()
		m.UnsubscribeURL = address
		header, _ := readMail(t, s, r, m)
		want := ""
		if address != "" {
			want = "<" + address + ">"
		}
		if got := header.Get("List-Unsubscribe"); got != want || header.Get("List-Unsubscribe-Post") != click {
			t.Errorf("%q, %q; want %q, %q", got, header.Get("List-Unsubscribe-Post"), want, click)
		}
	}
	for _, bad := range []string{"https://a.example/\r\nBcc: x@b.example", "https://a.example/>", "http://a.example/", "https://a.example/ x", "mailto:a@b.example,c@d.example", "https://bücher.example", "https://a.example/" + strings.Repeat("x", 900)} {
		m := ct.Message()
		m.UnsubscribeURL = bad
		if got := s.Send(t.Context(), m); got.Reason != reminder.InvalidMessage || strings.Contains(got.Diagnostic, "example") {
			t.Errorf("%q: %+v, want it refused", bad, got)
		}
	}
}
