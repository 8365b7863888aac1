package brokertest

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Names of what tests reach for behind the broker's back.
const (
	JobsStream   = "REMINDERS-0"
	DueSubject   = "reminders.0.due."
	DeadStream   = "REMINDERS_DEAD"
	LedgerStream = "KV_reminders-ledger-0"
	LedgerKeys   = "$KV.reminders-ledger-0."
)

// Publish stores a message as any program with access to the broker could.
func Publish(t testing.TB, url, subject string, body []byte) {
	t.Helper()
	if _, err := raw(t, url).Publish(t.Context(), subject, body); err != nil {
		t.Fatalf("publish to %s: %v", subject, err)
	}
}

// Purge removes all messages of a stream.
func Purge(t testing.TB, url, stream string) {
	t.Helper()
	s, err := raw(t, url).Stream(t.Context(), stream)
	if err == nil {
		err = s.Purge(t.Context())
	}
	if err != nil {
		t.Fatalf("purge %s: %v", stream, err)
	}
}

// Messages are the bodies of all messages of a stream, oldest first, by subject.
func Messages(t testing.TB, url, stream string) map[string][]byte {
	t.Helper()
	s, err := raw(t, url).Stream(t.Context(), stream)
	if err != nil {
		t.Fatalf("read %s: %v", stream, err)
	}
	all := map[string][]byte{}
	for seq := s.CachedInfo().State.FirstSeq; seq <= s.CachedInfo().State.LastSeq; seq++ {
		if msg, err := s.GetMsg(t.Context(), seq); err == nil {
			all[msg.Subject] = msg.Data
		}
	}
	return all
}

func raw(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// PurgeSubject removes the messages of one subject.
func PurgeSubject(t testing.TB, url, stream, subject string) {
	t.Helper()
	s, err := raw(t, url).Stream(t.Context(), stream)
	if err == nil {
		err = s.Purge(t.Context(), jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		t.Fatalf("purge %s of %s: %v", subject, stream, err)
	}
}
