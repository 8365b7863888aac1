package worker

import (
	"sync"

	"github.com/reminder-operator/reminder-operator/internal/message"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// compiled keeps the compiled templates of the schedules seen last; compiling
// costs a thousand times what rendering does.
type compiled struct {
	mu    sync.Mutex
	known map[message.Source]*message.Parts
}

// maxCompiled bounds the memory; beyond it the cache starts anew.
const maxCompiled = 1024

func newCompiled() *compiled { return &compiled{known: map[message.Source]*message.Parts{}} }

func (c *compiled) get(s message.Source) (*message.Parts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.known[s]; ok {
		return m, nil
	}
	m, err := message.CompileParts(s)
	if err != nil {
		return nil, err
	}
	if len(c.known) >= maxCompiled {
		c.known = map[message.Source]*message.Parts{}
	}
	c.known[s] = m
	return m, nil
}

// render makes the message of one attempt. Its error names expressions and
// attributes, never their values.
func (w *Worker) render(j job) (reminder.Message, error) {
	template, err := w.messages.get(message.Source{Subject: j.schedule.Subject, Body: j.schedule.Body, HTML: j.schedule.HTML, UnsubscribeURL: j.schedule.UnsubscribeURL})
	if err != nil {
		return reminder.Message{}, err
	}
	r := j.record
	in := message.Input{Recipient: j.receiver, Key: r.Key, DueTime: r.Due(), DeadlineTime: r.DeadlineTime}
	said, err := template.Render(in)
	if err != nil {
		return reminder.Message{}, err
	}
	return reminder.Message{
		Key: r.Key, ID: r.Key.ID(), DueTime: r.Due(), DeadlineTime: r.DeadlineTime,
		Attempt: attempt(j), Address: j.receiver.Address, Subject: said.Subject, Body: said.Body,
		HTML: said.HTML, UnsubscribeURL: said.UnsubscribeURL,
	}, nil
}

// attempt is the number of the submission that follows, from 1.
func attempt(j job) int { return j.record.Attempts + 1 }
