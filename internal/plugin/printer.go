package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// printer shows what schedules come to.
type printer interface {
	print(result) error
	flush() error
}

func newPrinter(output string, streams genericclioptions.IOStreams) (printer, error) {
	switch output {
	case "table":
		return &tablePrinter{out: streams.Out, errOut: streams.ErrOut}, nil
	case "json":
		return jsonPrinter{lines(streams.Out)}, nil
	}
	return nil, badOutput(output, "table or json")
}

func badOutput(output, known string) error {
	return usage("--output is %q; give %s", output, known)
}

// lines writes one line of JSON for each value.
func lines(out io.Writer) *json.Encoder {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder
}

// jsonPrinter writes one line for each schedule.
type jsonPrinter struct{ *json.Encoder }

func (p jsonPrinter) print(r result) error { return p.Encode(r) }
func (p jsonPrinter) flush() error         { return nil }

// maxRows is how many rows are aligned with each other; then a new table begins.
const maxRows = 10_000

// tablePrinter collects all schedules into one table, and says below it what is wrong.
type tablePrinter struct {
	out, errOut io.Writer
	rows        []row
	withID      bool // a schedule has times of each recipient
	problems    bytes.Buffer
}

type row struct {
	name string
	occurrence
}

func (p *tablePrinter) print(r result) error {
	for _, o := range r.rows {
		p.rows = append(p.rows, row{r.label, o})
		p.withID = p.withID || o.recipient != ""
	}
	for _, problem := range r.problems {
		printProblem(&p.problems, r.label, problem)
	}
	if len(p.rows) < maxRows {
		return nil
	}
	return p.flush()
}

func (p *tablePrinter) flush() error {
	if err := p.table(); err != nil {
		return err
	}
	p.rows, p.withID = nil, false
	_, err := p.problems.WriteTo(p.errOut)
	return err
}

func (p *tablePrinter) table() error {
	if len(p.rows) == 0 {
		return nil
	}
	lines := [][]string{p.cells("NAME", "DUE", "DAY", "UTC", "RECIPIENT", "NOTE")}
	for _, r := range p.rows {
		local := r.Due.In(r.zone)
		lines = append(lines, p.cells(r.name, local.Format(localTime), local.Format("Mon"), instant(r.Due), r.recipient, r.note()))
	}
	return align(p.out, lines)
}

func (p *tablePrinter) cells(name, due, day, utc, recipient, note string) []string {
	if p.withID {
		return []string{name, due, day, utc, recipient, note}
	}
	return []string{name, due, day, utc, note}
}

const localTime = "2006-01-02 15:04:05 -07:00"

// note says what clocks and calendars did to an occurrence, and which time they did it to.
func (r row) note() string {
	note, nominal := r.Note.String(), r.Nominal.String()
	if nominal == r.Due.In(r.zone).Format("2006-01-02T15:04:05") {
		return note
	}
	return fmt.Sprintf("%s (from %s %s)", note, r.Nominal.Weekday().String()[:3], strings.Replace(nominal, "T", " ", 1))
}

// align writes cells in columns.
func align(out io.Writer, lines [][]string) error {
	var aligned bytes.Buffer
	w := tabwriter.NewWriter(&aligned, 0, 8, 3, ' ', 0)
	for _, cells := range lines {
		for i := range cells {
			cells[i] = clean(cells[i])
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(aligned.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// printProblem writes a problem in one line, and below it the value with a caret.
func printProblem(out io.Writer, label string, p problem) {
	fmt.Fprintf(out, "%s: %s: %s\n", clean(label), p.Severity, clean(p.String()))
	if p.caret == "" {
		return
	}
	for line := range strings.SplitSeq(p.caret, "\n") {
		fmt.Fprintf(out, "    %s\n", clean(line))
	}
}
