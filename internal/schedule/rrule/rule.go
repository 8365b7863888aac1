package rrule

import (
	"slices"
	"time"
)

// Freq is the length of a rule's periods.
type Freq uint8

// The frequencies that are known.
const (
	Daily Freq = iota
	Weekly
	Monthly
	Yearly
)

// Rule is a parsed and anchored recurrence rule. It is immutable and safe for concurrent use.
type Rule struct {
	freq     Freq
	interval int64
	start    int64 // first wall time that counts
	until    int64 // last wall time that counts
	first    int64 // the number of the period that holds start; others are first + k*interval
	days     dayRule
	years    *[kinds]daySet // of a yearly rule
	times    []int64        // seconds of the day, ascending
	chosen   *choice        // of BYSETPOS; nil for all
	parts    parts
}

const day = 24 * 60 * 60

// minWall and maxWall bound everything: years 0 to 10000, one more on both sides than times can be written in.
var (
	minWall = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	maxWall = time.Date(10000, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// Limit returns the COUNT of the rule, or 0. It is up to the caller, who alone knows what becomes of the hits.
func (r *Rule) Limit() int { return r.parts.count }

// Interval returns the INTERVAL of the rule, 1 if it has none.
func (r *Rule) Interval() int { return int(r.interval) }

// Alike tells whether all days that have hits have them at the same times of day. BYSETPOS can make them differ, and so
// does a start, before which times of its day do not count.
func (r *Rule) Alike() bool {
	return r.chosen == nil && r.start-floorDiv(r.start, day)*day <= r.times[0]
}

// Until returns the UNTIL of the rule, and whether it was written as an instant in UTC. Then the caller must apply it;
// otherwise it is a wall time and the rule ends there. The zero time means that there is none.
func (r *Rule) Until() (at time.Time, utc bool) { return r.parts.until, r.parts.utc }

// OpenMinute tells that the rule names hours and leaves the minute or the second to a start that has one.
func (r *Rule) OpenMinute() bool {
	return r.parts.hours != 0 && (r.parts.minutes == 0 && r.times[0]%3600 != 0 || r.times[0]%60 != 0)
}

// Next returns the first hit that is not before from, or false if there is none.
func (r *Rule) Next(from int64) (int64, bool) { return r.NextIn(from, maxWall) }

// NextIn returns the first hit from one wall time to another, both included, and does not look beyond.
func (r *Rule) NextIn(from, upTo int64) (int64, bool) {
	from, upTo = max(from, r.start, minWall), min(upTo, r.until, maxWall)
	if from > upTo {
		return 0, false
	}
	for p := r.periodFrom(floorDiv(from, day)); ; p += r.interval {
		base := r.base(p)
		if base*day > upTo {
			return 0, false
		}
		if w, ok := r.nextIn(base, p, from); ok {
			return w, w <= upTo
		}
		p = r.skipMonths(p)
	}
}

// Previous returns the last hit that is not after upTo, or false if there is none.
func (r *Rule) Previous(upTo int64) (int64, bool) { return r.PreviousIn(minWall, upTo) }

// PreviousIn returns the last hit from one wall time to another, both included, and does not look beyond.
func (r *Rule) PreviousIn(from, upTo int64) (int64, bool) {
	lowest, upTo := max(from, r.start, minWall), min(upTo, r.until, maxWall)
	if upTo < lowest {
		return 0, false
	}
	for p := r.periodUpTo(floorDiv(upTo, day)); (r.base(p+1))*day > lowest; p -= r.interval {
		if w, ok := r.previousIn(r.base(p), p, upTo); ok {
			return w, w >= lowest
		}
		p = r.skipMonthsBack(p)
	}
	return 0, false
}

// Each yields all hits from one wall time to another, both included, in order, and says whether yield wanted more: for a
// day its midnight, and times of that day in seconds, at least one, which are only to be read.
func (r *Rule) Each(from, upTo int64, yield func(midnight int64, times []int64) bool) bool {
	upTo = min(upTo, r.until, maxWall)
	for w, ok := r.NextIn(from, upTo); ok; w, ok = r.NextIn(w+1, upTo) {
		midnight := floorDiv(w, day) * day
		if r.chosen != nil {
			if !yield(midnight, []int64{w - midnight}) {
				return false
			}
			continue
		}
		first, _ := slices.BinarySearch(r.times, w-midnight)
		end, _ := slices.BinarySearch(r.times, min(upTo-midnight, day)+1)
		if !yield(midnight, r.times[first:end]) {
			return false
		}
		w = midnight + day - 1
	}
	return true
}

// Count returns the number of hits from one wall time to another, both included.
func (r *Rule) Count(from, upTo int64) (n int) {
	from, upTo = max(from, r.start, minWall), min(upTo, r.until, maxWall)
	if from > upTo {
		return 0
	}
	for p := r.periodFrom(floorDiv(from, day)); ; p += r.interval {
		base := r.base(p)
		if base*day > upTo {
			return n
		}
		n += r.rank(base, p, upTo) - r.rank(base, p, from-1)
	}
}
