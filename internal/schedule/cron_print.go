package schedule

import (
	"fmt"
	"math/bits"
	"strings"
)

// text returns the expression in its canonical form: five fields, numbers for names, the shortest steps and ranges, and
// what only a day field knows at its end. parseCron reads it as c, with the same match.
func (c *cron) text(match DayMatch) string {
	month, week := starNever, starNever
	monthFull, weekFull := uint64(c.days.month) == cronFields[2].all(), c.days.week == allWeek
	switch {
	case match == DayMatchAll || c.days.both && (monthFull || weekFull):
		month, week = starIfFull, starIfFull
	case c.days.both && c.days.month>>1&1 == 1:
		month = starAlways
	case c.days.both:
		week = starAlways
	}
	hour := starNever
	if c.interval {
		hour = starAlways
	}
	fields := []string{
		cronFields[0].print(c.minutes, starIfEven, nil),
		cronFields[1].print(uint64(c.hours), hour, nil),
		cronFields[2].print(uint64(c.days.month), month, c.days.monthSpecials()),
		cronFields[3].print(uint64(c.months), starIfEven, nil),
		cronFields[4].print(uint64(c.days.week), week, c.days.weekSpecials()),
	}
	return strings.Join(fields, " ")
}

// star says when a field is printed with a star at its beginning, which has a meaning for hours and days.
type star uint8

const (
	starNever  star = iota
	starIfFull      // as * if it has all values
	starIfEven      // as *, or as */n if it has exactly those
	starAlways      // as *, or as */n and the rest
)

// all has the bits of every value.
func (r *fieldRule) all() uint64 { return r.every(1) }

// every has the bits of */n.
func (r *fieldRule) every(n int) (set uint64) {
	for value := r.lo; value <= r.top(); value += n {
		set |= 1 << value
	}
	return set
}

// print returns a field that parse reads as set, followed by the special elements.
func (r *fieldRule) print(set uint64, s star, specials []string) string {
	var elements []string
	for n := 1; s != starNever && n <= r.top()-r.lo+1; n++ {
		named := r.every(n)
		switch {
		case named&^set != 0, s != starAlways && named != set, s == starIfFull && n > 1:
			continue
		case s != starAlways && n > 1 && named&(named-1) == 0: // */31 is the first
			continue
		case n == 1:
			elements = append(elements, "*")
		default:
			elements = append(elements, fmt.Sprintf("*/%d", n))
		}
		set &^= named
		break
	}
	return strings.Join(append(append(elements, ranges(set)...), specials...), ",")
}

// ranges returns the elements that name the values of a set: one with a step if that names them all, else runs.
func ranges(set uint64) (elements []string) {
	if set == 0 {
		return nil
	}
	lo, hi := bits.TrailingZeros64(set), bits.Len64(set)-1
	if n := bits.OnesCount64(set); n > 2 && (hi-lo)%(n-1) == 0 && hi-lo >= n {
		step, named := (hi-lo)/(n-1), uint64(0)
		for value := lo; value <= hi; value += step {
			named |= 1 << value
		}
		if named == set {
			return []string{fmt.Sprintf("%d-%d/%d", lo, hi, step)}
		}
	}
	for set != 0 {
		from := bits.TrailingZeros64(set)
		n := bits.TrailingZeros64(^(set >> from))
		set = set >> (from + n) << (from + n)
		if n == 1 {
			elements = append(elements, fmt.Sprint(from))
		} else {
			elements = append(elements, fmt.Sprintf("%d-%d", from, from+n-1))
		}
	}
	return elements
}

func (r *dayRule) monthSpecials() (elements []string) {
	if r.last {
		elements = append(elements, "L")
	}
	if r.lastWorkday {
		elements = append(elements, "LW")
	}
	return elements
}

func (r *dayRule) weekSpecials() (elements []string) {
	for day, nth := range r.nth {
		for ; nth != 0; nth &= nth - 1 {
			elements = append(elements, fmt.Sprintf("%d#%d", day, bits.TrailingZeros8(nth)))
		}
	}
	for day := range 7 {
		if r.lastOf>>day&1 == 1 {
			elements = append(elements, fmt.Sprintf("%dL", day))
		}
	}
	return elements
}
