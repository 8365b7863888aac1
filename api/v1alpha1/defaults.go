package v1alpha1

import "time"

// Defaults that the schema cannot state, because they depend on what else is set or because the enclosing member is
// optional. The comments of the fields say the same.
const (
	DefaultDeadline      = 4 * time.Hour
	DefaultAttempts      = 5
	DefaultInitialDelay  = 30 * time.Second
	DefaultFactor        = 2
	DefaultMaxDelay      = 15 * time.Minute
	DefaultCatchUpWindow = time.Hour
	DefaultCatchUpLimit  = 100
	DefaultSLOWithin     = 5 * time.Minute
	DefaultSLOWindow     = "30d"
	DefaultHTTPTimeout   = 10 * time.Second
	DefaultSMTPTimeout   = 30 * time.Second
	DefaultSMTPPort      = 587
	DefaultDedupeWindow  = 24 * time.Hour
	DefaultReplicas      = 1
	DefaultMinReplicas   = 1
	DefaultConcurrency   = 32
	DefaultDrainWithin   = 2 * time.Minute
	DefaultReplayLimit   = 100
	DefaultReplayRate    = 10
	DefaultCalendarKey   = "calendar.ics"
	DefaultAnchorOffset  = "P0D"
)
