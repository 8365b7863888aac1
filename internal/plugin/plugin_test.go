package plugin_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/reminder-operator/reminder-operator/internal/plugin"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// answer is what a command line comes to.
type answer struct {
	code     int
	out, err string
}

// run executes a command line with a standard input.
func run(stdin string, args ...string) answer {
	var out, errOut bytes.Buffer
	streams := genericclioptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errOut}
	code := plugin.Run(args, streams, func() time.Time { return now })
	return answer{code, out.String(), errOut.String()}
}

// preview is a line of the JSON output.
type preview struct {
	Name        string
	Occurrences []struct{ Nominal, Due, Recipient, Note, Deadline string }
	Warnings    []string
	Error       string
}

// dues are the due times of a preview.
func (p preview) dues() []string {
	var all []string
	for _, o := range p.Occurrences {
		all = append(all, o.Due)
	}
	return all
}

// previews runs next on documents.
func previews(t *testing.T, documents string, args ...string) (all []preview, a answer) {
	t.Helper()
	a = run(documents, append([]string{"next", "-f", "-", "-o", "json"}, args...)...)
	for line := range strings.Lines(a.out) {
		var p preview
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&p); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, p)
	}
	return all, a
}

// one runs next on a single schedule with these time fields, in the flow form of YAML.
func one(t *testing.T, fields string, args ...string) (preview, answer) {
	t.Helper()
	all, a := previews(t, schedule("renewal", fields), args...)
	if len(all) != 1 {
		t.Fatalf("%d lines: %+v", len(all), a)
	}
	return all[0], a
}

// schedule is the document of a schedule with everything that it needs.
func schedule(name, fields string) string {
	return "---\napiVersion: reminders.dev/v1alpha1\nkind: ReminderSchedule\nmetadata: {name: " + name + "}\nspec:\n  schedule: {" + fields +
		"}\n  recipients:\n  - {id: acct_1, address: ada@example.com}\n  channelName: mail\n  message: {body: Hello}\n"
}

// byDate is the document of a schedule with the identity BusinessDate.
func byDate(fields string) string {
	return strings.Replace(schedule("a", fields), "  channelName", "  identity: BusinessDate\n  channelName", 1)
}

// golden compares what was printed with a file of testdata.
func golden(t *testing.T, name string, a answer) {
	t.Helper()
	got := a.out + "\n== standard error, exit code " + string(rune('0'+a.code)) + "\n" + a.err
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, diff)
	}
}
