// Command demo runs the whole product on this machine, on real parts: etcd and
// kube-apiserver, a nats-server, the operator, a worker and a receiver, each a
// process of its own.
//
//	demo run     (make demo)      from nothing to delivered reminders, once, with a
//	                              worker killed in the middle, and the books compared
//	demo up      (make dev-up)    the same parts, left running in the background
//	demo down    (make dev-down)  ends them
//
// What it applies lies in config/samples/demo. It may not be linked into the
// product.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

const usage = `Runs the whole product on this machine, on real parts.

usage: go run ./hack/demo run|up|down

  run   starts everything, applies config/samples/demo, kills the worker in the
        middle of a burst and starts it again, compares the operator's numbers
        with the receiver's, ends everything, and says so in its last line:
        demo: delivered=<n> duplicates=<n> lost=<n> dead=<n> seconds=<n>
        It exits with 0 only if nothing was lost or doubled and the numbers agree.
  up    starts the same and leaves it running; prints addresses and logs
  down  ends what up started

The first run on a machine builds etcd, kube-apiserver and kubectl (10 to 25
minutes), unless KUBEBUILDER_ASSETS names a folder that has them.
State and logs are kept in .dev/ of the checkout.
`

func main() {
	ctrl.SetLogger(logr.Discard()) // the clients' chatter; the product's processes log to files
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
	case interrupted:
		fmt.Fprintln(os.Stderr, "demo: interrupted; everything is ended")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// errUsage: the command line says nothing that can be done.
var errUsage = errors.New("give one of run, up and down; -h explains them")

// run does what the command line says.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		_, err := io.WriteString(out, usage)
		return err
	case "run":
		return demo(ctx, out)
	case "up":
		return up(ctx, out)
	case "down":
		return down(ctx, out)
	case daemonCommand:
		return daemon(ctx, out)
	}
	return fmt.Errorf("unknown command %q: %w", args[0], errUsage)
}
