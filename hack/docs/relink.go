package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// testLink is a link to a test: [TestName](folder/file_test.go).
var testLink = regexp.MustCompile(`\[(Test\w+)\]\(([^)]*)/(\w+_test\.go)\)`)

// relink lets links to tests follow a test that has moved to another file of its
// folder. One that is gone is left, and docs/docs_test.go complains.
func relink(dir, text string) string {
	return testLink.ReplaceAllStringFunc(text, func(link string) string {
		m := testLink.FindStringSubmatch(link)
		folder := filepath.Join(dir, filepath.FromSlash(m[2]))
		if hasTest(filepath.Join(folder, m[3]), m[1]) {
			return link
		}
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			return link
		}
		for _, path := range files {
			if hasTest(path, m[1]) {
				return "[" + m[1] + "](" + m[2] + "/" + filepath.Base(path) + ")"
			}
		}
		return link
	})
}

func hasTest(path, name string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(text), "\nfunc "+name+"(")
}
