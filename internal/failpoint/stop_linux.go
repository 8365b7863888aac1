//go:build failpoint

package failpoint

import (
	"os"
	"runtime"
	"syscall"
)

// stopHere stops the process before it does anything else: a signal to the whole
// process would let this thread run on until another one has taken it.
func stopHere() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGSTOP)
}
