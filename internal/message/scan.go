package message

import "strings"

// segment is a run of literal text or one expression of a template.
type segment struct {
	text string
	expr bool
	// at is the place of the first character of text.
	at position
}

const (
	openMark  = "{{"
	closeMark = "}}"
)

// scan splits a template into literal texts and expressions. It knows as much of
// CEL as it takes to find the end of an expression: a closing mark inside a
// string literal, or behind an open brace, does not end it.
func scan(source string) ([]segment, *Error) {
	var segments []segment
	at := position{1, 1}
	for source != "" {
		text, rest, found := strings.Cut(source, openMark)
		if text != "" {
			segments = append(segments, segment{text: text, at: at})
		}
		if !found {
			break
		}
		opened := at.after(text)
		expr, reason := untilClose(rest)
		if reason != "" {
			return nil, opened.fault("", "%s", reason)
		}
		at = opened.after(openMark)
		if strings.TrimSpace(expr) == "" {
			return nil, opened.fault("", "the expression is empty; to print {{ write {{ \"{{\" }}")
		}
		segments = append(segments, segment{text: expr, expr: true, at: at})
		at = at.after(expr + closeMark)
		source = rest[len(expr)+len(closeMark):]
	}
	return segments, nil
}

// untilClose is the expression that s starts with, up to its closing mark, or
// the reason why there is none.
func untilClose(s string) (expr, reason string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			end := stringEnd(s, i)
			if end < 0 {
				return "", "{{ opens an expression in which a string literal is not closed"
			}
			i = end - 1
		case c == '/' && strings.HasPrefix(s[i:], "//"):
			i += commentLen(s[i:]) - 1
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}' && strings.HasPrefix(s[i:], closeMark):
			return s[:i], ""
		}
	}
	return "", "{{ is not closed by }}; to print {{ write {{ \"{{\" }}"
}

// commentLen is the length of the CEL comment that s starts with; it ends before
// a line's end or a closing mark.
func commentLen(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if i := strings.Index(s, closeMark); i >= 0 {
		s = s[:i]
	}
	return len(s)
}

// stringEnd is the index behind the CEL string literal whose first quote is at
// s[start], or -1 when it is not closed. CEL has single and triple quotes of both
// kinds, and a prefix r under which a backslash escapes nothing.
func stringEnd(s string, start int) int {
	quote := s[start : start+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[start:], triple) {
		quote = triple
	}
	raw := isRaw(s[:start])
	for i := start + len(quote); i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case s[i] == '\\' && !raw:
			i++
		case s[i] == '\n' && len(quote) == 1:
			return -1
		}
	}
	return -1
}

// isRaw tells whether the word that ends before a quote is a raw string's prefix.
func isRaw(before string) bool {
	word := before[len(strings.TrimRightFunc(before, isWord)):]
	switch strings.ToLower(word) {
	case "r", "br", "rb":
		return true
	}
	return false
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
