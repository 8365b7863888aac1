package message

import (
	"math"
	"strconv"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// printable tells whether values of a type have a text.
func printable(t *cel.Type) bool {
	switch t.Kind() {
	case types.StringKind, types.IntKind, types.UintKind, types.DoubleKind, types.BoolKind, types.TimestampKind, types.DurationKind:
		return true
	}
	return false
}

// textOf is the text of a value: numbers in decimal without exponent up to
// 21 digits, timestamps in RFC 3339 and UTC, durations in seconds as CEL's
// string() has them.
func textOf(v ref.Val) (string, bool) {
	switch v := v.(type) {
	case types.String:
		return string(v), true
	case types.Int:
		return strconv.FormatInt(int64(v), 10), true
	case types.Uint:
		return strconv.FormatUint(uint64(v), 10), true
	case types.Bool:
		return strconv.FormatBool(bool(v)), true
	case types.Double:
		return textOfDouble(float64(v))
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339Nano), true
	case types.Duration:
		return strconv.FormatFloat(v.Seconds(), 'f', -1, 64) + "s", true
	}
	return "", false
}

func textOfDouble(f float64) (string, bool) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "", false
	case math.Abs(f) >= 1e21:
		return strconv.FormatFloat(f, 'g', -1, 64), true
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}
