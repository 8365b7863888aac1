package plugin

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// Severities of problems: with an error an object is refused or does nothing; a warning is about what is probably not
// meant, an info about what was not checked.
const (
	severityError   = "error"
	severityWarning = "warning"
	severityInfo    = "info"
)

// problem is one thing that is wrong with a document.
type problem struct {
	Severity string `json:"severity"`
	Path     string `json:"path,omitempty"` // of the field; "" for the whole
	Message  string `json:"message"`

	caret string // the value, and below it a caret under the character at fault; "" for none
}

// String is the problem without its severity, in one line.
func (p problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// within tells whether a problem is about a field or one below it.
func (p problem) within(path string) bool {
	rest, ok := strings.CutPrefix(p.Path, path)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// scheduleProblem is what package convert says of a schedule's time fields.
func scheduleProblem(err error) problem {
	p := problem{Severity: severityError, Message: err.Error()}
	if shown, ok := errors.AsType[*field.Error](err); ok {
		p.Path = shown.Field
	}
	if fault, ok := errors.AsType[*schedule.FieldError](err); ok {
		p.Message = strings.TrimPrefix(fault.Error(), fault.Field+": ")
		p.caret = fault.Caret()
	}
	return p
}

// refusalProblem is what the schema says of a field. Of the values only those are repeated that hold nothing personal and
// no password: those of the time fields, and what should be one of a few words.
func refusalProblem(e *field.Error) problem {
	if e.Field == "<nil>" {
		return problem{Severity: severityInfo, Message: e.Detail}
	}
	p := problem{Severity: severityError, Path: e.Field}
	shown := *e
	value, isText := e.BadValue.(string)
	if !isText || len(value) > 80 || isType(value) || !p.within(schedulePath) && e.Type != field.ErrorTypeNotSupported {
		shown.BadValue = field.OmitValueType{}
	}
	shown.Detail = strings.TrimPrefix(e.Detail, e.Field+" in body ")
	p.Message = strings.TrimPrefix(shown.ErrorBody(), "Invalid value: ")
	return p
}

// isType tells whether a value is none but the name of its type, as rules report it.
func isType(value string) bool {
	return slices.Contains([]string{"string", "object", "array", "integer", "boolean", "number"}, value)
}

// withoutPatterns drops that a value should match a pattern where a rule says in words what it should be.
func withoutPatterns(problems []problem) []problem {
	said := map[string]int{}
	for _, p := range problems {
		said[p.Path]++
	}
	return slices.DeleteFunc(problems, func(p problem) bool {
		return said[p.Path] > 1 && strings.Contains(p.Message, "should match '^")
	})
}

// clean makes text fit for a terminal: what files and objects say may hold control characters.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
