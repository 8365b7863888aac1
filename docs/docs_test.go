// Package docs checks the pages of this folder and the README against the
// source: what they name must exist.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = ".."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	matrixRow  = regexp.MustCompile(`(?m)^\| (\d+) \| .* \| \*\*(tested|partly|not tested yet|not built yet)\*\*(.*) \|$`)
	testLink   = regexp.MustCompile(`\[(Test\w+)\]\(([^)]+_test\.go)\)((?:,? "[^"]+")*)`)
	quotedText = regexp.MustCompile(`"([^"]+)"`)
)

const matrixRows = 58

func TestTheFailureMatrixHasAllRowsAndTheirTests(t *testing.T) {
	t.Parallel()
	text := read(t, "failure-matrix.md")
	rows := matrixRow.FindAllStringSubmatch(text, -1)
	if len(rows) != matrixRows {
		t.Errorf("%d rows, want %d", len(rows), matrixRows)
	}
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Errorf("row %s stands in the place of row %d", row[1], i+1)
		}
		named, wanted := testLink.MatchString(row[3]), row[2] == "tested" || row[2] == "partly"
		if named != wanted {
			t.Errorf("row %s is %q; names a test: %t, want %t", row[1], row[2], named, wanted)
		}
	}
	for _, link := range testLink.FindAllStringSubmatch(text, -1) {
		checkTest(t, link[1], link[2], quotedText.FindAllStringSubmatch(link[3], -1))
	}
}

// checkTest looks for a test in a file, and for the names of its cases.
func checkTest(t *testing.T, name, path string, cases [][]string) {
	t.Helper()
	source := read(t, path)
	if !strings.Contains(source, "\nfunc "+name+"(t *testing.T) {") {
		t.Errorf("%s has no %s", path, name)
	}
	for _, c := range cases {
		if !strings.Contains(source, strconv.Quote(c[1])) {
			t.Errorf("%s names no case %q", path, c[1])
		}
	}
}

// pages are the README and all pages of this folder, by their path from here.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CHANGELOG.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "SECURITY.md")}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	fence      = regexp.MustCompile("(?ms)^```.*?^```")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// prose is a page without code, in which brackets mean something else.
func prose(text string) string {
	return inlineCode.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		if filepath.Base(page) == "0000-template.md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(prose(read(t, page)), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[1])
			} else if anchor != "" && !hasAnchor(read(t, path), anchor) {
				t.Errorf("%s: %s: the page has no such heading", page, m[1])
			}
		}
	}
}

var sourcePath = regexp.MustCompile("`((?:api|cmd|config|controllers|hack|internal|test)/[A-Za-z0-9_./-]+)`")

// What a page calls by its path is there.
func TestPathsInPagesExist(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		if filepath.Base(page) == "CONTRIBUTING.md" {
			continue // it names rooms that are to come
		}
		for _, m := range sourcePath.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s: there is no %s", page, m[1])
			}
		}
	}
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)

// hasAnchor tells whether a page has a heading that GitHub gives this anchor.
func hasAnchor(text, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		if strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// constants are the text constants of a file by name.
func constants(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 {
			if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				if value, err := strconv.Unquote(l.Value); err == nil {
					found[v.Names[0].Name] = value
				}
			}
		}
		return true
	})
	return found
}

func TestEveryReasonIsExplained(t *testing.T) {
	t.Parallel()
	text := read(t, "reasons.md")
	for _, path := range []string{"../api/v1alpha1/conditions.go", "../internal/reminder/reason.go"} {
		all := constants(t, path)
		if len(all) < 10 {
			t.Errorf("%s has %d constants; has it moved?", path, len(all))
		}
		for name, value := range all {
			if strings.HasPrefix(name, "Owner") {
				continue // they stand in a column
			}
			if !strings.Contains(text, "\n| `"+value+"` | ") {
				t.Errorf("reasons.md does not explain %s", value)
			}
		}
	}
}

// Each decision has a line in the index, and the line its page.
func TestEveryDecisionIsInTheIndex(t *testing.T) {
	t.Parallel()
	index := read(t, "adr/README.md")
	decisions, err := filepath.Glob("adr/[0-9]*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range decisions {
		name := filepath.Base(path)
		if name == "0000-template.md" {
			continue
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(read(t, path), "# "+name[:4]+". "), "\n")
		if !strings.Contains(index, "| ["+name[:4]+"]("+name+") | "+title+" | ") {
			t.Errorf("the index has no line for %s, %q", name, title)
		}
	}
}
