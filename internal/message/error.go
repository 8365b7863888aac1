package message

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with a template, where, and in which expression. It
// never holds a value of a recipient.
type Error struct {
	// Line and Column are the place in the template, both from 1; Column counts
	// characters.
	Line, Column int
	// Expr is the expression as the author wrote it, without the braces, cut at
	// 120 characters; empty when the fault is not in an expression.
	Expr string
	// Reason is what is wrong and, where there is one, the remedy.
	Reason string
}

const maxShownExpr = 120

// Error is the place, the expression and the reason in one line.
func (e *Error) Error() string {
	if e.Expr == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d: {{ %s }}: %s", e.Line, e.Column, e.Expr, e.Reason)
}

// position is a place in a template; both count from 1.
type position struct{ line, column int }

// after is the place behind text that starts at p.
func (p position) after(text string) position {
	if n := strings.Count(text, "\n"); n > 0 {
		p.line += n
		p.column = 1
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	p.column += utf8.RuneCountInString(text)
	return p
}

func (p position) fault(expr, format string, args ...any) *Error {
	return &Error{Line: p.line, Column: p.column, Expr: shown(expr), Reason: fmt.Sprintf(format, args...)}
}

// shown is an expression as errors quote it: on one line and cut.
func shown(expr string) string {
	expr = strings.Join(strings.Fields(expr), " ")
	if utf8.RuneCountInString(expr) <= maxShownExpr {
		return expr
	}
	return string([]rune(expr)[:maxShownExpr]) + "…"
}
