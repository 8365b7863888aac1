package message

import (
	"net/url"
	"strings"
)

// MaxUnsubscribe is the longest address for unsubscribing, in bytes: with the name of its header it must fit into a line
// of a mail.
const MaxUnsubscribe = 900

// Unsubscribe is the compiled template of the address at which a recipient ends further reminders. It is immutable and
// safe for concurrent use.
type Unsubscribe struct{ template *Template }

// CompileUnsubscribe compiles the template of an https or mailto address. Values are percent-encoded, but for that of an
// expression at the very beginning, which is a whole address or the beginning of one. An error is an *[Error].
func CompileUnsubscribe(source string) (*Unsubscribe, error) {
	t, err := compile(source, rules{maxOutput: MaxUnsubscribe}, maxEstimate)
	if err != nil {
		return nil, err
	}
	if len(t.parts) == 0 {
		return nil, position{1, 1}.fault("", "%s", reasonAddress)
	}
	if first := t.parts[0]; !first.expr {
		if reason := badAddress(first.text, len(t.parts) > 1); reason != "" {
			return nil, first.at.fault("", "%s", reason)
		}
	}
	for _, p := range t.parts {
		if !p.expr && !isGraphic(p.text) {
			return nil, p.at.fault("", "%s", reasonCharacters)
		}
	}
	return &Unsubscribe{t}, nil
}

const (
	reasonAddress    = "the address for unsubscribing is neither https:// with a host nor mailto: with a mailbox"
	reasonCharacters = "the address for unsubscribing holds a blank, a bracket <>, a quote or what is not ASCII; percent-encode it"
)

// Render is the address for one reminder. An error is an *[Error].
func (u *Unsubscribe) Render(in Input) (string, error) {
	if size(in.Recipient.Attributes) > MaxAttributes {
		return "", position{1, 1}.fault("", "the recipient's attributes have more than %d bytes", MaxAttributes)
	}
	var out strings.Builder
	for i, p := range u.template.parts {
		text, _, err := p.render(activation{&in})
		if err != nil {
			return "", err
		}
		if p.expr && i > 0 {
			text = encoded(text)
		}
		if out.Len()+len(text) > MaxUnsubscribe {
			return "", p.at.fault(p.exprText(), "the rendered text is longer than %d bytes", MaxUnsubscribe)
		}
		out.WriteString(text)
	}
	if reason := badAddress(out.String(), false); reason != "" {
		return "", position{1, 1}.fault("", "%s", reason)
	}
	return out.String(), nil
}

// encoded is a value in which nothing has a meaning in a URL.
func encoded(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// badAddress is why an address, or the beginning of one, may not stand, or nothing.
func badAddress(text string, more bool) string {
	if !isGraphic(text) {
		return reasonCharacters
	}
	u, err := url.Parse(text)
	switch {
	case more && err != nil: // such as one that is cut inside an escape
		return reasonAddress
	case err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && u.Fragment == "":
		return ""
	case err == nil && u.Scheme == "mailto" && (more || strings.Contains(u.Opaque, "@")):
		return ""
	}
	return reasonAddress
}

// isGraphic tells whether a text can stand in <> in a header and is a URL's.
func isGraphic(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("<>\"\\^`{|}", r) })
}
