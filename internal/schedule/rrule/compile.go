package rrule

import (
	"math"
	"math/bits"
)

// Compile reads a rule and anchors it at a wall time. anchored is false where there is no start: then a rule that needs
// one, for COUNT, for INTERVAL or for its days, is refused. Every error is an *Error.
func Compile(text string, start int64, anchored bool) (*Rule, error) {
	rule, err := compile(text, start, anchored)
	if err != nil {
		return nil, err // not `return compile(…)`: a nil *Error must not become an error
	}
	return rule, nil
}

func compile(text string, start int64, anchored bool) (*Rule, *Error) {
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	r := &Rule{freq: p.freq, interval: int64(p.interval), start: math.MinInt64, until: math.MaxInt64, parts: *p}
	if anchored {
		r.start = max(start, minWall)
	} else {
		start = 0
		if err := p.checkFloating(); err != nil {
			return nil, err
		}
	}
	r.setDays(start)
	r.setTimes(start - floorDiv(start, day)*day)
	possible := r.choose() && r.settleWeekday()
	r.byMonths()
	r.setYears()
	if anchored {
		r.first = r.period(floorDiv(r.start, day))
	}
	if possible {
		possible = r.occurs()
	}
	if !possible {
		return nil, &Error{Pos: -1, Reason: "this can never occur: no date matches all parts", Hint: "write a date that exists", Never: true}
	}
	if !p.until.IsZero() && !p.utc {
		r.until = p.until.Unix()
	}
	return r, nil
}

// checkFloating refuses a rule that needs a start, where there is none.
func (p *parts) checkFloating() *Error {
	const hint = "set startTime"
	days := p.weekdays != nil || p.monthDays|p.fromEnd != 0
	switch {
	case p.count > 0:
		return &Error{Pos: p.seen["COUNT"], Reason: "COUNT needs a time to count from", Hint: hint}
	case p.interval > 1:
		return &Error{Pos: p.seen["INTERVAL"], Reason: "INTERVAL needs a time to count from", Hint: hint}
	case p.freq == Weekly && !days:
		return &Error{Pos: -1, Reason: "the day of the week is missing", Hint: "add BYDAY, or " + hint}
	case p.freq > Weekly && !days:
		return &Error{Pos: -1, Reason: "the day of the month is missing", Hint: "add BYMONTHDAY or BYDAY, or " + hint}
	case p.freq == Yearly && p.months == 0 && p.weekdays == nil:
		return &Error{Pos: -1, Reason: "the month is missing", Hint: "add BYMONTH, write FREQ=MONTHLY, or " + hint}
	}
	return nil
}

// setDays takes over the parts that name days, and fills in those of the start where the RFC has it.
func (r *Rule) setDays(start int64) {
	p, d := &r.parts, &r.days
	weekdays := p.weekdays
	_, month, monthDay := date(floorDiv(start, day))
	d.months, d.monthDays, d.fromEnd = p.months, p.monthDays, p.fromEnd
	d.byMonth, d.byWeek = p.monthDays|p.fromEnd != 0, p.weekdays != nil
	if !d.byMonth && !d.byWeek {
		switch r.freq {
		case Weekly:
			d.byWeek = true
			weekdays = []weekday{{day: weekdayOfDay(floorDiv(start, day))}}
		case Monthly, Yearly:
			d.byMonth, d.monthDays = true, 1<<monthDay
			if r.freq == Yearly && d.months == 0 {
				d.months = 1 << month
			}
		}
	}
	d.inYear = r.freq == Yearly && p.months == 0
	if d.months == 0 {
		d.months = 1<<13 - 2
	}
	for _, w := range weekdays {
		switch {
		case w.n == 0:
			d.weekdays |= 1 << w.day
		case w.n > 0:
			d.nth[w.day] |= 1 << w.n
		default:
			d.last[w.day] |= 1 << -w.n
		}
	}
}

// setTimes makes the times of day of BYHOUR and BYMINUTE, with those of the start where they are missing.
func (r *Rule) setTimes(second int64) {
	hours, minutes := r.parts.hours, r.parts.minutes
	if hours == 0 {
		hours = 1 << (second / 3600)
	}
	if minutes == 0 {
		minutes = 1 << (second / 60 % 60)
	}
	r.times = make([]int64, 0, bits.OnesCount32(hours)*bits.OnesCount64(minutes))
	for h := hours; h != 0; h &= h - 1 {
		for m := minutes; m != 0; m &= m - 1 {
			r.times = append(r.times, int64(bits.TrailingZeros32(h))*3600+int64(bits.TrailingZeros64(m))*60+second%60)
		}
	}
}

// choose applies BYSETPOS to the times of a daily rule, whose sets are always the same, and tells whether any of the
// positions can be reached at all.
func (r *Rule) choose() bool {
	if len(r.parts.setPos) == 0 {
		return true
	}
	r.chosen = choiceOf(r.parts.setPos)
	most := len(r.times) // in one period
	switch r.freq {
	case Daily:
		var chosen []int64
		for i, second := range r.times {
			if r.chosen.has(i, most) {
				chosen = append(chosen, second)
			}
		}
		r.times, r.chosen = chosen, nil
		return len(chosen) > 0
	case Weekly:
		most *= bits.OnesCount8(r.days.weekdays)
	default:
		return true // few enough to look at
	}
	return r.chosen.any(most)
}

// settleWeekday leaves a rule of every 7 days, or 14 and so on, the one day of the week on which it can fall, and tells
// whether BYDAY names it.
func (r *Rule) settleWeekday() bool {
	if r.freq != Daily || r.interval%7 != 0 || !r.days.byWeek {
		return true
	}
	r.days.weekdays &= 1 << weekdayOfDay(floorDiv(r.start, day))
	return r.days.weekdays != 0
}

// byMonths makes a rule one by months, which are the cheapest to go through, where that is the same.
func (r *Rule) byMonths() {
	numbered := r.days.nth != [7]uint64{} || r.days.last != [7]uint64{}
	if r.interval > 1 || r.chosen != nil || r.days.inYear && numbered {
		return
	}
	r.freq, r.days.inYear = Monthly, false
}

// occurs tells whether the rule has a hit at all. The calendar repeats after 400 years, and so do a rule's periods after as
// many of them as 400 years have.
func (r *Rule) occurs() bool {
	cycle := map[Freq]int64{Daily: 146097, Weekly: 146097 / 7, Monthly: 4800, Yearly: 400}[r.freq]
	from := max(r.start, minWall)
	last := r.periodFrom(floorDiv(from, day)) + (cycle+1)*r.interval
	_, ok := r.NextIn(from, r.base(min(last, r.period(maxWall/day)))*day)
	return ok
}
