//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// REMINDER_FAILPOINT is "<point>", "<point>:stop", or either followed by "@<n>"
// for the n-th time that the point is met (from 1, the default).
var (
	armed, count = parse(os.Getenv("REMINDER_FAILPOINT"))
	within       = os.Getenv("REMINDER_FAILPOINT_IN")
	met          atomic.Int64
)

func parse(value string) (string, int64) {
	point, nth, found := strings.Cut(value, "@")
	n, err := strconv.ParseInt(nth, 10, 64)
	if !found || err != nil {
		n = 1
	}
	return point, n
}

// Hit ends or stops the process when the point is the armed one.
func Hit(point string) { HitIn(point, within) }

// HitIn is Hit at a point of which the schedule is known.
func HitIn(point, schedule string) {
	name, stop := strings.CutSuffix(armed, ":stop")
	if point != name || within != "" && schedule != within || met.Add(1) != count {
		return
	}
	if stop {
		stopHere()
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}
