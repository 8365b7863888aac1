package main

import (
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines    []string
		wantLast string
		want     []string
		wantNot  []string
	}{
		"a passing test leaves its package's line only": {
			lines: []string{
				`{"Action":"start","Package":"p"}`,
				`{"Action":"run","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}`,
				`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`,
				`{"Action":"pass","Package":"p","Elapsed":0.1}`,
			},
			wantLast: "1 passed, 0 failed", want: []string{"ok  \tp"}, wantNot: []string{"chatter"},
		},
		"a failing test is shown and counts once": {
			lines: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"wrong\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0.1}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}`,
				`{"Action":"fail","Package":"p","Elapsed":0.1}`,
			},
			wantLast: "0 passed, 1 failed", want: []string{"wrong", "FAIL\tp"},
		},
		"a package that does not build is a failure": {
			lines: []string{
				`{"ImportPath":"p","Action":"build-output","Output":"p.go:1: syntax error\n"}`,
				`{"ImportPath":"p","Action":"build-fail"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}`,
				`{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p"}`,
			},
			wantLast: "0 passed, 1 failed", want: []string{"syntax error"},
		},
		"a test that never ends is a failure": {
			lines:    []string{`{"Action":"run","Package":"p","Test":"TestA"}`},
			wantLast: "0 passed, 1 failed", want: []string{"DID NOT END: p TestA"},
		},
		"no test at all is a failure": {lines: []string{"go: cannot find module"}, wantLast: "0 passed, 1 failed", want: []string{"cannot find module"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			s := summary{out: &out, output: map[string][]string{}}
			if err := s.read(strings.NewReader(strings.Join(c.lines, "\n") + "\n")); err != nil {
				t.Fatal(err)
			}
			s.end(5)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if got := lines[len(lines)-1]; got != c.wantLast {
				t.Errorf("last line is %q, want %q", got, c.wantLast)
			}
			for _, text := range c.want {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is missing in:\n%s", text, out.String())
				}
			}
			for _, text := range c.wantNot {
				if strings.Contains(out.String(), text) {
					t.Errorf("%q should not be in:\n%s", text, out.String())
				}
			}
		})
	}
}
