package channel

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// eventType is the type of the only event that is sent, in the body and as
// CloudEvents type.
const eventType = "reminder.due"

// event is the body. It is the same, byte for byte, in every attempt of a
// reminder: a receiver may refuse a repeated Idempotency-Key with another body,
// and the number of the attempt therefore stands in a header.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      eventData `json:"data"`
}

type eventData struct {
	Key          string         `json:"key"`
	Namespace    string         `json:"namespace"`
	Schedule     string         `json:"schedule"`
	Recipient    eventRecipient `json:"recipient"`
	Subject      string         `json:"subject,omitempty"`
	Body         string         `json:"body"`
	HTML         string         `json:"html,omitempty"`
	Unsubscribe  string         `json:"unsubscribeURL,omitempty"`
	DueTime      time.Time      `json:"dueTime"`
	DeadlineTime time.Time      `json:"deadlineTime"`
}

type eventRecipient struct {
	ID      string `json:"id"`
	Address string `json:"address"`
}

// encode is the body for m. The timestamp is that of the event, not of the attempt.
func encode(m reminder.Message) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(event{Type: eventType, Timestamp: m.DueTime.UTC(), Data: eventData{
		Key: m.Key.String(), Namespace: m.Key.Namespace, Schedule: m.Key.Schedule,
		Recipient: eventRecipient{ID: m.Key.Recipient, Address: m.Address},
		Subject:   m.Subject, Body: m.Body, HTML: m.HTML, Unsubscribe: m.UnsubscribeURL,
		DueTime: m.DueTime.UTC(), DeadlineTime: m.DeadlineTime.UTC(),
	}})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// describe sets the attributes of a CloudEvent in binary content mode
// (CloudEvents 1.0, HTTP protocol binding, section 3.1).
func describe(h http.Header, m reminder.Message) {
	for name, value := range attributes(m) {
		h.Set(name, value)
	}
}

// attributes are the headers of the event; attempt is an extension.
func attributes(m reminder.Message) map[string]string {
	return map[string]string{
		"content-type":   "application/json",
		"ce-specversion": "1.0",
		"ce-type":        eventType,
		"ce-id":          m.ID,
		"ce-source":      source(m.Key),
		"ce-time":        m.DueTime.UTC().Format(time.RFC3339Nano),
		"ce-attempt":     strconv.Itoa(m.Attempt),
	}
}

// source names the schedule as a URI reference: a source and an id together
// identify an event.
func source(k reminder.Key) string {
	return "/reminders.dev/namespaces/" + url.PathEscape(k.Namespace) + "/reminderschedules/" + url.PathEscape(k.Schedule)
}
