package plugin

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// Version is stamped by the build; else the module's version is shown.
var Version = ""

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // a document is in error, or something could not be read
	exitUsage = 2 // the command line is wrong
)

// errInError: documents are in error; the verb has said which and why.
var errInError = errors.New("documents are in error")

// usageError is a mistake on the command line.
type usageError struct{ error }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// Run executes a command line and answers the exit code: 0; 1 if a document is in error or cannot be read; 2 if the
// command line is wrong.
func Run(args []string, streams genericclioptions.IOStreams, now func() time.Time) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := rootCommand(streams, now)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errInError) {
		fmt.Fprintf(streams.ErrOut, "kubectl reminders: %s\n", clean(err.Error()))
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitError
}

func rootCommand(streams genericclioptions.IOStreams, now func() time.Time) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-reminders",
		Short:         "Preview, check and audit reminder schedules",
		Long:          "Preview when reminder schedules fall due and what they say, check them before they are applied, and audit what became of them.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl reminders"},
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("there is no verb %q; kubectl reminders --help lists them", args[0])
			}
			return c.Help()
		},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w; %s --help lists the flags", err, c.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(nextCommand(streams, now), lintCommand(streams, now), renderCommand(streams, now), auditCommand(streams, now), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin and of the data in it",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s\ntime zones %s\nholidays %s\n", version(), schedule.TZDataVersion(), calendar.DataVersion())
			return err
		},
	}
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, and %q is one", c.CommandPath(), args[0])
	}
	return nil
}

func version() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
