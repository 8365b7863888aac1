package reminder

import "time"

// Fault is how much an outcome tells of the channel, beside the one reminder.
type Fault string

// The faults. An outcome without one speaks of its reminder alone.
const (
	// FaultEndpoint: the endpoint failed, and would have failed any reminder: no
	// connection, no answer, an internal error.
	FaultEndpoint Fault = "Endpoint"
	// FaultThrottled: the receiver asked for fewer submissions.
	FaultThrottled Fault = "Throttled"
	// FaultChannel: the receiver refused the channel itself, or the channel cannot
	// speak to it: credentials, certificates. It costs no reminder an attempt.
	FaultChannel Fault = "Channel"
	// FaultGone: the receiver said that the endpoint is gone.
	FaultGone Fault = "Gone"
)

// PauseCause is why a worker submits nothing to its channel for a while.
type PauseCause string

// The causes of a pause.
const (
	// PauseRefused: the receiver refuses the channel itself.
	PauseRefused PauseCause = "Refused"
	// PauseFailing: the endpoint failed many times in a row.
	PauseFailing PauseCause = "Failing"
	// PauseGone: the receiver said that the endpoint is gone.
	PauseGone PauseCause = "Gone"
	// PauseAsked: the receiver asked for a pause.
	PauseAsked PauseCause = "Asked"
)

// Pause is a pause of a channel, as one worker keeps it.
type Pause struct {
	Cause PauseCause `json:"cause"`
	// SinceTime is when it began, UntilTime when the channel is tried again.
	SinceTime time.Time `json:"sinceTime"`
	UntilTime time.Time `json:"untilTime"`
	// Diagnostic is that of the outcome behind it, redacted like all of them.
	Diagnostic string `json:"diagnostic,omitempty"`
}

// Whole is the sum of all parts of a channel's limits.
const Whole = 1_000_000

// Stake is one worker's part of its channel's limits.
type Stake struct {
	Name  string `json:"name"`
	Parts int    `json:"parts"`
	// RenewTime is the broker's clock at the last renewal.
	RenewTime time.Time `json:"renewTime"`
}

// Stakes is how the limits of a channel are divided among its workers. It is
// changed by compare-and-set, so that the parts never add up to more than Whole.
type Stakes struct {
	SchemaVersion int     `json:"schemaVersion"`
	Stakes        []Stake `json:"stakes"`
}
