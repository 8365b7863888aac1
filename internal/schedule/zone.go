package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule/internal/tzdb"
)

// maxZone bounds a zone name, in bytes; the longest in the database has 32.
const maxZone = 64

// TZDataVersion returns the release of the IANA time zone database that is embedded, such as "2026c".
func TZDataVersion() string { return tzdb.Version() }

// ZoneNames returns every name that ResolveZone accepts, old names included, in order.
func ZoneNames() []string {
	var names []string
	for _, name := range tzdb.Names() {
		if name != factory {
			names = append(names, name)
		}
	}
	return names
}

// ResolveZone returns the zone of a name of the IANA time zone database, and the name that the zone has today:
// Asia/Calcutta is accepted and reported as Asia/Kolkata. UTC is accepted in any case; every name for it is reported as
// "UTC". All other names are exact.
//
// Refused, with the nearest name as a hint, are the empty name, the machine's own zone (Local, localtime), placeholders
// (Factory, posixrules), offsets (UTC+02:00), abbreviations that are not names of the database (CEST), and anything
// with blanks or control characters. The error is a *FieldError of the field "timeZone".
func ResolveZone(name string) (zone *time.Location, canonical string, err error) {
	found, refusal := resolveZone(name)
	if refusal != nil {
		return nil, "", refusal
	}
	return found.Location, found.String(), nil
}

// compileZone is resolveZone for a Spec, where no zone means UTC.
func compileZone(name string) (*tzdb.Zone, *FieldError) {
	if name == "" {
		return tzdb.UTC, nil
	}
	return resolveZone(name)
}

const factory = "Factory"

func resolveZone(name string) (*tzdb.Zone, *FieldError) {
	canonical, known := tzdb.Canonical(name)
	switch {
	case strings.EqualFold(name, "UTC"), canonical == "Etc/UTC":
		return tzdb.UTC, nil
	case !known || name == factory:
		return nil, refuseZone(name)
	}
	zone, err := tzdb.Load(canonical)
	if err != nil { // cannot be: a test loads them all
		return nil, whole("timeZone", name, err.Error(), "")
	}
	return zone, nil
}

// refuseZone says why a name is no zone and which one may be meant.
func refuseZone(name string) *FieldError {
	if len(name) > maxZone {
		return whole("timeZone", name, fmt.Sprintf("no zone has a name of %d characters", len(name)), "write an IANA name such as Europe/Berlin")
	}
	hint := "write an IANA name such as Europe/Berlin, or UTC"
	if nearest, ok := nearestZone(name); ok {
		hint = fmt.Sprintf("did you mean %s?", nearest)
	}
	if i := strings.IndexFunc(name, notInZone); i >= 0 {
		return (&fault{pos: i, reason: fmt.Sprintf("a zone name has no %s", characterName(name[i])), hint: hint}).in("timeZone", name)
	}
	return whole("timeZone", name, zoneReason(name), hint)
}

func zoneReason(name string) string {
	switch _, offset := offsetHours(name); {
	case name == "":
		return "the zone name is empty"
	case name == "Local" || name == "localtime" || name == factory || name == "posixrules":
		return fmt.Sprintf("%s is a placeholder of a machine, not a zone", name)
	case offset:
		return fmt.Sprintf("%q is an offset, not a zone: it does not know when clocks change", name)
	case abbreviations[strings.ToUpper(name)] != "":
		return fmt.Sprintf("%q is an abbreviation, not a zone: it stands for one half of the year, or for several places", name)
	default:
		return fmt.Sprintf("there is no zone %q in the tz database %s", shown(name), tzdb.Version())
	}
}

func notInZone(r rune) bool { return r <= ' ' || r > '~' }

func characterName(c byte) string {
	switch c {
	case ' ':
		return "blank"
	case '\n', '\r':
		return "line break"
	case 0:
		return "NUL"
	default:
		return fmt.Sprintf("character %#02x", c)
	}
}
