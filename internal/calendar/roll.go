package calendar

import (
	"errors"
	"fmt"
)

// Roll moves a date that is no business day as a policy has it, on and on until it is one, and says what it did. The
// result of Skipped is the date itself. It fails only for a policy that does not exist.
func (c *Calendar) Roll(d Date, policy Policy) (Date, Outcome, error) {
	step := Date(1)
	switch policy {
	case Next, "":
	case Previous:
		step = -1
	case Skip, Keep:
		step = 0
	default:
		return d, Unmoved, fmt.Errorf("roll: unknown policy %q: write Next, Previous, Skip or Keep", clip(string(policy)))
	}
	switch {
	case c.IsBusinessDay(d):
		return d, Unmoved, nil
	case policy == Skip:
		return d, Skipped, nil
	case policy == Keep:
		return d, Kept, nil
	}
	for d += step; !c.IsBusinessDay(d); { // ends: Compile has seen to it
		d += step
	}
	return d, Moved, nil
}

// ErrTooFar says that a number of business days leads out of the years that dates can be written in.
var ErrTooFar = errors.New("more business days than can be counted")

// MaxBusinessDays is the largest number of business days that AddBusinessDays counts.
const MaxBusinessDays = 9999

// AddBusinessDays returns the nth business day after a date, or with a negative n the nth before it. The date itself is
// not counted, whether or not it is a business day; n = 0 returns it as it is.
func (c *Calendar) AddBusinessDays(d Date, n int) (Date, error) {
	if n > MaxBusinessDays || n < -MaxBusinessDays {
		return d, fmt.Errorf("add %d business days: %w", n, ErrTooFar)
	}
	step := Date(1)
	if n < 0 {
		step, n = -1, -n
	}
	for ; n > 0; n-- {
		for d += step; !c.IsBusinessDay(d); {
			d += step
		}
	}
	return d, nil
}
