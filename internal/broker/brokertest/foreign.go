package brokertest

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Foreign is a stream that is not ours, such as an application makes.
type Foreign struct {
	Name, Subject string
	// Window is for how long it remembers message ids; 0 means the server's default.
	Window time.Duration
	// MaxMsgs and MaxMsgSize bound it; 0 means not. Beyond MaxMsgs it refuses.
	MaxMsgs    int64
	MaxMsgSize int32
	// Silent: it acknowledges nothing. Sealed: it takes nothing more.
	Silent, Sealed bool
}

// MakeStream makes a foreign stream, or changes it.
func MakeStream(t testing.TB, url string, f Foreign) {
	t.Helper()
	config := jetstream.StreamConfig{
		Name: f.Name, Subjects: []string{f.Subject}, Duplicates: f.Window, Discard: jetstream.DiscardNew,
		MaxMsgs: f.MaxMsgs, MaxMsgSize: f.MaxMsgSize, NoAck: f.Silent,
	}
	js := raw(t, url)
	_, err := js.CreateOrUpdateStream(t.Context(), config)
	if err == nil && f.Sealed {
		config.Sealed = true
		_, err = js.UpdateStream(t.Context(), config)
	}
	if err != nil {
		t.Fatalf("make stream %s: %v", f.Name, err)
	}
}

// Stored is one message of a stream.
type Stored struct {
	Header map[string][]string
	Body   []byte
}

// StoredIn are the messages of a stream, oldest first.
func StoredIn(t testing.TB, url, stream string) []Stored {
	t.Helper()
	s, err := raw(t, url).Stream(t.Context(), stream)
	if err != nil {
		t.Fatalf("read %s: %v", stream, err)
	}
	var all []Stored
	for seq := s.CachedInfo().State.FirstSeq; seq <= s.CachedInfo().State.LastSeq; seq++ {
		msg, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatalf("read message %d of %s: %v", seq, stream, err)
		}
		all = append(all, Stored{Header: msg.Header, Body: msg.Data})
	}
	return all
}

// Listen subscribes to a subject without being a stream: it gives each message the
// answer, or none when that is empty.
func Listen(t testing.TB, url, subject, answer string) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	_, err = nc.Subscribe(subject, func(m *nats.Msg) {
		if answer != "" {
			_ = m.Respond([]byte(answer))
		}
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatalf("listen to %s: %v", subject, err)
	}
}
