package reminder

import (
	"fmt"
	"strconv"
	"strings"
)

// Escape maps any text to one token of the alphabet that NATS subjects and KV
// keys share (A-Z a-z 0-9 - _): every other byte, the dot and '=' included,
// becomes =XX. It is injective; the empty text becomes a lone '='.
func Escape(s string) string {
	if s == "" {
		return "="
	}
	var b strings.Builder
	for i := range len(s) {
		if plain(s[i]) {
			b.WriteByte(s[i])
			continue
		}
		fmt.Fprintf(&b, "=%02X", s[i])
	}
	return b.String()
}

// Unescape is the inverse of [Escape]: it accepts nothing that Escape does not write.
func Unescape(token string) (string, error) {
	if token == "=" {
		return "", nil
	}
	s, err := unescape(token)
	if err != nil || Escape(s) != token {
		return "", fmt.Errorf("unescape %q: %w", token, ErrMalformed)
	}
	return s, nil
}

func unescape(token string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		switch {
		case plain(token[i]):
			b.WriteByte(token[i])
		case token[i] == '=' && i+2 < len(token):
			n, err := strconv.ParseUint(token[i+1:i+3], 16, 8)
			if err != nil {
				return "", err
			}
			b.WriteByte(byte(n))
			i += 2
		default:
			return "", ErrMalformed
		}
	}
	return b.String(), nil
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
