package plugin

import (
	"context"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// result is what a schedule comes to, in the form of the JSON output.
type result struct {
	Name        string            `json:"name"`
	Occurrences []shownOccurrence `json:"occurrences"`
	Warnings    []string          `json:"warnings"`
	Error       string            `json:"error,omitempty"`

	label    string // the name, or the place of what has none
	rows     []occurrence
	problems []problem // errors and warnings with their carets
}

// shownOccurrence is an occurrence in the form of the JSON output.
type shownOccurrence struct {
	Nominal   string `json:"nominal"` // local time
	Due       string `json:"due"`     // UTC
	Recipient string `json:"recipient,omitempty"`
	Note      string `json:"note"`
	Deadline  string `json:"deadline,omitempty"` // UTC; of next, with deadlineTimeOfDay
}

func show(o occurrence) shownOccurrence {
	return shownOccurrence{Nominal: o.Nominal.String(), Due: instant(o.Due), Recipient: o.recipient, Note: o.Note.String()}
}

// preview works out what a schedule comes to. What is wrong with it beside its times is a warning here.
func (o *object) preview(ctx context.Context, c *calendars, from time.Time, count int) result {
	r := result{Name: o.name, label: o.name, Occurrences: []shownOccurrence{}, Warnings: []string{}}
	if r.label == "" {
		r.label = o.file + ": " + o.place()
	}
	var notes []string
	if o.schedule != nil {
		notes = assumeCreation(o.schedule, from)
	}
	compiled := o.compile(ctx, c)
	var errs []string
	for _, p := range o.problems {
		switch {
		case p.Severity == severityInfo:
			continue
		case o.aboutTime(p):
			errs = append(errs, p.String())
		default:
			p.Severity = severityWarning
			r.Warnings = append(r.Warnings, p.String())
		}
		r.problems = append(r.problems, p)
	}
	r.Error = strings.Join(errs, "; ")
	if r.Error != "" && r.Name == "" {
		r.Error = r.label + ": " + r.Error
	}
	if r.Error != "" || compiled == nil {
		return r
	}
	notes = append(notes, scheduleWarnings(o.schedule, compiled)...)
	rows, more := upcoming(o.schedule, compiled, from, count)
	notes = append(notes, more...)
	if len(rows) == 0 {
		notes = append(notes, "nothing is due after "+instant(from))
	}
	for _, note := range notes {
		r.problems = append(r.problems, problem{Severity: severityWarning, Message: note})
	}
	r.Warnings = append(r.Warnings, notes...)
	r.rows = rows
	deadlines := convert.DeadlinesOf(o.schedule)
	for _, row := range rows {
		shown := show(row)
		if deadlines.ByClock() {
			shown.Deadline = instant(deadlines.Of(row.series, row.Due))
		}
		r.Occurrences = append(r.Occurrences, shown)
	}
	return r
}

// aboutTime tells whether a problem keeps a schedule from having times, or makes it doubtful which ones it has.
func (o *object) aboutTime(p problem) bool {
	return p.Severity == severityError && (o.schedule == nil || p.Path == "" || p.within(schedulePath) || o.repeated || p.Path == "kind" || p.Path == "apiVersion")
}
