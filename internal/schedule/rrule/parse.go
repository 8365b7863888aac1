package rrule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxText is the longest rule that is read, in bytes.
	MaxText = 512
	// MaxCount is the largest COUNT.
	MaxCount = 10_000
	// MaxInterval is the largest INTERVAL.
	MaxInterval = 10_000

	maxSetPos = 366
)

// Error says where a rule is wrong, and what to write instead.
type Error struct {
	Pos    int    // a byte offset from 0, or -1 if it is the whole rule
	Reason string // what is wrong
	Hint   string // what to write
	Never  bool   // the rule is well formed and never occurs
}

func (e *Error) Error() string { return e.Reason + "; " + e.Hint }

// parts are a rule as it is written.
type parts struct {
	freq      Freq
	interval  int
	count     int
	until     time.Time
	utc       bool
	months    uint16
	monthDays uint32
	fromEnd   uint32
	weekdays  []weekday
	hours     uint32
	minutes   uint64
	setPos    []int
	weekStart time.Weekday

	seen map[string]int // the parts that there are, and where their values begin
}

// weekday is an element of BYDAY.
type weekday struct {
	day time.Weekday
	n   int // 0: every
	pos int
}

const example = "write a rule such as FREQ=MONTHLY;BYDAY=-1FR"

// parse reads the parts of a rule and refuses what the RFC does not allow together.
func parse(text string) (*parts, *Error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	p := &parts{interval: 1, weekStart: time.Monday, seen: map[string]int{}}
	pos := 0
	for part := range strings.SplitSeq(text, ";") {
		if err := p.read(part, pos); err != nil {
			return nil, err
		}
		pos += len(part) + 1
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

func checkText(text string) *Error {
	switch {
	case text == "":
		return &Error{Pos: -1, Reason: "the rule is empty", Hint: example}
	case len(text) > MaxText:
		return &Error{Pos: -1, Reason: fmt.Sprintf("the rule has %d characters, %d are allowed", len(text), MaxText), Hint: example}
	case strings.HasPrefix(strings.ToUpper(text), "RRULE:"):
		return &Error{Pos: 0, Reason: "the prefix RRULE: is not part of the rule", Hint: "leave it out: " + clip(text[len("RRULE:"):])}
	case strings.HasSuffix(text, ";"):
		return &Error{Pos: len(text) - 1, Reason: "there is a semicolon at the end", Hint: "remove it"}
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z':
			return &Error{Pos: i, Reason: "a rule is written in capitals", Hint: "write " + clip(strings.ToUpper(text))}
		case !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=;,+-", rune(c)):
			return &Error{Pos: i, Reason: fmt.Sprintf("a character that no rule has (code %#02x)", c), Hint: example}
		}
	}
	return nil
}

// readers read the value of each part that is known.
func readers() map[string]func(p *parts, value string, pos int) *Error {
	return map[string]func(p *parts, value string, pos int) *Error{
		"FREQ": (*parts).readFreq, "INTERVAL": (*parts).readInterval, "COUNT": (*parts).readCount, "UNTIL": (*parts).readUntil,
		"BYMONTH": (*parts).readMonths, "BYMONTHDAY": (*parts).readMonthDays, "BYDAY": (*parts).readWeekdays,
		"BYHOUR": (*parts).readHours, "BYMINUTE": (*parts).readMinutes, "BYSETPOS": (*parts).readSetPos, "WKST": (*parts).readWeekStart,
	}
}

// read reads one part, NAME=VALUE.
func (p *parts) read(part string, pos int) *Error {
	name, value, found := strings.Cut(part, "=")
	at := pos + len(name) + 1
	read := readers()[name]
	_, again := p.seen[name]
	switch {
	case part == "":
		return &Error{Pos: pos, Reason: "there is an empty part", Hint: "remove a semicolon"}
	case !found:
		return &Error{Pos: pos, Reason: fmt.Sprintf("%q is not a part of a rule", clip(part)), Hint: "write NAME=VALUE; " + example}
	case read == nil:
		return refusePart(name, pos)
	case again:
		return &Error{Pos: pos, Reason: name + " is there twice", Hint: "write it once, and join the values with commas"}
	case value == "":
		return &Error{Pos: at, Reason: name + " has no value", Hint: "write one, or leave the part out"}
	}
	p.seen[name] = at
	return read(p, value, at)
}

// refusePart says why a part is not taken, by name.
func refusePart(name string, pos int) *Error {
	reason, hint := name+" is not part of a rule", "leave it out"
	switch name {
	case "BYSECOND":
		reason, hint = name+" is not supported", "leave it out: occurrences fall on full minutes, or on the second of startTime"
	case "BYYEARDAY":
		reason, hint = name+" is not supported", "write BYMONTH and BYMONTHDAY"
	case "BYWEEKNO":
		reason, hint = name+" is not supported", "write BYMONTH with BYDAY, or FREQ=WEEKLY with INTERVAL"
	case "DTSTART":
		hint = "set startTime"
	case "TZID":
		hint = "set timeZone"
	case "EXDATE":
		hint = "name the days in a calendar with onNonBusinessDay: Skip"
	case "RDATE", "EXRULE":
	default:
		reason = fmt.Sprintf("there is no part %q", clip(name))
		hint = "write FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSETPOS or WKST"
	}
	return &Error{Pos: pos, Reason: reason, Hint: hint}
}

// numbers reads a list of integers; those from lo to hi are valid, and with signed their negatives.
func numbers(name, value string, pos, lo, hi int, signed bool, take func(n int)) *Error {
	for element := range strings.SplitSeq(value, ",") {
		digits := element
		if signed {
			digits = strings.TrimLeft(element, "+-")
		}
		n, err := strconv.Atoi(digits)
		if err != nil || len(digits) > 3 || digits[0] == '+' || digits[0] == '-' || len(element)-len(digits) > 1 || n < lo || n > hi {
			hint := fmt.Sprintf("write %d to %d", lo, hi)
			if signed {
				hint += fmt.Sprintf(", or %d to %d to count from the end", -hi, -lo)
			}
			return &Error{Pos: pos, Reason: fmt.Sprintf("%q is not a value of %s", clip(element), name), Hint: hint}
		}
		if element[0] == '-' {
			n = -n
		}
		take(n)
		pos += len(element) + 1
	}
	return nil
}

// single reads one integer.
func single(name, value string, pos, hi int) (int, *Error) {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || n < 1 || n > uint64(hi) {
		return 0, &Error{Pos: pos, Reason: fmt.Sprintf("%q is not a value of %s", clip(value), name), Hint: fmt.Sprintf("write 1 to %d", hi)}
	}
	return int(n), nil
}

// clip makes text fit for an error that repeats it: short, on one line.
func clip(text string) string {
	rest := ""
	if len(text) > 60 {
		text, rest = text[:60], "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text) + rest
}

func (p *parts) readFreq(value string, pos int) *Error {
	switch value {
	case "DAILY":
		p.freq = Daily
	case "WEEKLY":
		p.freq = Weekly
	case "MONTHLY":
		p.freq = Monthly
	case "YEARLY":
		p.freq = Yearly
	case "HOURLY", "MINUTELY", "SECONDLY":
		return &Error{Pos: pos, Reason: "FREQ=" + value + " is not supported", Hint: "set cron, such as \"*/15 * * * *\", or every"}
	default:
		return &Error{Pos: pos, Reason: fmt.Sprintf("there is no frequency %q", clip(value)), Hint: "write DAILY, WEEKLY, MONTHLY or YEARLY"}
	}
	return nil
}

func (p *parts) readSetPos(value string, pos int) *Error {
	return numbers("BYSETPOS", value, pos, 1, maxSetPos, true, func(n int) {
		if !slices.Contains(p.setPos, n) {
			p.setPos = append(p.setPos, n)
		}
	})
}
