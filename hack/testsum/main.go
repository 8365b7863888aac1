// Command testsum reads `go test -json` and writes what a person wants to read:
// a line per package, the output of what failed, the slowest tests, and as its
// last line `N passed, N failed`. It exits with 1 when anything failed.
//
//	go test -json ./... | go run ./hack/testsum
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

func main() {
	slow := flag.Int("slow", 5, "how many of the slowest tests to list")
	flag.Parse()
	s := summary{out: os.Stdout, output: map[string][]string{}}
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	s.end(*slow)
	if s.failed > 0 {
		os.Exit(1)
	}
}

type summary struct {
	out             io.Writer
	passed, failed  int
	skipped, events int
	output          map[string][]string // by package and test, until it is known to have passed
	times           []event
}

func (s *summary) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(s.out, "%s\n", strings.TrimRight(string(line), "\n"))
		return
	}
	s.events++
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "run":
		s.output[e.id()] = nil
	case "output":
		if strings.HasPrefix(e.Output, "=== ") {
			return
		}
		s.output[e.id()] = append(s.output[e.id()], e.Output)
	case "pass", "fail", "skip":
		s.done(e)
	}
}

func (e event) id() string { return e.Package + " " + e.Test }

// done counts a test or a package that has ended and writes or drops its output.
func (s *summary) done(e event) {
	kept := s.output[e.id()]
	delete(s.output, e.id())
	switch {
	case e.Test == "" && e.Action == "fail":
		// A package fails with its tests; only one that did not get so far counts for itself.
		if e.FailedBuild != "" || !slices.ContainsFunc(s.times, func(t event) bool { return t.Package == e.Package && t.Action == "fail" }) {
			s.failed++
		}
		fmt.Fprint(s.out, strings.Join(kept, ""))
		if e.FailedBuild != "" {
			fmt.Fprintf(s.out, "FAIL\t%s [build failed]\n", e.Package)
		}
		return
	case e.Test == "":
		fmt.Fprint(s.out, last(kept))
		return
	case e.Action == "fail":
		s.failed++
		fmt.Fprint(s.out, strings.Join(kept, ""))
	case e.Action == "skip":
		s.skipped++
		fmt.Fprint(s.out, strings.Join(kept, ""))
	default:
		s.passed++
	}
	s.times = append(s.times, e)
}

// last is the line that `go test` prints for a package without -v.
func last(output []string) string {
	for _, line := range slices.Backward(output) {
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "?  ") || strings.HasPrefix(line, "---") {
			return line
		}
	}
	return ""
}

func (s *summary) end(slow int) {
	// What has begun and never ended was cut off: a panic, a timeout, a kill.
	for _, id := range sortedKeys(s.output) {
		s.failed++
		fmt.Fprintf(s.out, "%s\n--- DID NOT END: %s\n", strings.Join(s.output[id], ""), id)
	}
	if s.events == 0 {
		s.failed++
		fmt.Fprintln(s.out, "no tests were run")
	}
	top := slices.DeleteFunc(slices.Clone(s.times), func(e event) bool { return strings.Contains(e.Test, "/") || e.Elapsed < 1 })
	slices.SortFunc(top, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, e := range top[:min(slow, len(top))] {
		fmt.Fprintf(s.out, "slow: %6.1f s  %s\n", e.Elapsed, e.id())
	}
	if s.skipped > 0 {
		fmt.Fprintf(s.out, "%d skipped\n", s.skipped)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed\n", s.passed, s.failed)
}

func sortedKeys(m map[string][]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
