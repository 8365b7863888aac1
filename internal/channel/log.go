package channel

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// logSender writes a line per reminder. It holds neither address nor text.
type logSender struct{ log *slog.Logger }

func newLog(_ reminder.Channel, o Options) (Sender, error) {
	if o.Log == nil {
		return nil, errors.New("a channel of type Log needs a logger")
	}
	return logSender{o.Log}, nil
}

// Send always accepts.
func (s logSender) Send(ctx context.Context, m reminder.Message) reminder.Result {
	s.log.InfoContext(ctx, "Reminder was due", "key", m.Key.String(), "dueTime", m.DueTime.UTC().Format(time.RFC3339))
	return reminder.Result{Outcome: reminder.Accepted, Receipt: "logged"}
}
