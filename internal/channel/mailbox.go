package channel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of RFC 5321, section 4.5.3.1, in bytes.
const (
	maxMailbox   = 254
	maxLocalPart = 64
	maxLabel     = 63
)

// isMailbox tells whether s is one bare e-mail address as a relay takes it: a
// local part of atoms with dots between them, and a domain. Display names, quoted
// local parts, comments, address literals and lists are none.
func isMailbox(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && len(s) <= maxMailbox && utf8.ValidString(s) && isLocalPart(local) && isDomain(domain)
}

// isRecipient tells whether mail can be sent to s: beyond [isMailbox], its domain
// is a full one and not a number, such as that of an IP address.
func isRecipient(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	return isMailbox(s) && dot > strings.IndexByte(s, '@') && strings.ContainsFunc(s[dot:], func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
}

func isLocalPart(s string) bool {
	if len(s) > maxLocalPart {
		return false
	}
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool { return !isAtomRune(r) }) {
			return false
		}
	}
	return true
}

// isAtomRune is atext of RFC 5322, and RFC 6531 for what is not ASCII.
func isAtomRune(r rune) bool {
	return isWordRune(r) || r < utf8.RuneSelf && strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

func isDomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool { return !isWordRune(r) && r != '-' }) {
			return false
		}
	}
	return true
}

// isWordRune tells letters, digits and marks from the rest: white space, what
// changes the direction of writing, and the like.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isASCII tells whether s can go through a relay without SMTPUTF8.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
