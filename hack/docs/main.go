// Command docs writes the parts of docs/ that can be read off the source:
//
//	docs/reasons.md     from the constants in api/v1alpha1 and internal/reminder
//	docs/api.md         from the CRDs in config/crd/bases
//	docs/<kind>.md      its tables of fields, from the same CRDs
//	docs/operations.md  its tables of flags, from cmd/
//
// It also lets links to tests follow a test that has moved to another file.
// A page that is written by hand says where a table goes by two lines:
//
//	<!-- generated: fields ReminderSchedule spec -->
//	<!-- end -->
//
// Run it from anywhere in the checkout as `go run ./hack/docs`, after the CRDs
// were generated. It may not be linked into the product.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", "", "the checkout; default the one around the working directory")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	var err error
	if root == "" {
		if root, err = checkout(); err != nil {
			return err
		}
	}
	pages, err := render(root)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		path := filepath.Join(root, name)
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, pages[name]) {
			continue
		}
		if err := os.WriteFile(path, pages[name], 0o644); err != nil {
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}

// checkout is the folder above the working directory that has a go.mod.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the checkout: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("find the checkout: no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// render is all pages as they must be, by their path in the checkout.
func render(root string) (map[string][]byte, error) {
	s, err := readSource(root)
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{"docs/reasons.md": []byte(s.reasonsPage()), "docs/api.md": []byte(s.apiPage())}
	written, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, fmt.Errorf("list the pages: %w", err)
	}
	for _, path := range written {
		name := "docs/" + filepath.Base(path)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read a page: %w", err)
		}
		if pages[name] != nil {
			continue
		}
		filled, err := s.fill(string(text))
		if err != nil {
			return nil, fmt.Errorf("fill %s: %w", name, err)
		}
		if filled = relink(filepath.Dir(path), filled); filled != string(text) || strings.Contains(filled, opening) {
			pages[name] = []byte(filled)
		}
	}
	return pages, nil
}

const (
	opening = "<!-- generated: "
	closing = "<!-- end -->"
)

// fill replaces what stands between the marks of a page.
func (s *source) fill(text string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, opening)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		what, rest, found := strings.Cut(rest, " -->")
		if !found {
			return "", fmt.Errorf("a mark %q has no end", opening)
		}
		_, after, found := strings.Cut(rest, closing)
		if !found {
			return "", fmt.Errorf("what is generated for %q has no %q", what, closing)
		}
		table, err := s.part(strings.Fields(what))
		if err != nil {
			return "", err
		}
		out.WriteString(opening + what + " -->\n\n" + table + "\n" + closing)
		text = after
	}
}

// part is one generated part of a page that is written by hand.
func (s *source) part(what []string) (string, error) {
	switch {
	case len(what) == 3 && what[0] == "fields":
		return s.fieldsTable(what[1], what[2])
	case len(what) == 2 && what[0] == "columns":
		return s.columnsTable(what[1])
	case len(what) == 2 && what[0] == "flags":
		return s.flagsTable(what[1])
	}
	return "", fmt.Errorf("nothing is known of %q", strings.Join(what, " "))
}

// source is what the pages are made from.
type source struct {
	kinds map[string]*kind
	// order are the names of the kinds, as they are shown.
	order []string
	types goTypes
	// unsupported are the paths that this version does not act on, by kind.
	unsupported map[string]map[string]string
	conditions  []group
	outcomes    []group
	flags       map[string][]flagRow
}

func readSource(root string) (*source, error) {
	s := &source{order: []string{"ReminderSchedule", "ReminderChannel", "BusinessCalendar", "ReminderReplay"}}
	var err error
	for _, read := range []func(string) error{s.readKinds, s.readTypes, s.readUnsupported, s.readReasons, s.readFlags} {
		if err = read(root); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// cell is text that can stand in a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// row is one line of a table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// table is a table with a head.
func table(head ...string) string {
	return row(head...) + "|" + strings.Repeat("---|", len(head)) + "\n"
}
