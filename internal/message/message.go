package message

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Message is the compiled message of a schedule.
type Message struct {
	// Subject renders to one line without control characters.
	Subject *Template
	// Body renders to any text.
	Body *Template
}

// CompileMessage compiles the message of a schedule; either part may be empty.
// An error names the field, spec.message.subject or spec.message.body, and wraps
// an *[Error].
func CompileMessage(subject, body string) (*Message, error) {
	s, err := compile(subject, rules{maxOutput: MaxSubject, oneLine: true}, maxEstimate)
	if err != nil {
		return nil, fmt.Errorf("spec.message.subject: %w", err)
	}
	b, err := Compile(body)
	if err != nil {
		return nil, fmt.Errorf("spec.message.body: %w", err)
	}
	return &Message{Subject: s, Body: b}, nil
}

// Render is the subject and the body for one reminder.
func (m *Message) Render(in Input) (subject, body string, err error) {
	if subject, err = m.Subject.Render(in); err != nil {
		return "", "", fmt.Errorf("spec.message.subject: %w", err)
	}
	if body, err = m.Body.Render(in); err != nil {
		return "", "", fmt.Errorf("spec.message.body: %w", err)
	}
	return subject, body, nil
}

// encodedWord is an RFC 2047 encoded word: a later hop would decode it, to
// characters that nobody has checked.
var encodedWord = regexp.MustCompile(`=\?[^?]*\?[bBqQ]\?[^?]*\?=`)

// refuse is why a rendered text, or a part of it, may not stand, or nothing.
func (r rules) refuse(text string) string {
	switch {
	case !r.oneLine:
		return ""
	case strings.ContainsFunc(text, breaksLine):
		return "the subject holds a line break or another control character"
	case encodedWord.MatchString(text):
		return "the subject holds an encoded word (=?…?=), which mail programs decode; write the text itself"
	}
	return ""
}

// breaksLine: control characters, and the two separators that Unicode has for lines.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
