package main

import (
	"testing"
	"time"
)

func TestLateness(t *testing.T) {
	t.Parallel()
	var all []time.Duration
	for i := 100; i >= 1; i-- {
		all = append(all, time.Duration(i)*10*time.Millisecond)
	}
	l := newLateness(all)
	for q, want := range map[float64]int64{0: 10, 0.5: 500, 0.99: 990, 1: 1000} {
		if got := l.at(q).Milliseconds(); got != want {
			t.Errorf("quantile %v is %d ms, want %d", q, got, want)
		}
	}
	if got := l.rate(); got != 100 {
		t.Errorf("rate is %v, want 100 a second", got)
	}
	if none := newLateness(nil); none.at(0.99) != 0 || none.rate() != 0 {
		t.Error("without data there must be zeros")
	}
}
