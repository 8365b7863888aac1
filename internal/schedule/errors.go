package schedule

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxShown bounds how much of a user's value an error repeats, in bytes: errors end up in status and events.
const maxShown = 80

// FieldError says what is wrong with one field of a Spec and what to write instead. Every error of this package is one.
type FieldError struct {
	Field  string // the field's name as users write it, below spec.schedule: "cron", "dst.gap"; "" for the whole
	Value  string // what was written, at most 80 bytes of it
	Pos    int    // where in the field's text the fault is, a byte offset from 0; -1 if it is the whole value
	Reason string // what is wrong
	Hint   string // what to write instead

	// NeverOccurs tells that the Spec is well formed but names no time that exists, such as 30 February.
	NeverOccurs bool
}

// Error puts everything but the value into one line, with the position counted from 1 as people count.
func (e *FieldError) Error() string {
	var b strings.Builder
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	if e.Pos >= 0 {
		fmt.Fprintf(&b, "character %d: ", e.Pos+1)
	}
	b.WriteString(e.Reason)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Caret returns the value and below it a line with a caret under the character at fault, or "" if there is none to show.
func (e *FieldError) Caret() string {
	if e.Pos < 0 || e.Pos > len(e.Value) {
		return ""
	}
	return e.Value + "\n" + strings.Repeat(" ", e.Pos) + "^"
}

// fault is a FieldError in the making: a parser knows the place and the reason, its caller the field and the value.
type fault struct {
	pos    int
	reason string
	hint   string
	never  bool // FieldError.NeverOccurs
}

func (f *fault) in(field, value string) *FieldError {
	return &FieldError{Field: field, Value: shown(value), Pos: f.pos, Reason: f.reason, Hint: f.hint, NeverOccurs: f.never}
}

// never is a fault of something well formed that never occurs.
func never(pos int, why, hint string) *fault {
	return &fault{pos: pos, reason: "this can never occur: " + why, hint: hint, never: true}
}

// whole is a FieldError about all of a value.
func whole(field, value, reason, hint string) *FieldError {
	return (&fault{pos: -1, reason: reason, hint: hint}).in(field, value)
}

// shown cuts text so that it can be repeated to people: short, one line, valid UTF-8.
func shown(text string) string {
	cut := len(text) > maxShown
	if cut {
		text = text[:maxShown]
	}
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	if cut {
		text += "…"
	}
	return text
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == utf8.RuneError {
		return '\uFFFD'
	}
	return r
}
