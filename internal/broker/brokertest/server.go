// Package brokertest starts a NATS server with file storage inside the test
// process, for tests of rooms that need a real broker but not a process that
// can be killed (test/cluster has those). It may not be linked into the image.
package brokertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// URL starts a server that stops with the test, and answers its URL.
func URL(t testing.TB) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatalf("make the NATS server: %v", err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server did not become ready")
	}
	return s.ClientURL()
}

// Start starts a server and connects a broker whose streams exist.
func Start(t testing.TB) *broker.Broker {
	t.Helper()
	return Connect(t, URL(t))
}

// Connect connects one more broker to a server, as another process would.
func Connect(t testing.TB, url string) *broker.Broker {
	t.Helper()
	b, err := broker.Connect(broker.Options{URL: url, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for err = b.Ensure(ctx); errors.Is(err, reminder.ErrUnavailable) && ctx.Err() == nil; err = b.Ensure(ctx) {
		t.Logf("ensure: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
