//go:build failpoint && !linux

package failpoint

import (
	"os"
	"syscall"
)

// stopHere stops the process soon.
func stopHere() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }
