//go:build !race

package message

import "time"

// limit is how long the costliest rendering may take.
const limit = 250 * time.Millisecond
