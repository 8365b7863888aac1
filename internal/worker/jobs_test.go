package worker_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Row 14: what nobody can read becomes a dead letter at once; others flow.
func TestRow14PoisonousJobsAreRejected(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	const due = brokertest.DueSubject
	planned, _ := b.plan("a", nil)
	good, err := reminder.JobOf(planned, 1).Encode()
	b.must(err)
	elsewhere := planned.Key
	elsewhere.Schedule = "another"
	channel := planned.Key
	channel.Channel = "other"
	foreign, err := reminder.JobOf(reminder.Record{Key: channel}, 1).Encode()
	b.must(err)
	garbage := planned.Key
	garbage.Recipient = "garbage"
	brokertest.Publish(t, b.url, brokertest.LedgerKeys+garbage.Token(), []byte(`{"schemaVersion":1,"canary":"canary-value"}`))
	ofGarbage, err := reminder.JobOf(reminder.Record{Key: garbage}, 1).Encode()
	b.must(err)

	poison := []struct {
		subject string
		body    []byte
	}{
		{due + planned.Key.Subject(), []byte("canary-value")},
		{due + planned.Key.Subject(), []byte("null")},
		{due + planned.Key.Subject(), good[:len(good)-10]},
		{due + planned.Key.Subject(), bytes.Replace(good, []byte(`"schemaVersion":1`), []byte(`"schemaVersion":0`), 1)},
		{due + planned.Key.Subject(), bytes.Repeat([]byte("["), 1<<20-100)},
		{due + planned.Key.Subject(), bytes.Replace(good, []byte(`"slot":"2`), []byte(`"slot":"x`), 1)},
		{due + elsewhere.Subject(), good},
		{due + planned.Key.Subject(), foreign},
		{due + "shop.mail.short", good},
		{due + planned.Key.Subject() + ".long", good},
		{due + garbage.Subject(), ofGarbage},
	}
	for _, p := range poison {
		brokertest.Publish(t, b.url, p.subject, p.body)
	}
	other := b.due("b", nil)
	b.start(nil)
	b.settled(other.Key, reminder.Sent, "")
	b.empty()
	if diff := cmp.Diff(map[reminder.Reason]int{reminder.InvalidJob: len(poison)}, b.letters()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	if got := b.now(planned.Key); got.State != reminder.Scheduled {
		t.Errorf("a job that could not be read made its reminder %s", got.State)
	}
	b.sends("a", 0)
	for subject, body := range brokertest.Messages(t, b.url, brokertest.DeadStream) {
		if bytes.Contains(body, []byte("canary-value")) || bytes.Contains(body, []byte("@example.com")) {
			t.Errorf("I9: the dead letter on %s holds what was in the job: %s", subject, body)
		}
	}
	if strings.Contains(b.logged.String(), "canary-value") {
		t.Errorf("I9: the log holds what was in the job: %s", b.logged)
	}
}

// Row 14: a newer version is held, not eaten.
func TestRow14NewerVersionsAreHeld(t *testing.T) {
	t.Parallel()
	newer := func(body []byte) []byte {
		return bytes.Replace(body, []byte(`"schemaVersion":1`), []byte(`"schemaVersion":2`), 1)
	}
	t.Run("of a job", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, nil)
		r, _ := b.plan("a", nil)
		job, err := reminder.JobOf(r, 1).Encode()
		b.must(err)
		brokertest.Publish(t, b.url, brokertest.DueSubject+r.Key.Subject(), newer(job))
		b.start(nil)
		b.heard("Held what a newer version wrote", 1)
		b.heldWith(r)
	})
	t.Run("of a record", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, nil)
		r, _ := b.plan("a", nil)
		record, err := r.Encode()
		b.must(err)
		brokertest.Publish(t, b.url, brokertest.LedgerKeys+r.Key.Token(), newer(record))
		b.again(r)
		b.start(nil)
		b.heard("Held what a newer version wrote", 1)
		if len(b.letters()) != 0 || len(brokertest.Messages(t, b.url, brokertest.JobsStream)) != 1 {
			t.Error("was not held")
		}
	})
	t.Run("of a schedule", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, func(b *bench) { b.schedule.Name = "another" })
		entry, err := json.Marshal(map[string]any{"schemaVersion": 2, "retry": "often"})
		b.must(err)
		brokertest.Publish(t, b.url, "$KV.reminders-registry.schedule.shop.renewal", entry)
		r := b.due("a", nil)
		b.start(nil)
		b.heard("Held what a newer version wrote", 1)
		b.heldWith(r)
	})
}

// heldWith checks that a reminder and its job are as they were.
func (b *bench) heldWith(r reminder.Record) {
	b.Helper()
	b.sends(r.Key.Recipient, 0)
	if got := b.now(r.Key); got.State != reminder.Scheduled || len(b.letters()) != 0 {
		b.Errorf("became %s, %d dead letters", got.State, len(b.letters()))
	}
	if n := len(brokertest.Messages(b.T, b.url, brokertest.JobsStream)); n != 1 {
		b.Errorf("%d jobs are left, want 1", n)
	}
}

func TestAJobWithoutARecordIsHeldAndThenRejected(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.start(nil)
	key := reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: reminder.SlotOf(time.Now()), Recipient: "a", Channel: "mail"}
	b.again(reminder.Record{Key: key})
	b.heard("not found", 1)
	if n := len(b.letters()); n != 0 {
		t.Errorf("rejected at once: a read may come from a follower that is behind")
	}
	b.empty()
	b.sends("a", 0)
	if diff := cmp.Diff(map[reminder.Reason]int{reminder.InvalidJob: 1}, b.letters()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

func TestARecordThatComesLateIsFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.start(nil)
	key := reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-03", Recipient: "a", Channel: "mail"}
	b.again(reminder.Record{Key: key})
	b.heard("not found", 1)
	r, _ := b.plan("a", func(r *reminder.Record) { r.Key = key })
	b.settled(r.Key, reminder.Sent, "")
	b.sends("a", 1)
}
