package message

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct {
	parts []part
	rules rules
}

// part is a literal text or a compiled expression.
type part struct {
	segment
	program cel.Program
}

// rules tell bodies and subjects apart.
type rules struct {
	maxOutput int
	// oneLine refuses what could end a header's line, now or after decoding.
	oneLine bool
}

// Input is what a template is rendered for.
type Input struct {
	Recipient reminder.Recipient
	// Key names the reminder; its namespace and schedule are those of the schedule.
	Key          reminder.Key
	DueTime      time.Time
	DeadlineTime time.Time
}

// Compile compiles a template whose text may have many lines, such as a body. An
// error is an *[Error].
func Compile(source string) (*Template, error) {
	return compile(source, rules{maxOutput: MaxOutput}, maxEstimate)
}

func compile(source string, r rules, maxEstimate uint64) (*Template, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	segments, fault := scan(source)
	if fault != nil {
		return nil, fault
	}
	t := &Template{rules: r}
	expressions := 0
	for _, s := range segments {
		p := part{segment: s}
		if !s.expr {
			if reason := r.refuse(s.text); reason != "" {
				return nil, s.at.fault("", "%s", reason)
			}
		} else if expressions++; expressions > MaxExpressions {
			return nil, s.at.fault(s.text, "is one expression too many; the limit is %d", MaxExpressions)
		} else if p.program, fault = program(env, s, maxEstimate); fault != nil {
			return nil, fault
		}
		t.parts = append(t.parts, p)
	}
	return t, nil
}

func checkSource(source string) error {
	start := position{1, 1}
	if len(source) > MaxSource {
		return start.fault("", "the template has %d bytes; the limit is %d", len(source), MaxSource)
	}
	if !utf8.ValidString(source) {
		valid := strings.ToValidUTF8(source, "\uFFFD")
		return start.after(valid[:strings.Index(valid, "\uFFFD")]).fault("", "the template is not valid UTF-8")
	}
	return nil
}

// Render is the text for one reminder. An error is an *[Error]; it means that no
// attempt for this recipient can succeed with these attributes.
func (t *Template) Render(in Input) (string, error) {
	if size(in.Recipient.Attributes) > MaxAttributes {
		return "", position{1, 1}.fault("", "the recipient's attributes have more than %d bytes", MaxAttributes)
	}
	var out strings.Builder
	var spent uint64
	for _, p := range t.parts {
		text, cost, err := p.render(activation{&in})
		if err != nil {
			return "", err
		}
		if spent += cost; spent > maxRenderCost {
			return "", p.at.fault(p.text, "%s", reasonCost)
		}
		if reason := t.rules.refuse(text); reason != "" {
			return "", p.at.fault(p.exprText(), "%s", reason)
		}
		if out.Len()+len(text) > t.rules.maxOutput {
			return "", p.at.fault(p.exprText(), "the rendered text is longer than %d bytes", t.rules.maxOutput)
		}
		out.WriteString(text)
	}
	if reason := t.rules.refuse(out.String()); reason != "" {
		return "", position{1, 1}.fault("", "%s", reason)
	}
	return out.String(), nil
}

const reasonCost = "costs too much for this recipient"

// exprText is the text that errors may quote.
func (p part) exprText() string {
	if p.expr {
		return p.text
	}
	return ""
}

// render is the text of one part and what it cost.
func (p part) render(vars cel.Activation) (string, uint64, error) {
	if !p.expr {
		return p.text, 0, nil
	}
	value, details, err := p.program.Eval(vars)
	if err != nil {
		return "", 0, p.at.fault(p.text, "%s", reasonOf(err, p.text))
	}
	text, ok := textOf(value)
	if !ok {
		return "", 0, p.at.fault(p.text, "yields nothing that has a text")
	}
	if !utf8.ValidString(text) {
		return "", 0, p.at.fault(p.text, "yields what is not valid UTF-8")
	}
	return text, *details.ActualCost(), nil
}

// reasonOf is why an evaluation failed. CEL's errors hold values; only what is
// known to hold none, or what the expression itself spells, is passed on.
func reasonOf(err error, expr string) string {
	if _, ok := errors.AsType[interpreter.EvalCancelledError](err); ok {
		return reasonCost
	}
	text := err.Error()
	if key, ok := strings.CutPrefix(text, "no such key: "); ok {
		if key != "" && strings.Contains(expr, key) {
			return fmt.Sprintf("the recipient has no attribute %s; give it one, or a default: recipient.attributes[?%q].orValue(\"…\")", key, key)
		}
		return "the recipient lacks an attribute that the expression asks for"
	}
	if own, ok := strings.CutPrefix(text, refusal); ok {
		return own
	}
	for _, known := range []string{"division by zero", "modulus by zero", "integer overflow", "index out of bounds", "optional.none() dereference"} {
		if strings.HasPrefix(text, known) {
			return known
		}
	}
	return "cannot be evaluated for this recipient; a conversion of an attribute may have failed"
}

func size(attributes map[string]string) int {
	n := 0
	for k, v := range attributes {
		n += len(k) + len(v)
	}
	return n
}

// activation gives an expression its variables.
type activation struct{ in *Input }

// ResolveName is the value of one of [names].
func (a activation) ResolveName(name string) (any, bool) {
	switch name {
	case "recipient.id":
		return a.in.Recipient.ID, true
	case "recipient.timeZone":
		return a.in.Recipient.TimeZone, true
	case "recipient.attributes":
		return a.in.Recipient.Attributes, true
	case "reminder.key":
		return a.in.Key.String(), true
	case "reminder.slot":
		return a.in.Key.Slot, true
	case "reminder.dueTime":
		return a.in.DueTime, true
	case "reminder.deadlineTime":
		return a.in.DeadlineTime, true
	case "schedule.name":
		return a.in.Key.Schedule, true
	case "schedule.namespace":
		return a.in.Key.Namespace, true
	}
	return nil, false
}

// Parent is nil: there is nothing behind the variables.
func (activation) Parent() cel.Activation { return nil }
