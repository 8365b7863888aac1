package plugin_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files of docs/kubectl-reminders.md begin with a comment that has their name; a block of console output begins with the
// command line, and below it stands what it prints, the standard error last.
func TestTheExamplesInTheDocumentationAreTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/kubectl-reminders.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := regexp.MustCompile("(?ms)^```yaml\n# (\\S+\\.yaml)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	for _, file := range files {
		write(t, dir, file[1], file[2])
	}
	blocks := regexp.MustCompile("(?ms)^```console\n\\$ kubectl reminders ([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(files) != 3 || len(blocks) != 5 {
		t.Errorf("%d files and %d examples", len(files), len(blocks))
	}
	for _, block := range blocks {
		args := strings.Fields(block[1])
		for i, arg := range args {
			if strings.HasSuffix(arg, ".yaml") {
				args[i] = filepath.Join(dir, arg)
			}
		}
		a := run("", args...)
		if diff := cmp.Diff(block[2], strings.ReplaceAll(a.out+a.err, dir+string(filepath.Separator), "")); diff != "" {
			t.Errorf("%s:\n%s", block[1], diff)
		}
	}
}
