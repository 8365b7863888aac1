package schedule_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

const docs = "../../docs/schedules.md"

// Every block of docs/schedules.md that begins with "cron:", "rrule:", "at:" or "every:" is a schedule, and below it what it comes
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
	blocks := regexp.MustCompile("(?m)^```text\n((?:cron|rrule|at|every): [^\n]*)\n((?:[^`\n][^\n]*\n)*)```$").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 20 {
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
	days := calendar.Spec{Weekend: weekend}
	for field := range strings.SplitSeq(fields, "  ") {
		name, value, _ := strings.Cut(field, ": ")
		value = strings.Trim(value, `"`)
		switch name {
		case "cron":
			spec.Cron = value
		case "rrule":
			spec.RRule = value
		case "at":
			spec.At = value
		case "country":
			days.Country = value
		case "holiday":
			days.Holidays = append(days.Holidays, calendar.Holiday{Date: date(t, value)})
		case "onNonBusinessDay":
			spec.OnNonBusinessDay = calendar.Policy(value)
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
	if days.Country != "" {
		spec.Calendar = compileCalendar(t, days)
	}
	return spec, from
}

// The table of offsets says what each comes to from 2026-03-31 on.
func TestTheOffsetsInTheDocumentationAreTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([+-]?P[0-9A-Z]+)`[^|]*\\| (\\d{4}-\\d\\d-\\d\\d) \\|").FindAllStringSubmatch(string(text), -1)
	if len(rows) != 6 {
		t.Errorf("%d offsets found", len(rows))
	}
	for _, row := range rows {
		s := compile(t, schedule.Spec{
			Anchor: &schedule.Anchor{Attribute: "date", Offset: row[1], Time: "09:00"}, Calendar: business(t, ""), OnNonBusinessDay: calendar.Keep,
		})
		own, err := s.ForRecipient(map[string]string{"date": "2026-03-31"})
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := own.Next(time.Time{}); !ok || o.BusinessDate() != row[2] {
			t.Errorf("%s is %s, want %s", row[1], o.BusinessDate(), row[2])
		}
	}
}
