package plugin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// compare shows what an edit changes: OLD is what is, NEW what is to be.
func (f *lintFlags) compare(ctx context.Context, streams genericclioptions.IOStreams, from time.Time, before, after string) error {
	if before == "-" && after == "-" {
		return usage("the standard input can be read once: give a file for OLD or NEW")
	}
	var sides [2]*inventory
	for i, file := range []string{before, after} {
		stock, err := readFiles(ctx, streams.In, f.namespace, []string{file})
		if err != nil {
			return err
		}
		sides[i] = stock
	}
	d := &differ{days: [2]*calendars{newCalendars(sides[0]), newCalendars(sides[1])}, from: from, count: f.window.count}
	bad, encoder := d.unreadable(sides, streams.ErrOut), lines(streams.Out)
	for _, pair := range pairs(sides) {
		c := d.compare(ctx, pair)
		bad = bad || c.Error != ""
		if f.output == "json" {
			if err := encoder.Encode(c); err != nil {
				return err
			}
			continue
		}
		printComparison(streams, c)
	}
	if bad {
		return errInError
	}
	return nil
}

type differ struct {
	days  [2]*calendars
	from  time.Time
	count int
}

// unreadable says which documents cannot be compared.
func (d *differ) unreadable(sides [2]*inventory, out io.Writer) (bad bool) {
	for _, side := range sides {
		for _, o := range side.objects {
			if o.kind == "ReminderSchedule" && o.name != "" && !o.repeated || o.kind == "BusinessCalendar" || !o.failed() {
				continue
			}
			bad = true
			for _, p := range o.problems {
				printProblem(out, o.file+": "+o.label(), p)
			}
		}
	}
	return bad
}

// pairs are the schedules of two files by namespace and name, in the order of the new file and then of the old one.
func pairs(sides [2]*inventory) [][2]*object {
	var all [][2]*object
	for _, o := range sides[1].objects {
		if o.kind == "ReminderSchedule" && sides[1].byKey[o.key()] == o {
			all = append(all, [2]*object{sides[0].byKey[o.key()], o})
		}
	}
	for _, o := range sides[0].objects {
		if o.kind == "ReminderSchedule" && sides[0].byKey[o.key()] == o && sides[1].byKey[o.key()] == nil {
			all = append(all, [2]*object{o, nil})
		}
	}
	return all
}

// compare works out what becomes of one schedule. A side that is in error cannot be compared.
func (d *differ) compare(ctx context.Context, pair [2]*object) comparison {
	var states [2]state
	var problems []problem
	name := ""
	for i, o := range pair {
		if o == nil {
			continue
		}
		name = o.name
		if o.schedule != nil {
			states[i].obj = o.schedule.DeepCopy()
		}
		r := o.preview(ctx, d.days[i], d.from, d.count)
		for _, p := range r.problems {
			if p.Severity == severityError {
				p.Message = []string{"OLD: ", "NEW: "}[i] + p.Message
				problems = append(problems, p)
			}
		}
		states[i].rows, states[i].full = r.rows, len(r.rows) == d.count
	}
	c := comparison{Change: "unknown", Added: []shownOccurrence{}, Removed: []shownOccurrence{}, Moved: []move{}, Notes: []string{}}
	if len(problems) == 0 {
		c = compare(states[0], states[1])
	}
	c.Name, c.problems = name, problems
	var errs []string
	for _, p := range problems {
		errs = append(errs, p.String())
	}
	c.Error = strings.Join(errs, "; ")
	return c
}

func printComparison(streams genericclioptions.IOStreams, c comparison) {
	out, label := streams.Out, "ReminderSchedule/"+c.Name
	if c.Error != "" {
		for _, p := range c.problems {
			printProblem(streams.ErrOut, label, p)
		}
		return
	}
	until := ""
	if c.Through != "" {
		until = ", up to " + c.Through
	}
	fmt.Fprintf(out, "%s: %s: %d kept, %d moved, %d added, %d removed%s\n",
		clean(label), c.Change, c.Kept, len(c.Moved), len(c.Added), len(c.Removed), until)
	for _, note := range c.Notes {
		fmt.Fprintf(out, "! %s\n", clean(note))
	}
	for _, e := range c.edits {
		fmt.Fprintln(out, clean(e.String()))
	}
}

// String is a changed occurrence in one line, with + - or ~ in front.
func (e edit) String() string {
	switch {
	case e.before == nil:
		return "+ " + e.after.line()
	case e.after == nil:
		return "- " + e.before.line()
	}
	return "~ " + e.before.line() + " -> " + e.after.line()
}

// line is an occurrence with everything that the table says of it.
func (o *occurrence) line() string {
	local := o.Due.In(o.zone)
	text := local.Format("Mon " + localTime)
	if o.recipient != "" {
		text += " " + o.recipient
	}
	if note := (row{occurrence: *o}).note(); note != "" {
		text += " (" + note + ")"
	}
	return text
}
