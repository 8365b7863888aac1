//go:build race

package message

import "time"

// limit is how long the costliest rendering may take under the race detector.
const limit = 10 * 250 * time.Millisecond
