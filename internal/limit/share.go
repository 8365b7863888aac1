package limit

import (
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Expiry is how long a stake counts after its last renewal. A worker stops using
// one that it could not renew for half of it.
const Expiry = 30 * time.Second

// Divide renews a worker's stake in the limits of its channel: an equal part, as
// far as the stakes of the others leave it. So the parts never add up to more than
// the whole, whoever writes when; a newcomer waits until the others have given
// some up. Now is the broker's clock, and so are the times of the stakes.
func Divide(stakes []reminder.Stake, name string, now time.Time) []reminder.Stake {
	others, taken := []reminder.Stake{}, 0
	for _, s := range stakes {
		if s.Name != name && now.Sub(s.RenewTime) < Expiry {
			others, taken = append(others, s), taken+s.Parts
		}
	}
	mine := min(reminder.Whole/(len(others)+1), max(reminder.Whole-taken, 0))
	next := append(others, reminder.Stake{Name: name, Parts: mine, RenewTime: now})
	slices.SortFunc(next, func(a, b reminder.Stake) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return next
}

// Keep leaves a worker at least some parts: those that what it has under way takes
// up until it ends.
func Keep(stakes []reminder.Stake, name string, least int) []reminder.Stake {
	next := slices.Clone(stakes)
	for i, s := range next {
		if s.Name == name {
			next[i].Parts = max(s.Parts, least)
		}
	}
	return next
}

// Occupied is how many parts of a limit so many under way take up.
func Occupied(underWay, limit int) int {
	if limit <= 0 {
		return 0
	}
	return min((underWay*reminder.Whole+limit-1)/limit, reminder.Whole)
}

// PartsOf is a worker's part of the whole.
func PartsOf(stakes []reminder.Stake, name string) int {
	for _, s := range stakes {
		if s.Name == name {
			return s.Parts
		}
	}
	return 0
}

// Part is a worker's part of a number, at least one if it has any part at all.
func Part(number, parts int) int {
	if parts <= 0 {
		return 0
	}
	return max(int(int64(number)*int64(parts)/reminder.Whole), 1)
}

// Without is the stakes that are left when a worker gives its own up.
func Without(stakes []reminder.Stake, name string) []reminder.Stake {
	return slices.DeleteFunc(slices.Clone(stakes), func(s reminder.Stake) bool { return s.Name == name })
}
