// reminder-operator makes user reminders reliable: it reconciles ReminderSchedules
// into due jobs in NATS JetStream, and its workers deliver each reminder once.
// One binary has every part: `controller`, `worker` and, for trials, `broker`.
package main

import (
	"os"

	"github.com/reminder-operator/reminder-operator/cmd"
)

func main() { os.Exit(cmd.Run(os.Args[1:], os.Stderr)) }
