package plugin_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// Whatever a file holds: no panic, and an answer in the form that was promised. How long it may take is bounded by the
// limits of input, documents, aliases and occurrences, which TestNextReads and TestFilesAreReadTogether reach.
func FuzzPreview(f *testing.F) {
	for _, name := range []string{"shop.yaml", "mistakes.yaml", "old.yaml"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, c := range bad {
		if len(c.fields) < 1000 {
			f.Add([]byte(schedule("a", c.fields)))
		}
	}
	f.Add([]byte(flow))
	f.Add([]byte(asJSON))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [" + flow + ", {kind: List, items: [{}]}, 5, null]"))
	f.Add([]byte("a: &a [*a, {<<: *a}]"))
	const from, count = "2026-03-07T12:00:00Z", 3
	f.Fuzz(func(t *testing.T, text []byte) {
		a := run(string(text), "next", "-f", "-", "-o", "json", "--from", from, "--count", "3")
		failed := false
		for line := range strings.Lines(a.out) {
			var p preview
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			failed = failed || p.Error != ""
			checkOccurrences(t, p, from, count)
		}
		if a.code > 1 || failed && a.code != 1 || a.code == 1 && !failed && a.err == "" {
			t.Errorf("%+v", a)
		}
		lint := run(string(text), "lint", "-f", "-", "--from", from)
		if lint.code > 1 || a.code == 1 && lint.code != 1 {
			t.Errorf("next says %+v, and lint %+v", a, lint)
		}
		if strings.ContainsFunc(a.err+lint.out+lint.err, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
			t.Errorf("control characters in %q %q", a.err, lint.out+lint.err)
		}
	})
}

// checkOccurrences holds what stands in every preview.
func checkOccurrences(t *testing.T, p preview, from string, count int) {
	t.Helper()
	if len(p.Occurrences) > count || p.Warnings == nil || p.Error != "" && len(p.Occurrences) > 0 {
		t.Errorf("%+v", p)
	}
	before := from
	for _, o := range p.Occurrences {
		due, err := time.Parse(time.RFC3339, o.Due)
		if err != nil || !strings.HasSuffix(o.Due, "Z") || due.Nanosecond() != 0 {
			t.Errorf("%q is no time in UTC", o.Due)
		}
		if o.Due < before || o.Due == before && o.Recipient == "" {
			t.Errorf("%+v comes after %s", o, before)
		}
		before = o.Due
	}
}
