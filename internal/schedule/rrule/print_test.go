package rrule_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/schedule/rrule"
)

func TestARuleIsReadAsItIsPrinted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, start := drawRule(t)
		text += rapid.SampledFrom([]string{"", ";COUNT=9", ";UNTIL=20301231", ";UNTIL=20301231T170000", ";UNTIL=20301231T170000Z"}).Draw(t, "end")
		r, err := rrule.Compile(text, start, true)
		if err != nil {
			t.Skip(err)
		}
		again, err := rrule.Compile(r.String(), start, true)
		if err != nil || again.String() != r.String() || again.Limit() != r.Limit() || again.Interval() != r.Interval() {
			t.Fatalf("%s is printed %s, which is %v, %v", text, r, again, err)
		}
		at, utc := r.Until()
		if until, instant := again.Until(); until != at || instant != utc {
			t.Fatalf("%s until %s, %v", text, until, instant)
		}
		if got, want := hits(again, math.MinInt64, 40), hits(r, math.MinInt64, 40); !slices.Equal(got, want) {
			t.Fatalf("%s is printed %s:\n got %v\nwant %v", text, r, times(got), times(want))
		}
	})
}
