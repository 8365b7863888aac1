package rrule

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// String returns the rule in its canonical form: each part that says something, in the order of the standard, with its
// values in order and once. Compile reads it as the same rule.
func (r *Rule) String() string {
	p := &r.parts
	text := "FREQ=" + [...]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}[p.freq]
	if p.interval > 1 {
		text += fmt.Sprintf(";INTERVAL=%d", p.interval)
	}
	if p.count > 0 {
		text += fmt.Sprintf(";COUNT=%d", p.count)
	}
	if !p.until.IsZero() {
		text += ";UNTIL=" + p.until.Format(p.untilLayout())
	}
	text += list("BYMONTH", positions(uint64(p.months))) + list("BYMONTHDAY", p.monthDayTexts()) + list("BYDAY", p.weekdayTexts())
	text += list("BYHOUR", positions(uint64(p.hours))) + list("BYMINUTE", positions(p.minutes)) + list("BYSETPOS", p.setPosTexts())
	if p.weekStart != time.Monday {
		text += ";WKST=" + dayCode(p.weekStart)
	}
	return text
}

func (p *parts) untilLayout() string {
	switch {
	case p.utc:
		return "20060102T150405Z"
	case p.until.Format("150405") == "235959":
		return "20060102"
	default:
		return "20060102T150405"
	}
}

func list(name string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	return ";" + name + "=" + strings.Join(values, ",")
}

// positions returns the numbers of the bits that are set.
func positions(set uint64) (texts []string) {
	for ; set != 0; set &= set - 1 {
		texts = append(texts, fmt.Sprint(bits.TrailingZeros64(set)))
	}
	return texts
}

func (p *parts) monthDayTexts() []string {
	texts := positions(uint64(p.monthDays))
	for _, n := range positions(uint64(p.fromEnd)) {
		texts = append(texts, "-"+n)
	}
	return texts
}

func (p *parts) weekdayTexts() (texts []string) {
	days := slices.Clone(p.weekdays)
	slices.SortFunc(days, func(a, b weekday) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.day, b.day)) })
	for _, w := range days {
		text := dayCode(w.day)
		if w.n != 0 {
			text = fmt.Sprint(w.n) + text
		}
		texts = append(texts, text)
	}
	return slices.Compact(texts)
}

func (p *parts) setPosTexts() (texts []string) {
	for _, n := range slices.Sorted(slices.Values(p.setPos)) {
		texts = append(texts, fmt.Sprint(n))
	}
	return texts
}

func dayCode(day time.Weekday) string { return strings.ToUpper(day.String()[:2]) }
