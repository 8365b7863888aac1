package calendar

import (
	"fmt"
	"strings"

	ics "github.com/arran4/golang-ical"
)

// Limits of an iCalendar file.
const (
	MaxICalendar = 1 << 20 // bytes; what a ConfigMap can hold
	MaxEvents    = 1000
	MaxRules     = 50     // of events that repeat
	MaxEventDays = 366    // from the first day of an event to its last
	MaxDays      = 20_000 // of all events, with their repetitions

	maxContent = 4096      // bytes of one property, unfolded
	maxReduced = 256 << 10 // bytes of all events, without what does not matter
	maxDepth   = 8         // of components in components
)

// parseICalendar returns the days of the all-day events of an iCalendar file. Events with a time of day are no holidays,
// and cancelled ones do not take place.
func parseICalendar(text string) ([]Holiday, *FieldError) {
	if text == "" {
		return nil, nil
	}
	if len(text) > MaxICalendar {
		return nil, icalFault(fmt.Sprintf("the file has %d bytes, %d are allowed", len(text), MaxICalendar), "leave out past years and descriptions")
	}
	events, err := reduce(text)
	if err != nil {
		return nil, err
	}
	parsed, parseErr := ics.ParseCalendar(strings.NewReader(events))
	if parseErr != nil {
		return nil, icalFault("this is not an iCalendar file: "+clip(parseErr.Error()), icalHint)
	}
	return holidaysOf(parsed.Events())
}

const icalHint = "write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR"

func icalFault(reason, hint string) *FieldError { return fault("iCalendar", "", reason, hint) }

// reducer keeps of an iCalendar file what holidays need, so that the parser never sees what a hostile file is made of:
// long lines, deep nesting, parameters, and binary attachments.
type reducer struct {
	out    strings.Builder
	open   []string // the components around the current line
	events int
	line   int
}

// reduce returns the events of a file without folds, with the properties that matter only.
func reduce(text string) (string, *FieldError) {
	r := &reducer{}
	var content []byte
	for physical := range strings.SplitSeq(text, "\n") {
		physical = strings.TrimSuffix(physical, "\r")
		if folded := physical != "" && (physical[0] == ' ' || physical[0] == '\t'); folded {
			if len(content) <= maxContent {
				content = append(content, physical[1:]...)
			}
			r.line++
			continue
		}
		if err := r.take(string(content)); err != nil {
			return "", err
		}
		content = append(content[:0], physical[:min(len(physical), maxContent+1)]...)
		r.line++
	}
	if err := r.take(string(content)); err != nil {
		return "", err
	}
	if len(r.open) > 0 || r.line < 2 {
		return "", icalFault("the file ends in the middle", icalHint)
	}
	return r.out.String(), nil
}

// take keeps or drops one unfolded line.
func (r *reducer) take(content string) *FieldError {
	name, value, _ := strings.Cut(content, ":")
	switch name = strings.ToUpper(name); {
	case content == "":
		return nil
	case name == "BEGIN":
		return r.begin(strings.ToUpper(strings.TrimSpace(value)))
	case name == "END":
		return r.end(strings.ToUpper(strings.TrimSpace(value)))
	case len(r.open) == 0:
		return icalFault(fmt.Sprintf("line %d is outside of any component", r.line), icalHint)
	case !r.inEvent():
		return nil
	}
	property, _, _ := strings.Cut(name, ";")
	if !wanted(property) {
		return nil
	}
	if len(content) > maxContent && property == "SUMMARY" {
		content = strings.ToValidUTF8(content[:maxContent], "")
	}
	value, ok := valueOf(content)
	if !ok {
		return icalFault(fmt.Sprintf("%s before line %d has no value", property, r.line+1), icalHint)
	}
	if len(content) > maxContent {
		return icalFault(fmt.Sprintf("%s before line %d has more than %d bytes", property, r.line+1, maxContent), "split the event, or give explicit dates")
	}
	if r.out.WriteString(property + ":" + value + "\n"); r.out.Len() > maxReduced {
		return icalFault(fmt.Sprintf("the dates, rules and names of the events have more than %d bytes", maxReduced), "leave out past years, or use several calendars")
	}
	return nil
}

// valueOf returns what follows the parameters of a property. They say nothing that matters here, and the parser takes time
// by the square of their number.
func valueOf(content string) (string, bool) {
	quoted := false
	for i := range len(content) {
		switch {
		case content[i] == '"':
			quoted = !quoted
		case content[i] == ':' && !quoted:
			return content[i+1:], true
		}
	}
	return "", false
}

func wanted(property string) bool {
	switch property {
	case "DTSTART", "DTEND", "DURATION", "SUMMARY", "STATUS", "UID", "RRULE", "EXRULE", "RDATE", "EXDATE", "RECURRENCE-ID":
		return true
	default:
		return false
	}
}

// inEvent tells whether the current line is one of an event itself, not of an alarm in it.
func (r *reducer) inEvent() bool { return len(r.open) == 2 && r.open[1] == "VEVENT" }

func (r *reducer) begin(component string) *FieldError {
	switch {
	case len(r.open) == 0 && component != "VCALENDAR":
		return icalFault("the file does not begin with BEGIN:VCALENDAR", icalHint)
	case len(r.open) == 0 && r.out.Len() > 0:
		return icalFault("there is more than one calendar in the file", "use one iCalendar file each, in calendars that include each other")
	case len(r.open) >= maxDepth:
		return icalFault(fmt.Sprintf("line %d: components are nested more than %d deep", r.line, maxDepth), icalHint)
	}
	r.open = append(r.open, component)
	if r.inEvent() {
		if r.events++; r.events > MaxEvents {
			return icalFault(fmt.Sprintf("there are more than %d events", MaxEvents), "leave out past years, or let events repeat by RRULE")
		}
	}
	if len(r.open) == 1 || r.inEvent() {
		r.out.WriteString("BEGIN:" + component + "\n")
	}
	return nil
}

func (r *reducer) end(component string) *FieldError {
	if len(r.open) == 0 || r.open[len(r.open)-1] != component {
		return icalFault(fmt.Sprintf("line %d: END:%s ends nothing", r.line, clip(component)), icalHint)
	}
	if len(r.open) == 1 || r.inEvent() {
		r.out.WriteString("END:" + component + "\n")
	}
	r.open = r.open[:len(r.open)-1]
	return nil
}
