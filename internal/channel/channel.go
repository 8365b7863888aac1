package channel

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Sender submits reminders to one channel. It is safe for concurrent use.
type Sender interface {
	// Send submits m once and says how that ended. It returns within the
	// channel's SendTimeout, or soon after ctx ends.
	Send(ctx context.Context, m reminder.Message) reminder.Result
}

// Options are what senders need beside the channel's configuration.
type Options struct {
	// SecretDir is the directory in which the channel's Secret is mounted; empty
	// when the channel has none. Its files are read again when they change.
	SecretDir string
	// RequireSignature refuses to send unsigned, or without having logged in: set
	// when the channel names a Secret.
	RequireSignature bool
	// Log gets one line per reminder from channels of type Log, and nothing else.
	Log *slog.Logger
	// Publisher is where channels of type NATS publish.
	Publisher Publisher
	// Now is the clock of signatures and of dates in Retry-After; nil means the
	// system's.
	Now func() time.Time
	// Egress decides which addresses may be dialled; its zero value refuses all
	// that are not public.
	Egress Guard
	// Resolver resolves the hosts of URLs; nil means the system's.
	Resolver *net.Resolver
	// DialContext opens connections in place of a dialer behind Egress, which then
	// judges nothing; nil outside tests.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is the base of the TLS configuration; nil means the system's roots and
	// TLS 1.2 or later.
	TLS *tls.Config
	// UserAgent names this program and its version to receivers; empty means
	// reminder-operator.
	UserAgent string
}

// constructors is the list of channel types that can send.
var constructors = map[reminder.ChannelType]func(reminder.Channel, Options) (Sender, error){
	reminder.ChannelHTTP: newHTTP,
	reminder.ChannelSMTP: newSMTP,
	reminder.ChannelNATS: newNATS,
	reminder.ChannelLog:  newLog,
}

// New is the sender of a channel. The error says what in the configuration or
// in the mounted Secret is wrong, without the value.
func New(c reminder.Channel, o Options) (Sender, error) {
	construct, ok := constructors[c.Type]
	if !ok {
		return nil, fmt.Errorf("open channel %s/%s: type %q cannot send", c.Namespace, c.Name, c.Type)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.UserAgent == "" {
		o.UserAgent = "reminder-operator"
	}
	s, err := construct(c, o)
	if err != nil {
		return nil, fmt.Errorf("open channel %s/%s: %w", c.Namespace, c.Name, err)
	}
	return s, nil
}
