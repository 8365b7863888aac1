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

const nextExample = `  # What the schedules of a file come to, without a cluster
  kubectl reminders next -f renewal.yaml

  # Around the change of the clocks in New York
  kubectl reminders next -f renewal.yaml --from 2026-03-07T12:00:00Z --count 3

  # A schedule and the calendar that it names, from two files; one line of JSON for each schedule
  kubectl reminders next -f renewal.yaml -f calendars.yaml -o json

  # What a chart would install
  helm template shop . | kubectl reminders next -f -

  # A schedule of a cluster
  kubectl reminders next renewal-notice -n shop`

type nextFlags struct {
	files  []string
	window windowFlags
	output string
	kube   *genericclioptions.ConfigFlags
}

// windowFlags say which occurrences are meant.
type windowFlags struct {
	from  string
	count int
}

func (w *windowFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&w.from, "from", "", "show what is due after this time, in RFC 3339 such as 2026-03-07T12:00:00Z; default now")
	c.Flags().IntVar(&w.count, "count", 5, "number of occurrences of each schedule, 1 to 1000")
}

// read checks the flags.
func (w *windowFlags) read(now func() time.Time) (from time.Time, err error) {
	if w.count < 1 || w.count > 1000 {
		return from, usage("--count is %d; give 1 to 1000", w.count)
	}
	if w.from == "" {
		return now(), nil
	}
	from, err = time.Parse(time.RFC3339, w.from)
	if err != nil {
		return from, usage("--from is %q; give a time with an offset, such as 2026-03-07T12:00:00Z or 2026-03-07T13:00:00+01:00", w.from)
	}
	return from, nil
}

func nextCommand(streams genericclioptions.IOStreams, now func() time.Time) *cobra.Command {
	f := nextFlags{kube: genericclioptions.NewConfigFlags(true)}
	c := &cobra.Command{
		Use:   "next (-f FILE | NAME...)",
		Short: "Show when schedules fall due next",
		Long: `Show when schedules fall due next, and what changes of the clocks and holidays do to them.

With -f the ReminderSchedules are those of files, and no cluster is asked; their BusinessCalendars, and the ConfigMaps with
iCalendar files, must be in the files too. With names they are those of a cluster.

Where recipients differ in their times, all are put in the order of their times, and --count is about all together. Jitter
is not applied. The exit code is 1 if a schedule or a calendar is in error, while the others are shown nevertheless, and if
files have no schedule at all.`,
		Example: nextExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c.Context(), streams, now, args) },
	}
	c.Flags().StringArrayVarP(&f.files, "filename", "f", nil, "file with YAML or JSON documents, or - for the standard input; may be repeated")
	c.Flags().StringVarP(&f.output, "output", "o", "table", "table or json")
	f.window.add(c)
	f.kube.AddFlags(c.Flags())
	return c
}

func (f *nextFlags) run(ctx context.Context, streams genericclioptions.IOStreams, now func() time.Time, names []string) error {
	from, err := f.window.read(now)
	if err != nil {
		return err
	}
	p, err := newPrinter(f.output, streams)
	if err != nil {
		return err
	}
	switch {
	case len(names) > 0 && len(f.files) > 0:
		return usage("give names or -f, not both")
	case len(names) > 0:
		return f.cluster(ctx, p, from, names)
	case len(f.files) == 0:
		return usage("give the name of a ReminderSchedule, or a file with -f; kubectl reminders next --help has examples")
	}
	namespace := *f.kube.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	stock, err := readFiles(ctx, streams.In, namespace, f.files)
	if err != nil {
		return err
	}
	for _, note := range stock.notes() {
		fmt.Fprintln(streams.ErrOut, clean(note))
	}
	return f.previewFiles(ctx, stock, p, from, streams.ErrOut)
}

// previewFiles shows all schedules among documents, and what is wrong with calendars.
func (f *nextFlags) previewFiles(ctx context.Context, stock *inventory, p printer, from time.Time, errOut io.Writer) error {
	days, bad, shown := newCalendars(stock), false, 0
	for _, o := range stock.objects {
		switch o.kind {
		case "ReminderChannel", "ReminderReplay":
			continue
		case "BusinessCalendar":
			o.lintCalendar(ctx, days)
			for _, problem := range o.problems {
				printProblem(errOut, o.file+": "+o.label(), problem)
			}
			bad = bad || o.failed()
			continue
		}
		shown++
		result := o.preview(ctx, days, from, f.window.count)
		bad = bad || result.Error != ""
		if err := p.print(result); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	if bad {
		return errInError
	}
	if shown == 0 {
		return fmt.Errorf("no ReminderSchedule in %s", namesOf(f.files))
	}
	return nil
}
