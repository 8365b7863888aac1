package channel

import (
	"bytes"
	"encoding/base64"
	"errors"
	netmail "net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// compose is the mail for m as it goes through the wire. Its errors hold nothing
// of it.
func compose(m reminder.Message, from, program string, now time.Time) ([]byte, error) {
	switch {
	case !utf8.ValidString(m.Subject) || !utf8.ValidString(m.Body) || !utf8.ValidString(m.HTML):
		return nil, errors.New("the message is not valid UTF-8")
	case strings.ContainsFunc(m.Subject, isControl):
		return nil, errors.New("the subject holds a line break or another control character")
	case m.UnsubscribeURL != "" && !isUnsubscribe(m.UnsubscribeURL):
		return nil, errors.New("the address for unsubscribing cannot stand in a header")
	}
	mail := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	mail.SetAddrHeaderFromMailAddress(gomail.HeaderFrom, &netmail.Address{Address: from})
	mail.SetAddrHeaderFromMailAddress(gomail.HeaderTo, &netmail.Address{Address: m.Address})
	mail.Subject(encodeWords(m.Subject))
	mail.SetDateWithValue(now.UTC())
	mail.SetMessageIDWithValue(messageID(m.ID, from))
	mail.SetGenHeader("Auto-Submitted", "auto-generated")
	mail.SetGenHeader(gomail.HeaderUserAgent, program)
	unsubscribe(mail, m.UnsubscribeURL)
	mail.SetBodyString(gomail.TypeTextPlain, m.Body)
	if m.HTML != "" { // the last alternative is the best one (RFC 2046, section 5.1.4)
		mail.SetBoundary("reminder-" + m.ID)
		mail.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	var b bytes.Buffer
	if _, err := mail.WriteTo(&b); err != nil {
		return nil, errors.New("the mail cannot be encoded")
	}
	return b.Bytes(), nil
}

const maxUnsubscribe = 900

// isUnsubscribe tells whether s is an https or mailto address of which nothing ends
// the brackets that it stands in, or the header.
func isUnsubscribe(s string) bool {
	return len(s) <= maxUnsubscribe && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "mailto:")) &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return r <= ' ' || r >= 0x7f || r == '<' || r == '>' || r == ',' && strings.HasPrefix(s, "mailto:")
		})
}

// unsubscribe offers the recipient to end reminders (RFC 2369), over https by one
// click (RFC 8058). Preformatted: a URL is not folded.
func unsubscribe(mail *gomail.Msg, address string) {
	if address == "" {
		return
	}
	mail.SetGenHeaderPreformatted("List-Unsubscribe", "<"+address+">")
	if strings.HasPrefix(address, "https://") {
		mail.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
}

// isControl tells what no header may hold, also once it is decoded: controls, and
// the separators of lines and paragraphs.
func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// messageID is the same in every attempt of a reminder.
func messageID(id, from string) string {
	if domain := domainOf(from); isASCII(domain) {
		return id + "@reminders." + domain
	}
	return id + "@reminders.invalid"
}

const (
	// maxPlainWord is the longest word of a header that is not encoded; RFC 5322
	// allows lines of 998 characters and asks for 78.
	maxPlainWord = 70
	// maxChunk is how many bytes fit into an encoded word: RFC 2047 allows 75
	// characters, of which 12 are around them.
	maxChunk = 45
)

// encodeWords is a header's text as encoded words where it needs them: what is not
// ASCII, long words, and what itself looks like an encoded word, which would be
// decoded to something else.
func encodeWords(s string) string {
	long := false
	for word := range strings.SplitSeq(s, " ") {
		long = long || len(word) > maxPlainWord
	}
	if isASCII(s) && !long && !strings.Contains(s, "=?") {
		return s
	}
	var words []string
	for s != "" {
		n := chunk(s)
		words = append(words, "=?utf-8?B?"+base64.StdEncoding.EncodeToString([]byte(s[:n]))+"?=")
		s = s[n:]
	}
	return strings.Join(words, " ")
}

// chunk is the length of what fits into one encoded word, in whole characters.
func chunk(s string) int {
	if len(s) <= maxChunk {
		return len(s)
	}
	n := maxChunk
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
