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
	known map[source]*message.Message
}

type source struct{ subject, body string }

// maxCompiled bounds the memory; beyond it the cache starts anew.
const maxCompiled = 1024

func newCompiled() *compiled { return &compiled{known: map[source]*message.Message{}} }

func (c *compiled) get(s source) (*message.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.known[s]; ok {
		return m, nil
	}
	m, err := message.CompileMessage(s.subject, s.body)
	if err != nil {
		return nil, err
	}
	if len(c.known) >= maxCompiled {
		c.known = map[source]*message.Message{}
	}
	c.known[s] = m
	return m, nil
}

// render makes the message of one attempt. Its error names expressions and
// attributes, never their values.
func (w *Worker) render(j job) (reminder.Message, error) {
	template, err := w.messages.get(source{j.schedule.Subject, j.schedule.Body})
	if err != nil {
		return reminder.Message{}, err
	}
	r := j.record
	in := message.Input{Recipient: j.receiver, Key: r.Key, DueTime: r.Due(), DeadlineTime: r.DeadlineTime}
	subject, err := template.Subject.Render(in)
	if err != nil {
		return reminder.Message{}, err
	}
	body, err := template.Body.Render(in)
	if err != nil {
		return reminder.Message{}, err
	}
	return reminder.Message{
		Key: r.Key, ID: r.Key.ID(), DueTime: r.Due(), DeadlineTime: r.DeadlineTime,
		Attempt: attempt(j), Address: j.receiver.Address, Subject: subject, Body: body,
	}, nil
}

// attempt is the number of the submission that follows, from 1.
func attempt(j job) int { return j.record.Attempts + 1 }
