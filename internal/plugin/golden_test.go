package plugin_test

import (
	"strings"
	"testing"
)

func TestOutput(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"next.txt":          "next -f testdata/shop.yaml --from 2026-12-31T12:00:00Z --count 3",
		"next.json":         "next -f testdata/shop.yaml --from 2026-12-31T12:00:00Z --count 3 -o json",
		"next-spring.txt":   "next -f testdata/shop.yaml --from 2026-03-07T12:00:00Z --count 2",
		"lint.txt":          "lint -f testdata/mistakes.yaml --from 2026-12-31T12:00:00Z",
		"lint.json":         "lint -f testdata/mistakes.yaml --from 2026-12-31T12:00:00Z -o json",
		"diff.txt":          "lint --diff testdata/old.yaml testdata/new.yaml --from 2026-11-01T00:00:00Z --count 4",
		"diff.json":         "lint --diff testdata/old.yaml testdata/new.yaml --from 2026-11-01T00:00:00Z --count 4 -o json",
		"help.txt":          "--help",
		"help-lint.txt":     "lint --help",
		"version-usage.txt": "version now",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, run("", strings.Fields(args)...))
		})
	}
}
