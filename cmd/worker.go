package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

type workerFlags struct {
	namespace, channel, name string
	natsURL, credentials     string
	secretDir                string
	retention, grace         time.Duration
	egress                   egressFlags
}

func workerCommand(log *slog.Logger) *cobra.Command {
	f := workerFlags{}
	c := &cobra.Command{
		Use:   "worker",
		Short: "Deliver the due reminders of one channel",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), log) },
	}
	flags := c.Flags()
	flags.StringVar(&f.namespace, "namespace", "", "namespace of the ReminderChannel (required)")
	flags.StringVar(&f.channel, "channel", "", "name of the ReminderChannel (required)")
	flags.StringVar(&f.name, "name", defaultName(), "name of this worker, unique among the live ones; default POD_NAME or the host's name")
	flags.StringVar(&f.natsURL, "nats-url", "", "NATS URL, such as nats://nats:4222 (required)")
	flags.StringVar(&f.credentials, "nats-credentials", "", "NATS credentials file")
	flags.StringVar(&f.secretDir, "secret-dir", "", "folder with the channel's Secret")
	flags.DurationVar(&f.retention, "retention", 168*time.Hour, "how long outcomes are kept, at least 1h; the same as the controller's")
	flags.DurationVar(&f.grace, "grace", 25*time.Second, "how long reminders in flight may take after SIGTERM")
	flags.StringSliceVar(&f.egress.allow, "egress-allow", nil, "ranges that may be dialled although they are not public, such as 10.20.0.0/16; repeatable; wins over --egress-deny")
	flags.StringSliceVar(&f.egress.deny, "egress-deny", nil, "ranges that may not be dialled although they are public, such as those of the cluster; repeatable")
	return c
}

func defaultName() string {
	if name := os.Getenv("POD_NAME"); name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return "worker"
	}
	return name
}

func (f workerFlags) validate() error {
	switch {
	case f.namespace == "" || f.channel == "":
		return errors.New("give --namespace and --channel of the ReminderChannel to work for")
	case f.name == "":
		return errors.New("give --name or POD_NAME, unique among the live workers")
	}
	if f.secretDir != "" {
		if _, err := os.ReadDir(f.secretDir); err != nil {
			return fmt.Errorf("--secret-dir: %w; give the folder in which the channel's Secret is mounted", err)
		}
	}
	if err := checkBroker(f.natsURL, f.credentials); err != nil {
		return err
	}
	if _, err := f.egress.guard(); err != nil {
		return err
	}
	return within(
		bounds{flag: "retention", value: f.retention, least: time.Hour},
		bounds{flag: "grace", value: f.grace, least: 0})
}

func (f workerFlags) run(ctx context.Context, log *slog.Logger) error {
	if err := f.validate(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	egress, err := f.egress.guard()
	if err != nil {
		return err
	}
	b, err := broker.Connect(broker.Options{
		URL: f.natsURL, CredentialsFile: f.credentials, Name: "reminder-worker " + f.name, Retention: f.retention,
		OnError: func(err error) { log.Warn("The NATS connection reported an error", "error", err) },
	})
	if err != nil {
		return err
	}
	defer b.Close()
	options := func(c reminder.Channel) channel.Options {
		return channel.Options{
			SecretDir: f.secretDir, RequireSignature: c.Signed, Egress: egress, Log: log, Publisher: b.Outlet, UserAgent: "reminder-operator/" + version(),
		}
	}
	log.Info("Worker started", "worker", f.name, "namespace", f.namespace, "channel", f.channel, "version", version())
	return worker.New(worker.Options{
		Namespace: f.namespace, Channel: f.channel, Name: f.name, Retention: f.retention, Grace: f.grace,
		Ledger: b.Ledger, Queue: b.Queue, Registry: b.Registry, Audience: b.Audience, DeadLetters: b.DeadLetters, Peers: b.Registry,
		NewSender: func(c reminder.Channel) (worker.Sender, error) { return channel.New(c, options(c)) },
		NewAsker:  func(c reminder.Channel) (worker.Asker, error) { return channel.NewAsker(c, options(c)) },
		Now:       time.Now, Log: log,
	}).Run(ctx)
}
