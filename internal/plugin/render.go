package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/message"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

const renderExample = `  # What a recipient will read
  kubectl reminders render -f renewal.yaml --recipient acct_4821

  # The HTML of one occurrence, for a browser
  kubectl reminders render -f renewal.yaml --recipient acct_4821 --occurrence 2026-11-03T08:00:00Z -o html > mail.html`

type renderFlags struct {
	files                         []string
	recipient, occurrence, output string
	namespace                     string
}

func renderCommand(streams genericclioptions.IOStreams, now func() time.Time) *cobra.Command {
	f := renderFlags{}
	c := &cobra.Command{
		Use:   "render -f FILE --recipient ID",
		Short: "Show what a recipient will read",
		Long: `Render subject, text, HTML and the address for unsubscribing of the schedules in files for one of their recipients, as a worker
would, without a cluster and without sending anything.

The occurrence is the next one, or that of --occurrence, which must be a due time of the schedule; next shows them. The exit
code is 1 if a schedule is in error, if it has no such recipient, or if the message cannot be rendered for that recipient.`,
		Example: renderExample,
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c.Context(), streams, now) },
	}
	flags := c.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "file with YAML or JSON documents, or - for the standard input; may be repeated (required)")
	flags.StringVar(&f.recipient, "recipient", "", "id of the recipient (required)")
	flags.StringVar(&f.occurrence, "occurrence", "", "due time of the occurrence, in RFC 3339 such as 2026-11-03T08:00:00Z; default the next one")
	flags.StringVarP(&f.namespace, "namespace", "n", metav1.NamespaceDefault, "namespace of objects that name none")
	flags.StringVarP(&f.output, "output", "o", "text", "text, json, or html for the HTML alone")
	return c
}

// rendering is a message as it is printed.
type rendering struct {
	Name           string `json:"name"`
	Key            string `json:"key,omitempty"`
	Due            string `json:"due,omitempty"`
	Subject        string `json:"subject,omitempty"`
	Body           string `json:"body,omitempty"`
	HTML           string `json:"html,omitempty"`
	UnsubscribeURL string `json:"unsubscribeURL,omitempty"`
	Error          string `json:"error,omitempty"`
}

func (f *renderFlags) run(ctx context.Context, streams genericclioptions.IOStreams, now func() time.Time) error {
	at, err := f.check()
	if err != nil {
		return err
	}
	stock, err := readFiles(ctx, streams.In, f.namespace, f.files)
	if err != nil {
		return err
	}
	days, bad, shown := newCalendars(stock), false, 0
	for _, o := range stock.objects {
		if o.kind != "ReminderSchedule" && o.err == nil {
			continue
		}
		shown++
		r := f.render(ctx, o, days, at, now())
		bad = bad || r.Error != ""
		if r.Error != "" && f.output != "json" {
			fmt.Fprintf(streams.ErrOut, "%s: error: %s\n", r.Name, clean(r.Error))
			continue
		}
		if err := r.print(f.output, streams.Out); err != nil {
			return err
		}
	}
	switch {
	case bad:
		return errInError
	case shown == 0:
		return fmt.Errorf("no ReminderSchedule in %s", namesOf(f.files))
	}
	return nil
}

func (f *renderFlags) check() (at time.Time, err error) {
	switch {
	case len(f.files) == 0:
		return at, usage("give a file with -f; kubectl reminders render --help has examples")
	case f.recipient == "":
		return at, usage("give --recipient, the id of one")
	case f.output != "text" && f.output != "json" && f.output != "html":
		return at, badOutput(f.output, "text, json or html")
	case f.occurrence == "":
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, f.occurrence); err != nil {
		return at, usage("--occurrence is %q; give a time with an offset, such as 2026-11-03T08:00:00Z", f.occurrence)
	}
	return at, nil
}

// render works out the message of one schedule.
func (f *renderFlags) render(ctx context.Context, o *object, days *calendars, at, now time.Time) rendering {
	r := rendering{Name: o.label()}
	if o.name != "" {
		r.Name = o.name
	}
	compiled := o.compileFor(ctx, days, now)
	for _, p := range o.problems {
		if p.Severity == severityError {
			r.Error = strings.TrimPrefix(p.Path+": "+p.Message, ": ")
			return r
		}
	}
	if err := f.fill(&r, o, compiled, at, now); err != nil {
		r.Error = err.Error()
	}
	return r
}

// compileFor is compile for a schedule that may not have been created yet.
func (o *object) compileFor(ctx context.Context, days *calendars, now time.Time) *schedule.Schedule {
	if o.schedule == nil {
		if len(o.problems) == 0 {
			o.fail("", "this is no ReminderSchedule")
		}
		return nil
	}
	assumeCreation(o.schedule, now)
	return o.compile(ctx, days)
}

func (f *renderFlags) fill(r *rendering, o *object, compiled *schedule.Schedule, at, now time.Time) error {
	obj := o.schedule
	parts, err := message.CompileParts(convert.MessageSource(obj))
	if err != nil {
		return err
	}
	person, series, err := f.seriesOf(obj, compiled)
	if err != nil {
		return err
	}
	occurrence, err := chosen(convert.OccurrencesOf(obj, series), at, now)
	if err != nil {
		return err
	}
	in := message.Input{
		Recipient: person, DueTime: occurrence.Due, DeadlineTime: occurrence.Due.Add(convert.Deadline(obj)),
		Key: reminder.Key{Namespace: o.namespace, Schedule: o.name, Slot: slotOf(obj, occurrence), Recipient: person.ID, Channel: obj.Spec.ChannelName},
	}
	said, err := parts.Render(in)
	if err != nil {
		return fmt.Errorf("recipient %s: %w", person.ID, err)
	}
	r.Key, r.Due = in.Key.String(), instant(occurrence.Due)
	r.Subject, r.Body, r.HTML, r.UnsubscribeURL = said.Subject, said.Body, said.HTML, said.UnsubscribeURL
	return nil
}

// seriesOf finds the recipient with its occurrences.
func (f *renderFlags) seriesOf(obj *v1alpha1.ReminderSchedule, compiled *schedule.Schedule) (reminder.Recipient, convert.Series, error) {
	for _, person := range convert.Recipients(obj) {
		if person.ID != f.recipient {
			continue
		}
		person.Active = true // it is asked for
		series, excluded := convert.SeriesOf(obj, compiled, []reminder.Recipient{person})
		if len(excluded) > 0 {
			return person, convert.Series{}, fmt.Errorf("spec.recipients: %s has no occurrence: %w", person.ID, excluded[0].Err)
		}
		return person, series[0], nil
	}
	if len(obj.Spec.RecipientsFrom) > 0 {
		return reminder.Recipient{}, convert.Series{}, fmt.Errorf("spec.recipients: there is no %s; those of spec.recipientsFrom are not read here", f.recipient)
	}
	return reminder.Recipient{}, convert.Series{}, fmt.Errorf("spec.recipients: there is no %s", f.recipient)
}

// chosen is the occurrence that is due at a time, or the next one for the zero time.
func chosen(all convert.Occurrences, at, now time.Time) (schedule.Occurrence, error) {
	from := now
	if !at.IsZero() {
		from = at.Add(-time.Second)
	}
	next, ok := all.Next(from)
	switch {
	case !ok && at.IsZero():
		if last, ok := all.Previous(now); ok {
			return last, nil
		}
		return next, errors.New("spec.schedule: there is no occurrence")
	case at.IsZero() || ok && next.Due.Equal(at):
		return next, nil
	case !ok:
		return next, fmt.Errorf("--occurrence: nothing is due at %s, or later", instant(at))
	}
	return next, fmt.Errorf("--occurrence: nothing is due at %s; the next is %s", instant(at), instant(next.Due))
}

func slotOf(obj *v1alpha1.ReminderSchedule, o schedule.Occurrence) string {
	if obj.Spec.Identity == v1alpha1.IdentityBusinessDate {
		return o.BusinessDate()
	}
	return reminder.SlotOf(o.Due)
}

func (r rendering) print(output string, out io.Writer) error {
	switch output {
	case "json":
		return lines(out).Encode(r)
	case "html":
		_, err := fmt.Fprintln(out, r.HTML)
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, due %s\nSubject: %s\n", r.Key, r.Due, r.Subject)
	if r.UnsubscribeURL != "" {
		fmt.Fprintf(&text, "List-Unsubscribe: <%s>\n", r.UnsubscribeURL)
	}
	text.WriteString("\n" + strings.TrimSuffix(r.Body, "\n") + "\n")
	if r.HTML != "" {
		text.WriteString("\n-- HTML\n" + strings.TrimSuffix(r.HTML, "\n") + "\n")
	}
	_, err := io.WriteString(out, printable(text.String()))
	return err
}

// printable is a text that does nothing to a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, text)
}
