package plugin

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

const lintExample = `  # What an API server and the operator would refuse
  kubectl reminders lint -f renewal.yaml

  # A schedule together with the calendar and the channel that it names
  kubectl reminders lint -f renewal.yaml -f calendars.yaml -f channels.yaml

  # Which occurrences an edit changes
  kubectl reminders lint --diff renewal.yaml renewal-new.yaml --count 20`

type lintFlags struct {
	files     []string
	diff      bool
	window    windowFlags
	output    string
	namespace string
}

func lintCommand(streams genericclioptions.IOStreams, now func() time.Time) *cobra.Command {
	f := lintFlags{}
	c := &cobra.Command{
		Use:   "lint (-f FILE | --diff OLD NEW)",
		Short: "Say what is wrong with schedules, channels and calendars, or what an edit changes",
		Long: `Say what is wrong with the documents of files, without a cluster.

Checked is what an API server checks, by the same schemas and rules, and what the operator checks after it: cron expressions,
zones, calendars, messages, eligibility. An error is what would be refused, or would leave an object Stalled; a warning what is probably
not meant; an info what could not be checked. The exit code is 1 if there is an error.

With --diff two files are compared: which occurrences an edit adds, removes and moves, among as many coming ones of each
schedule as --count says, and whether the reminders stay the same ones.`,
		Example: lintExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c.Context(), streams, now, args) },
	}
	c.Flags().StringArrayVarP(&f.files, "filename", "f", nil, "file with YAML or JSON documents, or - for the standard input; may be repeated")
	c.Flags().BoolVar(&f.diff, "diff", false, "compare the schedules of two files, OLD and NEW")
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
	c.Flags().StringVarP(&f.namespace, "namespace", "n", metav1.NamespaceDefault, "namespace of objects that name none")
	f.window.add(c)
	return c
}

func (f *lintFlags) run(ctx context.Context, streams genericclioptions.IOStreams, now func() time.Time, args []string) error {
	from, err := f.window.read(now)
	if err != nil {
		return err
	}
	if f.output != "text" && f.output != "json" {
		return badOutput(f.output, "text or json")
	}
	switch {
	case f.diff && (len(args) != 2 || len(f.files) > 0):
		return usage("--diff takes two files, OLD and NEW, and no -f")
	case f.diff:
		return f.compare(ctx, streams, from, args[0], args[1])
	case len(args) > 0:
		return usage("lint takes no arguments, and %q is one; give files with -f", args[0])
	case len(f.files) == 0:
		return usage("give a file with -f; kubectl reminders lint --help has examples")
	}
	stock, err := readFiles(ctx, streams.In, f.namespace, f.files)
	if err != nil {
		return err
	}
	for _, note := range stock.notes() {
		fmt.Fprintln(streams.ErrOut, clean(note))
	}
	return f.report(ctx, stock, from, streams)
}

// finding is what is wrong with an object, in the form of the JSON output.
type finding struct {
	File      string    `json:"file"`
	Line      int       `json:"line"`
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Problems  []problem `json:"problems"`
}

func (f *lintFlags) report(ctx context.Context, stock *inventory, from time.Time, streams genericclioptions.IOStreams) error {
	days, encoder := newCalendars(stock), lines(streams.Out)
	counts := map[string]int{}
	for _, o := range stock.objects {
		if o.schedule != nil {
			assumeCreation(o.schedule, from)
		}
		o.lint(ctx, stock, days)
		for _, p := range o.problems {
			counts[p.Severity]++
		}
		if f.output == "json" {
			if err := encoder.Encode(o.finding()); err != nil {
				return err
			}
			continue
		}
		for _, p := range o.problems {
			printProblem(streams.Out, o.file+": "+o.label(), p)
		}
	}
	summarise(streams.ErrOut, len(stock.objects), counts)
	if counts[severityError] > 0 {
		return errInError
	}
	return nil
}

func (o *object) finding() finding {
	found := finding{File: o.file, Line: o.line, Kind: o.kind, Namespace: o.namespace, Name: o.name, Problems: []problem{}}
	found.Problems = append(found.Problems, o.problems...)
	return found
}

func summarise(out io.Writer, objects int, counts map[string]int) {
	fmt.Fprintf(out, "%s checked: %s, %s\n", counted(objects, "object"), counted(counts[severityError], "error"), counted(counts[severityWarning], "warning"))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
