package schedule_test

import (
	"errors"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// instant reads RFC 3339.
func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func compile(t testing.TB, spec schedule.Spec) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Compile(spec)
	if err != nil {
		t.Fatalf("Compile(%+v): %v", spec, err)
	}
	return s
}

// refusal compiles a Spec that must be refused.
func refusal(t testing.TB, spec schedule.Spec) *schedule.FieldError {
	t.Helper()
	_, err := schedule.Compile(spec)
	var fieldError *schedule.FieldError
	if !errors.As(err, &fieldError) {
		t.Fatalf("Compile(%+v) = %v, want a FieldError", spec, err)
	}
	return fieldError
}

// dues returns the due times of the first n occurrences after an instant, as RFC 3339.
func dues(s *schedule.Schedule, after time.Time, n int) []string {
	var texts []string
	for range n {
		o, ok := s.Next(after)
		if !ok {
			break
		}
		texts = append(texts, o.Due.Format(time.RFC3339))
		after = o.Due
	}
	return texts
}
