package channel

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretCannotBePrinted(t *testing.T) {
	t.Parallel()
	const canary = "canary"
	s := NewSecret([]byte(canary))
	inside := struct {
		Exported Secret
		hidden   Secret
		pointer  *Secret
		list     []Secret
	}{s, s, &s, []Secret{s}}
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("Printed", "secret", s, "inside", inside)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("Printed", "secret", s, "inside", inside)
	if err := json.NewEncoder(&out).Encode(map[string]any{"s": s, "inside": inside}); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+"\n", s, inside)
	}
	for _, form := range []string{canary, hex.EncodeToString([]byte(canary)), "99 97 110 97 114 121", "0x63, 0x61, 0x6e"} {
		if strings.Contains(out.String(), form) {
			t.Errorf("printed %q: %s", form, out.String())
		}
	}
	if got := fmt.Sprint(s); got != "***" {
		t.Errorf("prints as %q, want ***", got)
	}
	if got := string(s.Reveal()); got != canary {
		t.Errorf("reveals %q, want %q", got, canary)
	}
	if got := (Secret{}).Reveal(); got != nil {
		t.Errorf("the zero secret reveals %q", got)
	}
}
