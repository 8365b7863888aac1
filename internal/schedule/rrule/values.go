package rrule

import (
	"fmt"
	"strings"
	"time"
)

func (p *parts) readInterval(value string, pos int) (err *Error) {
	p.interval, err = single("INTERVAL", value, pos, MaxInterval)
	return err
}

func (p *parts) readCount(value string, pos int) (err *Error) {
	p.count, err = single("COUNT", value, pos, MaxCount)
	return err
}

// readUntil reads the three forms of the RFC: a date, whose whole day counts; a local time; an instant in UTC.
func (p *parts) readUntil(value string, pos int) *Error {
	layouts := map[int]string{8: "20060102", 15: "20060102T150405", 16: "20060102T150405Z"}
	at, err := time.Parse(layouts[len(value)], value)
	if err != nil || at.Year() < 1 {
		return &Error{
			Pos: pos, Reason: fmt.Sprintf("%q is not a value of UNTIL", clip(value)),
			Hint: "write a date 20271231, a local time 20271231T170000, or an instant 20271231T160000Z",
		}
	}
	if len(value) == 8 {
		at = at.Add(day*time.Second - time.Second)
	}
	p.until, p.utc = at, len(value) == 16
	return nil
}

func (p *parts) readMonths(value string, pos int) *Error {
	return numbers("BYMONTH", value, pos, 1, 12, false, func(n int) { p.months |= 1 << n })
}

func (p *parts) readMonthDays(value string, pos int) *Error {
	return numbers("BYMONTHDAY", value, pos, 1, 31, true, func(n int) {
		if n > 0 {
			p.monthDays |= 1 << n
		} else {
			p.fromEnd |= 1 << -n
		}
	})
}

func (p *parts) readHours(value string, pos int) *Error {
	return numbers("BYHOUR", value, pos, 0, 23, false, func(n int) { p.hours |= 1 << n })
}

func (p *parts) readMinutes(value string, pos int) *Error {
	return numbers("BYMINUTE", value, pos, 0, 59, false, func(n int) { p.minutes |= 1 << n })
}

const weekdayHint = "write MO, TU, WE, TH, FR, SA or SU"

func weekdayOf(name string) (time.Weekday, bool) {
	i := strings.Index("SUMOTUWETHFRSA", name)
	return time.Weekday(i / 2), len(name) == 2 && i >= 0 && i%2 == 0
}

func (p *parts) readWeekStart(value string, pos int) *Error {
	day, ok := weekdayOf(value)
	if !ok {
		return &Error{Pos: pos, Reason: fmt.Sprintf("%q is not a day of the week", clip(value)), Hint: weekdayHint}
	}
	p.weekStart = day
	return nil
}

func (p *parts) readWeekdays(value string, pos int) *Error {
	for element := range strings.SplitSeq(value, ",") {
		name := element[max(0, len(element)-2):]
		day, ok := weekdayOf(name)
		if !ok {
			return &Error{Pos: pos, Reason: fmt.Sprintf("%q is not a day of the week", clip(element)), Hint: weekdayHint + ", or -1FR for the last Friday"}
		}
		w := weekday{day: day, pos: pos}
		if ordinal := element[:len(element)-2]; ordinal != "" {
			if err := numbers("BYDAY", ordinal, pos, 1, 53, true, func(n int) { w.n = n }); err != nil {
				return err
			}
		}
		p.weekdays = append(p.weekdays, w)
		pos += len(element) + 1
	}
	return nil
}

// check refuses parts that do not go together.
func (p *parts) check() *Error {
	has := func(name string) bool { _, ok := p.seen[name]; return ok }
	switch {
	case !has("FREQ"):
		return &Error{Pos: -1, Reason: "FREQ is missing", Hint: example}
	case has("COUNT") && has("UNTIL"):
		return &Error{Pos: p.seen["COUNT"], Reason: "COUNT and UNTIL are both there", Hint: "leave one of them out"}
	case has("BYMONTHDAY") && p.freq == Weekly:
		return &Error{Pos: p.seen["BYMONTHDAY"], Reason: "BYMONTHDAY does not go with FREQ=WEEKLY", Hint: "write FREQ=MONTHLY, or BYDAY"}
	case has("BYSETPOS") && !has("BYMONTH") && !has("BYMONTHDAY") && !has("BYDAY") && !has("BYHOUR") && !has("BYMINUTE"):
		return &Error{Pos: p.seen["BYSETPOS"], Reason: "BYSETPOS has nothing to choose from", Hint: "add BYDAY, such as BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"}
	}
	return p.checkOrdinals()
}

// checkOrdinals refuses numbers in BYDAY that the frequency has no use for.
func (p *parts) checkOrdinals() *Error {
	for _, w := range p.weekdays {
		switch {
		case w.n == 0:
		case p.freq < Monthly:
			return &Error{Pos: w.pos, Reason: "a number in BYDAY goes with FREQ=MONTHLY and FREQ=YEARLY only", Hint: "leave the number out"}
		case (p.freq == Monthly || p.months != 0) && (w.n > 5 || w.n < -5):
			return &Error{Pos: w.pos, Reason: "a month has at most five of a day of the week", Hint: "write 1 to 5, or -5 to -1 to count from the end"}
		}
	}
	return nil
}
