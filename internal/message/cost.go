package message

import (
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Limits of a template. A unit of cost is about one step of evaluation or ten
// bytes of text touched, some 0.1 µs.
const (
	// MaxSource is the largest template, in bytes.
	MaxSource = 64 << 10
	// MaxOutput is the largest rendered text, in bytes.
	MaxOutput = 64 << 10
	// MaxSubject is the largest rendered subject, in bytes: RFC 5322, section
	// 2.1.1, allows no longer line.
	MaxSubject = 998
	// MaxExpressions is the largest number of expressions in a template.
	MaxExpressions = 256
	// MaxAttributes is the largest sum of the attributes of a recipient, names
	// and values, in bytes.
	MaxAttributes = 64 << 10

	maxExpression     = 4096 // characters
	maxNodes          = 2000
	maxNesting        = 40
	maxEstimate       = 1_000_000
	maxExpressionCost = 50_000
	maxRenderCost     = 100_000

	// zoneCost is the price of a call that looks a time zone up by its name.
	zoneCost = 1_000
	// What an estimate takes for the size of what only the recipient decides.
	assumedEntries    = 256
	assumedCharacters = 1024
)

// estimator bounds the cost of an expression before it has met a recipient.
type estimator struct{}

// EstimateSize assumes ordinary sizes; the running meter enforces the true ones.
func (estimator) EstimateSize(n checker.AstNode) *checker.SizeEstimate {
	size := uint64(1)
	switch n.Type().Kind() {
	case types.ListKind, types.MapKind:
		size = assumedEntries
	case types.StringKind, types.BytesKind:
		size = assumedCharacters
	}
	return &checker.SizeEstimate{Min: 0, Max: size}
}

// EstimateCallCost leaves calls to CEL, but for our own that yield a container.
func (estimator) EstimateCallCost(_, overload string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	if overload != overloadSplit {
		return nil
	}
	return &checker.CallEstimate{
		CostEstimate: checker.CostEstimate{Min: 1, Max: assumedEntries},
		ResultSize:   &checker.SizeEstimate{Min: 1, Max: assumedEntries},
	}
}

// meter prices every call by one rule: one unit, and what it touches.
type meter struct{}

// CallCost is the price of a call that was made.
func (meter) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	cost := uint64(1)
	if strings.HasPrefix(overload, "timestamp_to_") && len(args) > 1 || function == functionFormat {
		cost += zoneCost
	}
	if !constant(overload) {
		for _, a := range args {
			cost += touched(a)
		}
	}
	if _, list := result.(traits.Lister); !list || overload == overloadSplit {
		cost += touched(result)
	}
	return &cost
}

// constant tells whether a call's time does not depend on the size of its operands.
func constant(overload string) bool {
	switch overload {
	case "add_list", "index_list", "index_map", "size_list", "list_size", "size_map", "map_size", "in_map":
		return true
	}
	return false
}

// touched is the price of reading a value once. Containers are flat, see [unbounded].
func touched(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v) / 10)
	case types.Bytes:
		return uint64(len(v) / 10)
	case traits.Lister:
		return touchedAll(v)
	case traits.Mapper:
		return touchedAll(v)
	}
	return 0
}

func touchedAll(v traits.Iterable) uint64 {
	var cost uint64
	for it := v.Iterator(); it.HasNext() == types.True; {
		cost += 1 + touched(it.Next())
	}
	return cost
}
