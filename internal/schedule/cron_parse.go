package schedule

import (
	"fmt"
	"strings"
	"time"
)

const (
	// maxCron bounds a cron expression, in bytes; every set of values can be written in less.
	maxCron = 512
	// offeredCron is what the API takes. The canonical form of such an expression may be longer, and is read again here.
	offeredCron = 256
)

const cronExample = `write five fields, minute hour day-of-month month day-of-week, such as "0 9 * * MON-FRI"`

// setCron makes the schedule a repeating one by wall time.
func (s *Schedule) setCron(spec Spec) *FieldError {
	c, f := parseCron(spec.Cron, spec.DayMatch)
	if f != nil {
		return f.in("cron", spec.Cron)
	}
	s.expression = c.text(spec.DayMatch)
	s.warnings = append(s.warnings, c.warnings(spec)...)
	source := s.resolved(c)
	if c.interval {
		// Counting hours goes through both passes of a repeated hour, and has nothing to shift.
		source.gap, source.overlap = GapSkip, OverlapBoth
	}
	s.source = source
	s.warnEmpty(spec)
	return s.checkSkip()
}

// warnEmpty warns of bounds that leave nothing: the schedule may be ending on purpose.
func (s *Schedule) warnEmpty(spec Spec) {
	if spec.Start.IsZero() || spec.End.IsZero() {
		return
	}
	if _, ok := s.from(s.start); !ok {
		s.warnings = append(s.warnings, "nothing occurs between startTime and endTime")
	}
}

// parseCron parses an expression or a macro and refuses one that can never occur.
func parseCron(text string, match DayMatch) (*cron, *fault) {
	if f := checkCronText(text); f != nil {
		return nil, f
	}
	fields := splitFields(text)
	if len(fields) == 0 {
		return nil, &fault{pos: -1, reason: "the expression is blank", hint: cronExample}
	}
	if f := refuseZonePrefix(fields[0]); f != nil {
		return nil, f
	}
	if fields[0].text[0] == '@' {
		expansion, f := expandMacro(fields)
		if f != nil {
			return nil, f
		}
		fields = splitFields(expansion)
	}
	if len(fields) != len(cronFields) {
		return nil, wrongCount(fields)
	}
	return parseFields(fields, match)
}

// checkCronText refuses what no field can contain, so that the rest may count bytes as characters.
func checkCronText(text string) *fault {
	if len(text) > maxCron {
		return &fault{pos: -1, reason: fmt.Sprintf("the expression has %d characters, %d are allowed", len(text), offeredCron), hint: cronExample}
	}
	for i := range len(text) {
		if c := text[i]; c != ' ' && c != '\t' && (c < '!' || c > '~') {
			return &fault{pos: i, reason: fmt.Sprintf("a character that no field has (code %#02x)", c), hint: "use plain letters, digits and blanks on one line"}
		}
	}
	return nil
}

// token is a part of an expression and where it begins there, in bytes.
type token struct {
	text string
	pos  int
}

// fault is a fault at the beginning of the token.
func (t token) fault(reason, hint string) *fault {
	return &fault{pos: t.pos, reason: reason, hint: hint}
}

// cut splits a token at the first separator, like strings.Cut.
func (t token) cut(separator string) (before, after token, found bool) {
	b, a, found := strings.Cut(t.text, separator)
	return token{b, t.pos}, token{a, t.pos + len(b) + len(separator)}, found
}

func splitFields(text string) []token {
	var fields []token
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] != ' ' && text[end] != '\t' {
			end++
		}
		fields = append(fields, token{text[i:end], i})
		i = end
	}
	return fields
}

func wrongCount(fields []token) *fault {
	if len(fields) < len(cronFields) {
		missing := cronFields[len(fields)]
		reason := fmt.Sprintf("%d of five fields: the %s is missing", len(fields), missing.name)
		last := fields[len(fields)-1]
		return &fault{pos: last.pos + len(last.text), reason: reason, hint: cronExample}
	}
	reason := fmt.Sprintf("%d fields, and five are needed", len(fields))
	hint := cronExample
	if len(fields) == len(cronFields)+1 {
		hint = "there is no field for seconds or years: leave it out; " + cronExample
	}
	return fields[len(cronFields)].fault(reason, hint)
}

func parseFields(fields []token, match DayMatch) (*cron, *fault) {
	var sets [5]fieldSet
	for i, rule := range cronFields {
		set, f := rule.parse(fields[i])
		if f != nil {
			return nil, f
		}
		sets[i] = set
	}
	c := assemble(sets, match)
	if !c.everMatches() {
		return nil, never(fields[2].pos, neverReason(c), "write a date that exists")
	}
	return c, nil
}

// assemble puts the fields together. By crontab(5) the two day fields are alternatives only if both are restricted, and
// a field that starts with * is not: so */2 with 1 takes days that match both.
func assemble(sets [5]fieldSet, match DayMatch) *cron {
	minutes, hours, month, months, week := sets[0], sets[1], sets[2], sets[3], sets[4]
	return &cron{
		minutes: minutes.bits,
		hours:   uint32(hours.bits),
		months:  uint16(months.bits),
		days: dayRule{
			month:       uint32(month.bits),
			last:        month.last,
			lastWorkday: month.lastWorkday,
			week:        uint8(week.bits),
			nth:         week.nth,
			lastOf:      week.lastOf,
			both:        match == DayMatchAll || month.star || week.star,
		},
		// */24 names midnight, it does not count hours.
		interval: hours.star && hours.bits&(hours.bits-1) != 0,
	}
}

// neverReason names the longest month that the expression allows, or the combination of the day fields.
func neverReason(c *cron) string {
	longest, month := 0, time.January
	for m := time.January; m <= time.December; m++ {
		if n := daysIn(2000, m); c.months>>m&1 == 1 && n > longest {
			longest, month = n, m
		}
	}
	existing := uint32(2)<<longest - 1
	switch {
	case c.days.month == 0 || c.days.month&existing != 0:
		return "no day matches both day fields"
	case c.months&(c.months-1) == 0:
		return fmt.Sprintf("%s has at most %d days", month, longest)
	default:
		return fmt.Sprintf("the months have at most %d days", longest)
	}
}
