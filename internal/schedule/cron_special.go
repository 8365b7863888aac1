package schedule

import (
	"fmt"
	"strings"
)

// monthDaySpecial takes L, the last day of the month, and LW, its last Monday to Friday.
func monthDaySpecial(_ *fieldRule, set *fieldSet, element token) (bool, *fault) {
	switch text := strings.ToUpper(element.text); {
	case text == "L":
		set.last = true
	case text == "LW":
		set.lastWorkday = true
	case strings.HasPrefix(text, "L-"):
		return false, element.fault("days counted from the end of the month are not supported", "write L for the last day, LW for the last working day, or a list of days")
	case strings.HasSuffix(text, "W"):
		return false, element.fault("the working day nearest to a date is not supported", "write LW for the last one of the month, or use a calendar with onNonBusinessDay")
	default:
		return false, nil
	}
	return true, nil
}

// weekdaySpecial takes MON#2, the second Monday of the month, and FRIL, its last Friday. Numbers do as well as names.
func weekdaySpecial(r *fieldRule, set *fieldSet, element token) (bool, *fault) {
	if day, nth, found := element.cut("#"); found {
		return true, r.parseNth(set, day, nth)
	}
	text := strings.ToUpper(element.text)
	day, isLast := strings.CutSuffix(text, "L")
	switch {
	case !isLast:
		return false, nil
	case day == "":
		return false, element.fault("L alone is not a day of the week", "write SAT for Saturday, or SATL for the last Saturday of the month")
	}
	n, f := r.parseValue(token{element.text[:len(day)], element.pos})
	if f != nil {
		return false, f
	}
	set.lastOf |= 1 << (n % 7)
	return true, nil
}

func (r *fieldRule) parseNth(set *fieldSet, day, nth token) *fault {
	weekday, f := r.parseValue(day)
	if f != nil {
		return f
	}
	n, ok := number(nth.text)
	if !ok || n < 1 || n > 5 {
		hint := fmt.Sprintf("write 1 to 5, or %sL for the last of the month", strings.ToUpper(day.text))
		return nth.fault(fmt.Sprintf("%q does not count a day of the month's weeks", nth.text), hint)
	}
	set.nth[weekday%7] |= 1 << n
	return nil
}
