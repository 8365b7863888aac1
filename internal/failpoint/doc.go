// Package failpoint names the places where tests kill a process. In a release
// build Hit is an empty function that the compiler removes; with the build tag
// `failpoint` a process that meets the point named by REMINDER_FAILPOINT sends
// SIGKILL to itself (or SIGSTOP with the suffix ":stop"). Where a process has many
// schedules in hand, REMINDER_FAILPOINT_IN names the one of which it is to die.
//
// It may not be used for anything else: no delays, no errors, no values.
package failpoint

// Worker boundaries, in the order in which a job passes them (docs/failure-matrix.md).
const (
	W0Fetched    = "W0"
	W1Claimed    = "W1"
	W2Sending    = "W2"
	W3InCall     = "W3"
	W4Answered   = "W4"
	W5Recorded   = "W5"
	W6DeadLetter = "W6"
	W7AckSent    = "W7"
	W8Acked      = "W8"
)

// Planner boundaries: a pass begun, the registry written, a record created, its
// message published, all of a pass planned, the status written, the finalizer removed.
const (
	C0Woke       = "C0"
	C1Registered = "C1"
	C2Recorded   = "C2"
	C3Released   = "C3"
	C4Planned    = "C4"
	C5Status     = "C5"
	C6Finalized  = "C6"
)

// Replay boundaries: the record written, the dead letter removed, the due job out.
const (
	R1Recorded = "R1"
	R2Resolved = "R2"
	R3Released = "R3"
)
