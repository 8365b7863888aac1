package message

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/types"
)

// names are what an expression can refer to.
var names = []struct {
	name string
	kind *cel.Type
}{
	{"recipient.id", cel.StringType},
	{"recipient.timeZone", cel.StringType},
	{"recipient.attributes", cel.MapType(cel.StringType, cel.StringType)},
	{"reminder.key", cel.StringType},
	{"reminder.slot", cel.StringType},
	{"reminder.dueTime", cel.TimestampType},
	{"reminder.deadlineTime", cel.TimestampType},
	{"schedule.name", cel.StringType},
	{"schedule.namespace", cel.StringType},
}

// environment is built once per process: it takes milliseconds and is immutable.
//
// Regular expressions are left out because their time does not follow the cost
// of the call, dyn because [unbounded] judges by static types.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{
			ExcludeFunctions: []*env.Function{env.NewFunction("matches"), env.NewFunction("dyn")},
		})),
		cel.OptionalTypes(),
		cel.DefaultUTCTimeZone(true),
		cel.EnableIdentifierEscapeSyntax(),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateHomogeneousAggregateLiterals()),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ExpressionNodeLimit(maxNodes),
		cel.ParserRecursionLimit(maxNesting),
		cel.ParserErrorRecoveryLimit(1),
		functions(),
	}
	for _, n := range names {
		options = append(options, cel.Variable(n.name, n.kind))
	}
	e, err := cel.NewCustomEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("build CEL environment: %w", err)
	}
	return e, nil
})

// program compiles one expression.
func program(e *cel.Env, s segment, maxEstimate uint64) (cel.Program, *Error) {
	checked, issues := e.Compile(s.text)
	if errs := issues.Errors(); len(errs) > 0 {
		return nil, issue(s, errs[0])
	}
	if reason := judge(e, checked, maxEstimate); reason != "" {
		return nil, s.at.fault(s.text, "%s", reason)
	}
	p, err := e.Program(checked, cel.CostLimit(maxExpressionCost), cel.CostTracking(meter{}))
	if err != nil {
		return nil, s.at.fault(s.text, "cannot be planned")
	}
	return p, nil
}

// judge is what is wrong with an expression that is valid CEL, or nothing.
func judge(e *cel.Env, checked *cel.Ast, maxEstimate uint64) string {
	if t := checked.OutputType(); !printable(t) {
		return fmt.Sprintf("yields %s, which has no text; yield a string, number, bool, timestamp or duration", cel.FormatCELType(t))
	}
	if reason := unbounded(checked.NativeRep()); reason != "" {
		return reason
	}
	estimate, err := e.EstimateCost(checked, estimator{})
	if err != nil {
		return "its cost cannot be estimated"
	}
	if estimate.Max > maxEstimate {
		return fmt.Sprintf("costs too much: estimated at up to %d steps, the limit is %d", estimate.Max, maxEstimate)
	}
	return ""
}

// issue is a fault that CEL found, at its place in the template.
func issue(s segment, err *cel.Error) *Error {
	line, column := err.Location.Line(), err.Location.Column()
	at := s.at
	if line > 1 {
		at.line, at.column = at.line+line-1, 1
	}
	if column > 0 {
		at.column += column
	}
	if strings.HasPrefix(err.Message, "undeclared reference to '") {
		if name := dotted(s.text, line, column); name != "" {
			return at.fault(s.text, "unknown name %s; known are %s", name, known())
		}
	}
	return at.fault(s.text, "%s", strings.Join(strings.Fields(err.Message), " "))
}

// dotted is the dotted name at a place of an expression.
func dotted(expr string, line, column int) string {
	lines := strings.Split(expr, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	runes := []rune(lines[line-1])
	if column < 0 || column > len(runes) {
		return ""
	}
	rest := string(runes[column:])
	return rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return r == '.' || isWord(r) }))]
}

func known() string {
	var all []string
	for _, n := range names {
		name := n.name
		if n.kind.Kind() == types.MapKind {
			name += ".<name>"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// unbounded is why the cost of an expression could not be bounded by its meter,
// or nothing. Values of nested containers can share parts, so that their size
// grows exponentially while their cost does not, and comparing two of them would
// never end; values whose type is known only when they are met can hide such
// containers.
func unbounded(a *ast.AST) string {
	for _, t := range a.TypeMap() {
		if t.Kind() == types.DynKind || t.Kind() == types.AnyKind {
			return "holds a value whose type is not known; give it one"
		}
		if container(t) && slices.ContainsFunc(t.Parameters(), container) {
			return "holds a list or map inside another, which messages do not need and whose cost cannot be bounded"
		}
	}
	structs := ast.MatchDescendants(ast.NavigateAST(a), ast.KindMatcher(ast.StructKind))
	if len(structs) > 0 {
		return "builds an object; only lists and maps can be built"
	}
	return ""
}

func container(t *cel.Type) bool {
	return t.Kind() == types.ListKind || t.Kind() == types.MapKind || t.Kind() == types.OpaqueKind
}
