package message

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// MaxCondition is the largest condition, in characters.
const MaxCondition = 2048

// Condition is a compiled expression that yields true or false, over the same
// names and within the same limits as those of a template. It is immutable and
// safe for concurrent use.
type Condition struct{ part part }

// CompileCondition compiles a condition. An error is an *[Error] with the place in
// the expression.
func CompileCondition(source string) (*Condition, error) {
	if err := checkCondition(source); err != nil {
		return nil, err
	}
	e, err := environment()
	if err != nil {
		return nil, err
	}
	p := part{segment: segment{text: source, at: position{1, 1}, expr: true}}
	var fault *Error
	if p.program, fault = program(e, p.segment, maxEstimate); fault != nil {
		return nil, bare(fault)
	}
	checked, issues := e.Compile(source)
	if issues.Err() != nil || !checked.OutputType().IsExactType(cel.BoolType) {
		kind := cel.FormatCELType(checked.OutputType())
		return nil, p.at.fault("", "yields %s; yield true or false, such as recipient.attributes.status == 'active'", kind)
	}
	return &Condition{p}, nil
}

func checkCondition(source string) error {
	if err := checkSource(source); err != nil {
		return err
	}
	if n := len([]rune(source)); n > MaxCondition {
		return position{1, 1}.fault("", "the expression has %d characters; the limit is %d", n, MaxCondition)
	}
	return nil
}

// Holds evaluates the condition for one reminder. An error is an *[Error]; it
// means that there is no answer for these attributes, and not that it is false.
func (c *Condition) Holds(in Input) (bool, error) {
	if size(in.Recipient.Attributes) > MaxAttributes {
		return false, c.part.at.fault("", "the recipient's attributes have more than %d bytes", MaxAttributes)
	}
	value, _, err := c.part.program.Eval(activation{&in})
	if err != nil {
		return false, c.part.at.fault("", "%s", reasonOf(err, c.part.text))
	}
	return value == types.True, nil
}

// bare is a fault without the expression, which is all there is.
func bare(fault *Error) *Error {
	fault.Expr = ""
	return fault
}
