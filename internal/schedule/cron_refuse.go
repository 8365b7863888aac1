package schedule

import (
	"fmt"
	"strings"
)

// refuseZonePrefix refuses TZ= and CRON_TZ= where other systems allow them: the zone has a field of its own.
func refuseZonePrefix(first token) *fault {
	zone, found := cutZonePrefix(first.text)
	if !found {
		return nil
	}
	for more := true; more; {
		zone, more = cutZonePrefix(zone)
	}
	hint := "leave it out and set timeZone"
	if zone != "" {
		hint = fmt.Sprintf("leave it out and set timeZone: %s", shown(zone))
	}
	return first.fault("an expression has no time zone", hint)
}

func cutZonePrefix(text string) (zone string, found bool) {
	for _, prefix := range []string{"TZ=", "CRON_TZ="} {
		if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			return text[len(prefix):], true
		}
	}
	return text, false
}

// refuseForeign refuses what other dialects of cron write, by name.
func (r *fieldRule) refuseForeign(element token) *fault {
	switch text := element.text; {
	case text == "":
		return element.fault(fmt.Sprintf("the %s has an empty element", r.name), "write a value, or remove the comma")
	case strings.HasPrefix(text, "?"):
		return element.fault("? is of another dialect", "write *")
	case text[0] == 'H' && (len(text) == 1 || text[1] == '/' || text[1] == '('):
		return element.fault("H is of another dialect", "write a value, and set jitter to spread the load")
	case strings.HasPrefix(text, "~") || strings.Contains(text, "~"):
		return element.fault("~ is of another dialect", "write a value, and set jitter to spread the load")
	}
	return nil
}

// reversed refuses a range that ends before it begins, and writes it in two.
func (r *fieldRule) reversed(body, from, to token) *fault {
	first, last := fmt.Sprint(r.lo), fmt.Sprint(r.top())
	if r.names != nil && strings.Trim(from.text, "0123456789") != "" {
		first, last = r.names[0], r.names[len(r.names)-1]
	}
	hint := fmt.Sprintf("write %s,%s", rangeText(from.text, last), rangeText(first, to.text))
	return body.fault(fmt.Sprintf("the range %s ends before it begins", body.text), hint)
}

func rangeText(from, to string) string {
	if strings.EqualFold(from, to) {
		return from
	}
	return from + "-" + to
}

func (r *fieldRule) rangeHint(n int) string {
	switch {
	case r.name == "hour" && n == 24:
		return "write 0 for midnight"
	case r.name == "minute" && n == 60:
		return "write 0 for the full hour"
	default:
		return fmt.Sprintf("write %d to %d", r.lo, r.hi)
	}
}

// notAValue refuses text that is neither a number nor a name, and looks for a name that begins alike.
func (r *fieldRule) notAValue(value token) *fault {
	if value.text == "" {
		return value.fault(fmt.Sprintf("a value of the %s is missing", r.name), fmt.Sprintf("write %d to %d", r.lo, r.hi))
	}
	reason := fmt.Sprintf("%q is not a valid %s", shown(value.text), r.name)
	for _, name := range r.names {
		if len(value.text) > len(name) && strings.EqualFold(value.text[:len(name)], name) {
			return value.fault(reason, "write "+name)
		}
	}
	hint := fmt.Sprintf("write %d to %d", r.lo, r.hi)
	if r.names != nil {
		hint += fmt.Sprintf(", or %s to %s", r.names[0], r.names[len(r.names)-1])
	}
	return value.fault(reason, hint)
}
