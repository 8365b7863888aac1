package plugin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/reminder-operator/reminder-operator/internal/audit"
	"github.com/reminder-operator/reminder-operator/internal/broker"
)

const auditExample = `  # Everything of a namespace
  kubectl reminders audit -n shop --nats-url nats://localhost:4222

  # A schedule, with what its receiver says that it has accepted: one key a line
  kubectl reminders audit renewal-notice -n shop --nats-url nats://localhost:4222 --receiver accepted.log

  # For an auditor
  kubectl reminders audit -A --nats-url tls://nats.example.com --nats-credentials audit.creds -o json`

type auditFlags struct {
	natsURL, credentials string
	receiver, output     string
	everywhere           bool
	grace, wait, lag     time.Duration
	kube                 *genericclioptions.ConfigFlags
}

func auditCommand(streams genericclioptions.IOStreams, now func() time.Time) *cobra.Command {
	f := auditFlags{kube: genericclioptions.NewConfigFlags(true)}
	c := &cobra.Command{
		Use:   "audit [NAME...]",
		Short: "Prove that no reminder was lost or sent twice",
		Long: `Compare, for schedules of a cluster, what the ledger, the streams of jobs and dead letters, the tally and status say, the
schedule itself, and the log of the receiver if it is given: none lost, none twice, every counter right.

It reads NATS as the operator does, and needs credentials that may read its streams. It changes nothing. Without names all
schedules of the namespace are audited, also deleted ones that NATS still knows.

PROVEN is the range of due times for which the reminders that the schedule itself names were looked for in the ledger: since
the last edit of the times or recipients, or of the calendar, and as long as records are kept.

What differs is read again until it agrees or --wait has passed. The exit code is 1 if anything differs.`,
		Example: auditExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c.Context(), streams, now, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.natsURL, "nats-url", "", "NATS URL, such as nats://localhost:4222 or tls://nats.example.com (required)")
	flags.StringVar(&f.credentials, "nats-credentials", "", "NATS credentials file")
	flags.StringVar(&f.receiver, "receiver", "", "file with what the receiver has accepted, one key or idempotency key a line, or JSON with key or id; - for the standard input")
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "audit the schedules of all namespaces")
	flags.DurationVar(&f.grace, "grace", time.Minute, "how long what has just happened, or should have, is left alone; longer than the operator takes to repair it")
	flags.DurationVar(&f.wait, "wait", 30*time.Second, "for how long what differs is read again")
	flags.DurationVar(&f.lag, "status-lag", 30*time.Second, "how old the numbers in status may be; longer than the controller's --status-interval")
	flags.StringVarP(&f.output, "output", "o", "table", "table or json")
	f.kube.AddFlags(flags)
	return c
}

func (f *auditFlags) check(names []string) error {
	switch {
	case f.natsURL == "":
		return usage("give --nats-url, such as nats://localhost:4222: the ledger is in NATS")
	case f.output != "table" && f.output != "json":
		return badOutput(f.output, "table or json")
	case f.everywhere && len(names) > 0:
		return usage("give names or --all-namespaces, not both")
	}
	for _, b := range []struct {
		flag  string
		value time.Duration
	}{{"grace", f.grace}, {"wait", f.wait}, {"status-lag", f.lag}} {
		if b.value < 0 || b.value > 24*time.Hour {
			return usage("--%s is %s; give 0s to 24h", b.flag, b.value)
		}
	}
	return nil
}

func (f *auditFlags) run(ctx context.Context, streams genericclioptions.IOStreams, now func() time.Time, names []string) error {
	if err := f.check(names); err != nil {
		return err
	}
	c, namespace, err := connect(f.kube)
	if err != nil {
		return err
	}
	b, err := broker.Connect(broker.Options{URL: f.natsURL, CredentialsFile: f.credentials, Name: "kubectl-reminders"})
	if err != nil {
		return err
	}
	defer b.Close()
	if err := await(ctx, b); err != nil {
		return err
	}
	if f.everywhere {
		namespace = ""
	}
	a := &auditor{auditFlags: f, cluster: c, broker: b, stdin: streams.In, now: now}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	subjects, err := a.subjects(ctx, namespace, names)
	if err != nil {
		return err
	}
	if len(subjects) == 0 {
		fmt.Fprintln(streams.ErrOut, "no ReminderSchedule was found")
	}
	reports, err := a.all(ctx, subjects)
	if err != nil {
		return err
	}
	s := addUp(reports, f.receiver != "", a.began)
	if err := s.print(f.output, streams); err != nil {
		return err
	}
	if !s.Equal {
		return errInError
	}
	return nil
}

// await gives NATS some seconds to answer.
func await(ctx context.Context, b *broker.Broker) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return b.Await(ctx)
}

// accepted reads the receiver's log; nil without one. A file is read anew each time, the standard input once.
func (a *auditor) accepted(began time.Time) (*audit.Log, error) {
	switch a.receiver {
	case "":
		return nil, nil
	case "-":
		if a.log == nil {
			log, err := readLog(a.stdin, began)
			if err != nil {
				return nil, fmt.Errorf("read the receiver's log: standard input: %w", err)
			}
			a.log = log
		}
		return a.log, nil
	}
	file, err := os.Open(a.receiver)
	if err != nil {
		return nil, fmt.Errorf("read the receiver's log: %w", err)
	}
	defer file.Close()
	log, err := readLog(file, began)
	if err != nil {
		return nil, fmt.Errorf("read the receiver's log: %s: %w", a.receiver, err)
	}
	return log, nil
}

const maxLogLine = 64 << 10

func readLog(in io.Reader, began time.Time) (*audit.Log, error) {
	log, lines := audit.NewLog(began), bufio.NewScanner(in)
	lines.Buffer(nil, maxLogLine)
	for n := 1; lines.Scan(); n++ {
		if text := lines.Text(); text != "" && text[0] != '#' && !log.Add(text) {
			return nil, fmt.Errorf("line %d is no key of a reminder, such as shop/renewal-notice/2026-11-03T08:00:00Z/acct_4821, no idempotency key, and no JSON with key or id", n)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("a line has more than %d bytes", maxLogLine)
	}
	return log, lines.Err()
}
