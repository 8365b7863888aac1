package message

import (
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

const (
	functionFormat = "format"
	overloadSplit  = "string_split_string"
)

// functions are the helpers beside CEL's own: names and meanings are those of
// its strings extension, of which this is the part whose results we can bound
// before they are built.
//
//	trim() lowerAscii() upperAscii() replace(old, new) split(separator)
//	indexOf(part) substring(start[, end]) join([separator])
//	timestamp.format(layout[, zone])
func functions() cel.EnvOption {
	str, num, list, instant := cel.StringType, cel.IntType, cel.ListType(cel.StringType), cel.TimestampType
	options := []cel.EnvOption{
		method("trim", "string_trim", str, str, func(a []ref.Val) ref.Val { return types.String(strings.TrimSpace(text(a[0]))) }),
		method("lowerAscii", "string_lower_ascii", str, str, func(a []ref.Val) ref.Val { return mapASCII(text(a[0]), 'A', 'Z', 'a'-'A') }),
		method("upperAscii", "string_upper_ascii", str, str, func(a []ref.Val) ref.Val { return mapASCII(text(a[0]), 'a', 'z', 'A'-'a') }),
		method("replace", "string_replace_string_string", str, str, replace, str, str),
		method("split", overloadSplit, str, list, split, str),
		method("indexOf", "string_index_of_string", str, num, indexOf, str),
		method("substring", "string_substring_int", str, str, substring, num),
		method("substring", "string_substring_int_int", str, str, substring, num, num),
		method("join", "list_join", list, str, join),
		method("join", "list_join_string", list, str, join, str),
		method(functionFormat, "timestamp_format_string", instant, str, format, str),
		method(functionFormat, "timestamp_format_string_string", instant, str, format, str, str),
	}
	return func(e *cel.Env) (*cel.Env, error) {
		var err error
		for _, o := range options {
			if e, err = o(e); err != nil {
				return nil, err
			}
		}
		return e, nil
	}
}

// method declares one overload of a function that is called on a target.
func method(name, overload string, target, result *cel.Type, call func([]ref.Val) ref.Val, args ...*cel.Type) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload(overload, append([]*cel.Type{target}, args...), result,
		cel.FunctionBinding(func(a ...ref.Val) ref.Val { return call(a) })))
}

func text(v ref.Val) string { return string(v.(types.String)) }

// refuse is an error that holds no value of the recipient.
func refuse(reason string) ref.Val { return types.NewErrFromString(refusal + reason) }

// refusal marks the errors whose text is ours and may be shown.
const refusal = "message: "

func tooLong(size int) bool { return size < 0 || size > MaxOutput }

func mapASCII(s string, from, to, shift rune) ref.Val {
	return types.String(strings.Map(func(r rune) rune {
		if r >= from && r <= to {
			return r + shift
		}
		return r
	}, s))
}

func replace(a []ref.Val) ref.Val {
	s, old, replacement := text(a[0]), text(a[1]), text(a[2])
	if tooLong(len(s) + strings.Count(s, old)*(len(replacement)-len(old))) {
		return refuse("the result of replace is too long")
	}
	return types.String(strings.ReplaceAll(s, old, replacement))
}

func split(a []ref.Val) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, strings.Split(text(a[0]), text(a[1])))
}

func indexOf(a []ref.Val) ref.Val {
	s := text(a[0])
	i := strings.Index(s, text(a[1]))
	if i < 0 {
		return types.Int(-1)
	}
	return types.Int(len([]rune(s[:i])))
}

func substring(a []ref.Val) ref.Val {
	runes := []rune(text(a[0]))
	start, end := int64(a[1].(types.Int)), int64(len(runes))
	if len(a) > 2 {
		end = int64(a[2].(types.Int))
	}
	if start < 0 || end < start || end > int64(len(runes)) {
		return refuse("substring is out of range")
	}
	return types.String(string(runes[start:end]))
}

func join(a []ref.Val) ref.Val {
	separator, size := "", 0
	if len(a) > 1 {
		separator = text(a[1])
	}
	var parts []string
	for it := a[0].(traits.Lister).Iterator(); it.HasNext() == types.True; {
		s, ok := it.Next().(types.String)
		if !ok {
			return refuse("join needs a list of strings")
		}
		if size += len(separator) + len(s); tooLong(size - len(separator)) {
			return refuse("the result of join is too long")
		}
		parts = append(parts, string(s))
	}
	return types.String(strings.Join(parts, separator))
}

// format is the local time in a zone, by strftime's conversions. Zones come from
// the same data as due times do, never from the machine.
func format(a []ref.Val) ref.Val {
	zone := time.UTC
	if len(a) > 2 && text(a[2]) != "" {
		var err error
		if zone, _, err = schedule.ResolveZone(text(a[2])); err != nil {
			return refuse("format: unknown time zone")
		}
	}
	out, reason := strftime(a[0].(types.Timestamp).In(zone), text(a[1]))
	if reason != "" {
		return refuse(reason)
	}
	return types.String(out)
}
