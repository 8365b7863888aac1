package main

import (
	"bytes"
	"go/parser"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The pages in docs/ are what this program writes today.
func TestPagesAreCurrent(t *testing.T) {
	t.Parallel()
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := render(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if have, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(have, pages[name]) {
			t.Errorf("%s is not what the source says: run go run ./hack/docs (%v)", name, err)
		}
	}
}

func TestDefaultsAreTakenOutOfComments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, rest, standard string }{
		"at the end":             {"suspend stops it. Default false.", "suspend stops it.", "false"},
		"in the middle":          {"timeZone is a zone. Default: unset, which means UTC. With more.", "timeZone is a zone. With more.", "unset, which means UTC"},
		"with a dot in it":       {"key is the key. Default calendar.ics.", "key is the key.", "calendar.ics"},
		"behind another sign":    {`such as "09:00" (local) Default 09:00.`, `such as "09:00" (local)`, "09:00"},
		"none":                   {"cron is five fields.", "cron is five fields.", ""},
		"a word that looks so":   {"Defaults are elsewhere.", "Defaults are elsewhere.", ""},
		"a default that is long": {"x. Default {a: 1, b: 2m}.", "x.", "{a: 1, b: 2m}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if rest, standard := splitDefault(tt.text); rest != tt.rest || standard != tt.standard {
				t.Errorf("got %q and %q, want %q and %q", rest, standard, tt.rest, tt.standard)
			}
		})
	}
}

func TestDefaultsOfFlagsReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"15*time.Minute": "15m", "168*time.Hour": "168h", "25*time.Second": "25s", `":8081"`: ":8081", "1": "1", "true": "true",
		`os.Getenv("POD_NAMESPACE")`: "", "defaultName()": "",
	} {
		e, err := parser.ParseExpr(code)
		if err != nil {
			t.Fatal(err)
		}
		if got := constantText(e); got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
}

func TestMarksThatCannotBeFilledAreErrors(t *testing.T) {
	t.Parallel()
	s := &source{}
	for name, text := range map[string]string{
		"no end of the mark": "<!-- generated: flags x",
		"no end of the part": "<!-- generated: flags x -->",
		"nothing known":      "<!-- generated: poems x -->\n<!-- end -->",
		"no such command":    "<!-- generated: flags x -->\n<!-- end -->",
	} {
		if _, err := s.fill(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
