package calendar_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// Every block of docs/calendars.md that begins with "country:" is a calendar with the usual weekend, and below it dates
// with the business day that they are moved to and the name of the holiday.
func TestTheExamplesInTheDocumentationAreTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/calendars.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "`" + strings.Join(calendar.Countries(), "`, `") + "`."; !strings.Contains(string(text), want) {
		t.Errorf("the countries are not %s", want)
	}
	if release := strings.TrimPrefix(calendar.DataVersion(), "rickar/cal "); !strings.Contains(string(text), "release "+release+",") {
		t.Errorf("the release is not %s", release)
	}
	blocks := regexp.MustCompile("(?m)^```text\n(country: [^\n]*)\n((?:[^`\n][^\n]*\n)*)```$").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 2 {
		t.Errorf("%d examples found", len(blocks))
	}
	for _, block := range blocks {
		spec, policy := calendar.Spec{Weekend: weekend}, calendar.Next
		for field := range strings.SplitSeq(block[1], "  ") {
			switch name, value, _ := strings.Cut(field, ": "); name {
			case "country":
				spec.Country = value
			case "region":
				spec.Region = value
			case "roll":
				policy = calendar.Policy(value)
			default:
				t.Fatalf("%q in %q", name, block[1])
			}
		}
		c := of(t, spec)
		for line := range strings.Lines(block[2]) {
			from, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			rolled, _, err := c.Roll(date(t, from), policy)
			name, _ := c.Holiday(date(t, from))
			if got := strings.TrimSpace(rolled.String() + " " + name); err != nil || got != rest {
				t.Errorf("%s: %s %s, want %s", block[1], from, got, rest)
			}
		}
	}
}
