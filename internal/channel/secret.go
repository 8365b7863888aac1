package channel

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what a secret prints.
const redacted = "***"

// Secret is a credential that cannot be printed by accident: every way of
// formatting or encoding it gives ***. It keeps the bytes in a closure, so that
// reflection does not find them either when it is an unexported field.
type Secret struct{ reveal func() []byte }

// NewSecret hides b, which must not be changed afterwards.
func NewSecret(b []byte) Secret { return Secret{func() []byte { return b }} }

// Reveal is the credential itself.
func (s Secret) Reveal() []byte {
	if s.reveal == nil {
		return nil
	}
	return s.reveal()
}

// Format implements [fmt.Formatter] for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String implements [fmt.Stringer].
func (Secret) String() string { return redacted }

// MarshalText implements [encoding.TextMarshaler], and by it JSON and YAML.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
