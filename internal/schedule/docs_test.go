package schedule_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

const docs = "../../docs/schedules.md"

// Every block of docs/schedules.md that begins with "cron:", "at:" or "every:" is a schedule, and below it what it comes
// to. Its first line has the fields, two blanks apart; then there is one line an occurrence, a warning, or the refusal.
func TestTheExamplesInTheDocumentationAreTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "release "+schedule.TZDataVersion()+".") {
		t.Errorf("the release of the zone data is not %s there", schedule.TZDataVersion())
	}
	blocks := regexp.MustCompile("(?m)^```text\n((?:cron|at|every): [^\n]*)\n((?:[^`\n][^\n]*\n)*)```$").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 12 {
		t.Errorf("%d examples found", len(blocks))
	}
	for _, block := range blocks {
		fields, written := block[1], block[2]
		if want := outcome(t, fields, strings.Count(written, "\n")); written != want {
			t.Errorf("%s\n has\n%s want\n%s", fields, written, want)
		}
	}
}

// outcome returns what a schedule comes to, in as many lines.
func outcome(t *testing.T, fields string, lines int) string {
	t.Helper()
	spec, from := readSpec(t, fields)
	s, err := schedule.Compile(spec)
	if err != nil {
		return strings.Join(strings.SplitN(err.Error(), "; ", 2), "\n") + "\n"
	}
	var b strings.Builder
	for _, warning := range s.Warnings() {
		b.WriteString("warning: " + warning + "\n")
	}
	for lines -= len(s.Warnings()); lines > 0; lines-- {
		o, ok := s.Next(from)
		if !ok {
			break
		}
		local := o.Due.In(s.Location()).Format("2006-01-02T15:04:05Z07:00")
		line := fmt.Sprintf("%s %s  due %-25s  %s", o.Nominal.Weekday().String()[:3], o.Nominal, local, o.Note)
		b.WriteString(strings.TrimSpace(line) + "\n")
		from = o.Due
	}
	return b.String()
}

func readSpec(t *testing.T, fields string) (spec schedule.Spec, from time.Time) {
	t.Helper()
	for field := range strings.SplitSeq(fields, "  ") {
		name, value, _ := strings.Cut(field, ": ")
		value = strings.Trim(value, `"`)
		switch name {
		case "cron":
			spec.Cron = value
		case "at":
			spec.At = value
		case "every":
			every, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			spec.Every = every
		case "timeZone":
			spec.TimeZone = value
		case "dayMatch":
			spec.DayMatch = schedule.DayMatch(value)
		case "gap":
			spec.Gap = schedule.GapPolicy(value)
		case "overlap":
			spec.Overlap = schedule.OverlapPolicy(value)
		case "startTime":
			spec.Start = instant(t, value)
			spec.Origin = spec.Start
		case "from":
			from = instant(t, value)
		default:
			t.Fatalf("%q in %q", name, fields)
		}
	}
	return spec, from
}
