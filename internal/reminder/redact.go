package reminder

import (
	"fmt"
	"io"
	"log/slog"
)

// String shows no URL and no header: either may be a credential.
func (c HTTPChannel) String() string { return c.Method + " ***" }

// Format implements [fmt.Formatter], so that no verb prints more than String.
func (c HTTPChannel) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue implements [slog.LogValuer].
func (c HTTPChannel) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String shows nothing of a URL but whether there is one.
func (e Endpoint) String() string {
	if e == "" {
		return ""
	}
	return "***"
}

// Format implements [fmt.Formatter], so that no verb prints more than String.
func (e Endpoint) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// LogValue implements [slog.LogValuer].
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.String()) }

// LogValue implements [slog.LogValuer]: URLs and templates stay out of logs.
func (s Schedule) LogValue() slog.Value {
	return slog.GroupValue(slog.String("namespace", s.Namespace), slog.String("name", s.Name),
		slog.Int64("epoch", s.Epoch), slog.Int64("generation", s.Generation))
}

// LogValue implements [slog.LogValuer]: a handler that encodes values as JSON
// would else print the endpoint as it is stored.
func (c Channel) LogValue() slog.Value {
	return slog.GroupValue(slog.String("namespace", c.Namespace), slog.String("name", c.Name),
		slog.String("type", string(c.Type)), slog.Int64("generation", c.Generation))
}
