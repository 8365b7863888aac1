package brokertest

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/broker"
)

// DeleteStream removes a stream, such as by mistake.
func DeleteStream(t testing.TB, url, stream string) {
	t.Helper()
	if err := raw(t, url).DeleteStream(t.Context(), stream); err != nil {
		t.Fatalf("delete %s: %v", stream, err)
	}
}

// MakeUnsafe makes a stream of ours that forgets, so that a broker refuses it.
func MakeUnsafe(t testing.TB, url, stream string) {
	t.Helper()
	for _, shape := range broker.Shapes(broker.Options{}) {
		if shape.Name != stream {
			continue
		}
		shape.Retention = jetstream.InterestPolicy
		if _, err := raw(t, url).CreateStream(t.Context(), shape); err != nil {
			t.Fatalf("make %s: %v", stream, err)
		}
	}
}
