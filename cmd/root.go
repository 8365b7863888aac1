// Package cmd wires the parts of the operator into its commands: flags become
// options, options become parts, and run(ctx) ends with an error or none. It
// decides nothing itself.
package cmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// Version is stamped by the build; else the module's version is shown.
var Version = ""

// Run executes the command line and answers the exit code. Errors and logs go to
// out, as JSON lines.
func Run(args []string, out io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(out, nil))
	root := &cobra.Command{
		Use:           "reminder-operator",
		Short:         "Makes user reminders reliable, on Kubernetes and NATS JetStream",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(mistake)
	root.AddCommand(controllerCommand(log), workerCommand(log), brokerCommand(log), versionCommand())
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(out, "reminder-operator: %v\n", err)
		return 1
	}
	return 0
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and those of the time zone data and the holiday data in it",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s\ntime zones %s\nholidays %s\n", version(), schedule.TZDataVersion(), calendar.DataVersion())
			return err
		},
	}
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
