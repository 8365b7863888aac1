package plugin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	header = "apiVersion: reminders.dev/v1alpha1\nkind: ReminderSchedule\n"
	flow   = `{apiVersion: reminders.dev/v1alpha1, kind: ReminderSchedule, metadata: {name: a}, spec: {schedule: {cron: "@daily"}}}`
	asJSON = `{"apiVersion":"reminders.dev/v1alpha1","kind":"ReminderSchedule","metadata":{"name":"a"},"spec":{"schedule":{"cron":"@daily"}}}`
)

// How documents may be written, and which schedules are found; * stands for one in error.
func TestNextReads(t *testing.T) {
	t.Parallel()
	a, b := schedule("a", `cron: "@daily"`), schedule("b", `cron: "@daily"`)
	for name, c := range map[string]struct{ text, want string }{
		"one document":                                {strings.TrimPrefix(a, "---\n"), "a"},
		"several documents":                           {a + b, "a b"},
		"lines that end as on Windows":                {strings.ReplaceAll(a+b, "\n", "\r\n"), "a b"},
		"a byte order mark":                           {"\xef\xbb\xbf" + a, "a"},
		"a comment behind a separator":                {"--- # first\n" + strings.TrimPrefix(a, "---\n"), "a"},
		"a document on the line of a separator":       {"--- " + flow + "\n", "a"},
		"an end mark":                                 {a + "...\n" + b, "a b"},
		"a directive":                                 {"%YAML 1.1\n" + a, "a"},
		"empty documents":                             {"---\n---\n# nothing\n" + a + "---\n", "a"},
		"flow style":                                  {flow, "a"},
		"JSON":                                        {asJSON, "a"},
		"JSON objects one behind the other":           {asJSON + "\n" + asJSON[:len(asJSON)-1] + "}", "a a*"},
		"JSON after a separator":                      {a + "---\n" + asJSON, "a a*"},
		"a List":                                      {"apiVersion: v1\nkind: List\nitems: [" + flow + "]", "a"},
		"a list of our kind":                          {"apiVersion: reminders.dev/v1alpha1\nkind: ReminderScheduleList\nitems: [{metadata: {name: a}, spec: {schedule: {cron: '@daily'}}}]", "a"},
		"an anchor and its alias":                     {header + "metadata: {name: &x a, labels: {b: *x}}\nspec: {schedule: {cron: '@daily'}}", "a"},
		"the others beside a document that is none":   {a + "---\nkind: [\n" + b, "a * b"},
		"the others beside a document without a kind": {a + "---\nx: y\n" + b, "a * b"},
		"the others beside a scalar":                  {a + "---\nhello\n" + b, "a * b"},
		"the others beside one of another version":    {a + strings.ReplaceAll(b, "v1alpha1", "v2"), "a b*"},
		"a schedule without a name":                   {header + "spec: {schedule: {cron: '@daily'}}", ""},
		"two of one name":                             {a + a, "a a*"},
		"a field twice":                               {header + "metadata: {name: a}\nspec: {schedule: {cron: '@daily', cron: '@hourly'}}", "*"},
		"a field twice in JSON":                       {strings.Replace(asJSON, `"cron"`, `"cron":"@hourly","cron"`, 1), "*"},
		"a spec that is a list":                       {header + "metadata: {name: a}\nspec: []", "a*"},
		"metadata that is text":                       {header + "metadata: a\nspec: {schedule: {cron: '@daily'}}", "*"},
		"no spec":                                     {header + "metadata: {name: a}", "a*"},
		"items that are no objects":                   {"apiVersion: v1\nkind: List\nitems: [5, " + flow + "]", "* a"},
		"aliases that come to too much":               {"a: &a [" + strings.Repeat("x,", 999) + "x]\nb: &b [" + strings.Repeat("*a,", 99) + "*a]\nc: [" + strings.Repeat("*b,", 99) + "*b]\n", "*"},
		"an anchor that contains itself":              {"a: &a [*a]\n", "*"},
		"JSON of many levels":                         {strings.Repeat(`{"a":`, 20_000), "*"},
		"YAML of many levels":                         {strings.Repeat("[", 20_000), "*"},
		"a key that is no text":                       {"{[a]: b}", "*"},
		"text that is no UTF-8":                       {"a: \xff\n", "*"},
		"NUL":                                         {"a: \x00\n", "*"},
		"a tab where a blank belongs":                 {"a:\n\t- b\n", "*"},
		"binary data":                                 {"\x1f\x8b\x08\x00\x00\x00", "*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, answer := previews(t, c.text)
			var got []string
			failed := false
			for _, p := range all {
				mark := ""
				if p.Error != "" {
					mark, failed = "*", true
				}
				got = append(got, p.Name+mark)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %q, want %q: %+v", got, c.want, answer)
			}
			if failed != (answer.code == 1) || answer.code > 1 {
				t.Errorf("the exit code is %d: %+v", answer.code, answer)
			}
		})
	}
}

func TestNextSaysWhereABadDocumentIs(t *testing.T) {
	t.Parallel()
	all, _ := previews(t, schedule("a", `cron: "@daily"`)+"# a comment\n---\nkind: ReminderSchedule\n  x: y\n")
	if want := "stdin: document 2 (line 12): line 14: mapping values are not allowed in this context"; len(all) != 2 || all[1].Error != want {
		t.Errorf("%+v, want %s", all, want)
	}
}

// write makes a file and answers its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesAreReadTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rent := write(t, dir, "rent.yaml", schedule("rent", `cron: "0 9 1 * *", calendarName: gb`))
	calendar := write(t, dir, "calendar.yaml", "apiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: gb}\nspec: {country: GB}\n")
	large := write(t, dir, "large.yaml", strings.Repeat("# nothing\n", 1<<20))
	for name, c := range map[string]struct {
		args     []string
		stdin    string
		wantCode int
		want     string
	}{
		"a calendar of another file":       {[]string{"-f", rent, "-f", calendar}, "", 0, "holiday New Year's Day"},
		"a calendar of the standard input": {[]string{"-f", rent, "-f", "-"}, "apiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: gb}\nspec: {country: GB}\n", 0, "holiday New Year's Day"},
		"a calendar that is missing":       {[]string{"-f", rent}, "", 1, "rent: error: spec.schedule.calendarName: the documents have no BusinessCalendar gb; add it to the file, or give its file with another -f"},
		"a calendar of another namespace":  {[]string{"-f", rent, "-f", "-"}, "apiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: gb, namespace: shop}\nspec: {country: GB}\n", 1, "the BusinessCalendar gb is in namespace shop, and objects of namespace default do not see it"},
		"objects without a namespace":      {[]string{"-f", rent, "-f", "-", "-n", "shop"}, "apiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: gb, namespace: shop}\nspec: {country: GB}\n", 0, "holiday New Year's Day"},
		"a calendar in error":              {[]string{"-f", rent, "-f", "-"}, "apiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: gb}\nspec: {country: XX}\n", 1, "stdin: BusinessCalendar/gb: error: spec.country: "},
		"a file that is not there":         {[]string{"-f", filepath.Join(dir, "none.yaml")}, "", 1, "none.yaml: no such file or directory"},
		"a folder":                         {[]string{"-f", dir}, "", 1, "is a directory"},
		"files that are too large":         {[]string{"-f", large, "-f", large}, "", 1, "more than 16 MiB in all"},
		"the standard input twice":         {[]string{"-f", "-", "-f", "-"}, "", 2, "the standard input can be read once"},
		"too many documents":               {[]string{"-f", "-"}, strings.Repeat("---\na: b\n", 20_001), 1, "more than 20000 objects"},
		"an empty file":                    {[]string{"-f", "-"}, "", 1, "no ReminderSchedule in stdin"},
		"files without a schedule":         {[]string{"-f", calendar, "-f", "-"}, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", 1, "kubectl reminders: no ReminderSchedule in " + calendar + ", stdin"},
		"two schedules of one name":        {[]string{"-f", rent, "-f", "-", "-f", calendar}, schedule("rent", `cron: "@daily"`), 1, "metadata.name: there are two of this name; the other is document 1 (line 1) of " + rent},
		"one name in two namespaces":       {[]string{"-f", rent, "-f", "-", "-f", calendar}, strings.Replace(schedule("rent", `cron: "@daily"`), "{name: rent}", "{name: rent, namespace: shop}", 1), 0, "holiday New Year's Day"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := run(c.stdin, append([]string{"next", "--from", "2026-12-31T12:00:00Z"}, c.args...)...)
			if a.code != c.wantCode || !strings.Contains(a.out+a.err, c.want) {
				t.Errorf("exit code %d, want %d and %q:\n%.2000s%.2000s", a.code, c.wantCode, c.want, a.out, a.err)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"next":                            "give the name of a ReminderSchedule, or a file with -f",
		"next a -f -":                     "give names or -f, not both",
		"next -f - --count 0":             "--count is 0; give 1 to 1000",
		"next -f - --count 1001":          "--count is 1001; give 1 to 1000",
		"next -f - --count many":          `invalid argument "many"`,
		"next -f - --from tomorrow":       `--from is "tomorrow"; give a time with an offset, such as 2026-03-07T12:00:00Z`,
		"next -f - --from 2026-03-07":     "give a time with an offset",
		"next -f - -o yaml":               `--output is "yaml"; give table or json`,
		"next -f - --namespaces x":        "unknown flag: --namespaces; kubectl reminders next --help lists the flags",
		"lint":                            "give a file with -f",
		"lint x.yaml":                     `"x.yaml" is one; give files with -f`,
		"lint -f - -o table":              `--output is "table"; give text or json`,
		"lint --diff a.yaml":              "--diff takes two files, OLD and NEW",
		"lint --diff a.yaml b.yaml -f c":  "--diff takes two files, OLD and NEW, and no -f",
		"lint --diff - -":                 "the standard input can be read once",
		"previews":                        `there is no verb "previews"`,
		"version -x":                      "unknown shorthand flag",
		"next -f - --from 2026-13-01T00Z": "give a time with an offset",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			if a := run("", strings.Fields(args)...); a.code != 2 || !strings.Contains(a.err, want) || a.out != "" {
				t.Errorf("%+v, want %q", a, want)
			}
		})
	}
}

// Where a thousand recipients differ, --count is about all of them, in the order of time and then of ids.
func TestCountIsAboutAllRecipients(t *testing.T) {
	t.Parallel()
	var recipients strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&recipients, "  - {id: r%03d, address: a, timeZone: %s}\n", 999-i, []string{"Europe/Paris", "Asia/Tokyo", "Europe/Berlin"}[i%3])
	}
	text := strings.Replace(schedule("a", `cron: "0 9 * * *", timeZoneFrom: Recipient`), "  - {id: acct_1, address: ada@example.com}\n", recipients.String(), 1)
	all, a := previews(t, text, "--count", "1000")
	if a.code != 0 || len(all[0].Occurrences) != 1000 {
		t.Fatalf("exit code %d, %d occurrences", a.code, len(all[0].Occurrences))
	}
	before := ""
	for _, o := range all[0].Occurrences {
		if place := o.Due + " " + o.Recipient; place <= before {
			t.Fatalf("%s comes after %s", place, before)
		} else {
			before = place
		}
	}
	if first := all[0].Occurrences[0]; first.Due != "2026-12-01T00:00:00Z" || first.Recipient != "r002" {
		t.Errorf("%+v is the first", first)
	}
}
