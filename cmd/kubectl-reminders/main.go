// kubectl-reminders is a plugin of kubectl: `kubectl reminders next` shows when schedules fall due, `kubectl reminders
// lint` what is wrong with them.
package main

import (
	"os"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/reminder-operator/reminder-operator/internal/plugin"
)

func main() {
	streams := genericclioptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(plugin.Run(os.Args[1:], streams, time.Now))
}
