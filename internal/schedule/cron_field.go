package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// fieldSet is what one field of a cron expression says.
type fieldSet struct {
	bits        uint64 // bit v: value v
	star        bool   // the field starts with *, so by crontab(5) it restricts nothing
	last        bool   // L in the day of the month
	lastWorkday bool   // LW in the day of the month
	nth         [7]uint8
	lastOf      uint8
}

// fieldRule is the grammar of one field.
type fieldRule struct {
	name   string
	lo, hi int      // the values it may have
	names  []string // names of the values from lo on, or nil
	// special takes an element that only this field knows, or says that it is none.
	special func(r *fieldRule, set *fieldSet, element token) (bool, *fault)
}

var (
	monthNames = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	dayNames   = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

// sunday7 is the other number of Sunday.
const sunday7 = 7

var cronFields = [5]fieldRule{
	{name: "minute", lo: 0, hi: 59},
	{name: "hour", lo: 0, hi: 23},
	{name: "day of the month", lo: 1, hi: 31, special: monthDaySpecial},
	{name: "month", lo: 1, hi: 12, names: monthNames},
	{name: "day of the week", lo: 0, hi: sunday7, names: dayNames, special: weekdaySpecial},
}

// parse reads a list of elements.
func (r *fieldRule) parse(field token) (fieldSet, *fault) {
	set := fieldSet{star: strings.HasPrefix(field.text, "*")}
	for rest, more := field, true; more; {
		var element token
		element, rest, more = rest.cut(",")
		if f := r.parseElement(&set, element); f != nil {
			return fieldSet{}, f
		}
	}
	if r.hi == sunday7 {
		set.bits = (set.bits | set.bits>>sunday7) & allWeek
	}
	return set, nil
}

// parseElement reads *, */n, a, a-b, a-b/n, or what is special in the field.
func (r *fieldRule) parseElement(set *fieldSet, element token) *fault {
	if f := r.refuseForeign(element); f != nil {
		return f
	}
	if r.special != nil {
		if done, f := r.special(r, set, element); done || f != nil {
			return f
		}
	}
	body, stepText, hasStep := element.cut("/")
	lo, hi, isRange, f := r.parseRange(body)
	if f != nil {
		return f
	}
	step := 1
	if hasStep {
		if step, f = r.parseStep(stepText, lo, hi, isRange, element); f != nil {
			return f
		}
	}
	for value := lo; value <= hi; value += step {
		set.bits |= 1 << value
	}
	return nil
}

// parseRange reads *, a or a-b.
func (r *fieldRule) parseRange(body token) (lo, hi int, isRange bool, f *fault) {
	if body.text == "*" {
		return r.lo, r.top(), true, nil
	}
	from, to, isRange := body.cut("-")
	if lo, f = r.parseValue(from); f != nil {
		return 0, 0, false, f
	}
	if !isRange {
		return lo, lo, false, nil
	}
	if hi, f = r.parseValue(to); f != nil {
		return 0, 0, false, f
	}
	if hi == 0 && strings.EqualFold(to.text, dayNames[0]) {
		hi = sunday7 // FRI-SUN: as the end of a range, Sunday closes the week
	}
	if lo > hi {
		return 0, 0, false, r.reversed(body, from, to)
	}
	return lo, hi, true, nil
}

// top is the highest value that * stands for; 7 is only another way to write Sunday.
func (r *fieldRule) top() int {
	if r.hi == sunday7 {
		return sunday7 - 1
	}
	return r.hi
}

func (r *fieldRule) parseStep(text token, lo, hi int, isRange bool, element token) (int, *fault) {
	if !isRange {
		start, _, _ := element.cut("/")
		hint := fmt.Sprintf("write %s-%d/%s to count on from %s", start.text, r.top(), text.text, start.text)
		return 0, element.fault(fmt.Sprintf("%q has a step but no range", element.text), hint)
	}
	step, ok := number(text.text)
	switch size := hi - lo + 1; {
	case !ok:
		return 0, text.fault(fmt.Sprintf("%q is not a step", text.text), "write a number, such as */5")
	case step == 0:
		return 0, text.fault("a step of 0 never moves on", "write 1 or more, or leave the step out")
	case step > size:
		return 0, text.fault(fmt.Sprintf("a step of %d leaves the range %d to %d at once, it does not carry over into the next", step, lo, hi), r.stepHint(lo))
	}
	return step, nil
}

func (r *fieldRule) stepHint(lo int) string {
	hint := fmt.Sprintf("write %d for that value alone", lo)
	if r.name == "minute" || r.name == "hour" {
		hint += ", or use every for a longer interval"
	}
	return hint
}

// parseValue reads a number or a name.
func (r *fieldRule) parseValue(value token) (int, *fault) {
	if n, ok := number(value.text); ok {
		if n < r.lo || n > r.hi {
			return 0, value.fault(fmt.Sprintf("%s is not a valid %s", value.text, r.name), r.rangeHint(n))
		}
		return n, nil
	}
	for i, name := range r.names {
		if strings.EqualFold(value.text, name) {
			return r.lo + i, nil
		}
	}
	return 0, r.notAValue(value)
}

// number reads a number of at most three decimal digits.
func number(text string) (int, bool) {
	if text == "" || len(text) > 3 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
