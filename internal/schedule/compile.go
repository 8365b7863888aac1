package schedule

import (
	"fmt"
	"time"
)

// Compile checks a Spec and returns what it means. Every error is a *FieldError.
func Compile(s Spec) (*Schedule, error) {
	schedule, err := compile(s)
	if err != nil {
		return nil, err // not `return compile(s)`: a nil *FieldError must not become an error
	}
	return schedule, nil
}

func compile(s Spec) (*Schedule, *FieldError) {
	if err := checkPolicies(s); err != nil {
		return nil, err
	}
	if err := checkKind(s); err != nil {
		return nil, err
	}
	zone, err := compileZone(s.TimeZone)
	if err != nil {
		return nil, err
	}
	schedule := &Schedule{
		zone:     zone,
		gap:      orDefault(s.Gap, GapShift),
		overlap:  orDefault(s.Overlap, OverlapFirst),
		warnings: zoneWarnings(s.TimeZone),
		spec:     s,
	}
	if err := schedule.setDays(s); err != nil {
		return nil, err
	}
	if err := schedule.setBounds(s); err != nil {
		return nil, err
	}
	if err := schedule.setSource(s); err != nil {
		return nil, err
	}
	return schedule, nil
}

// checkKind sees to it that the Spec says when in exactly one way.
func checkKind(s Spec) *FieldError {
	var set []string
	for _, kind := range []struct {
		name string
		set  bool
	}{{"cron", s.Cron != ""}, {"rrule", s.RRule != ""}, {"at", s.At != ""}, {"every", s.Every != 0}, {"anchor", s.Anchor != nil}} {
		if kind.set {
			set = append(set, kind.name)
		}
	}
	switch len(set) {
	case 1:
		return nil
	case 0:
		return whole("", "", "none of cron, rrule, at, every and anchor is set", "set exactly one of them")
	default:
		return whole("", "", fmt.Sprintf("%s and %s are both set", set[0], set[1]), "set exactly one of cron, rrule, at, every and anchor")
	}
}

func checkPolicies(s Spec) *FieldError {
	switch s.DayMatch {
	case "", DayMatchAny, DayMatchAll:
	default:
		return unknownPolicy("dayMatch", string(s.DayMatch), "Any or All")
	}
	switch s.Gap {
	case "", GapShift, GapFirstValid, GapSkip:
	default:
		return unknownPolicy("dst.gap", string(s.Gap), "Shift, FirstValid or Skip")
	}
	switch s.Overlap {
	case "", OverlapFirst, OverlapLast, OverlapBoth:
	default:
		return unknownPolicy("dst.overlap", string(s.Overlap), "First, Last or Both")
	}
	return nil
}

func unknownPolicy(field, value, known string) *FieldError {
	return whole(field, value, fmt.Sprintf("unknown policy %q", shown(value)), "write "+known)
}

func (s *Schedule) setBounds(spec Spec) *FieldError {
	s.start, s.end = minInstant, maxInstant+1
	if !spec.Start.IsZero() {
		s.start = ceil(spec.Start)
	}
	if !spec.End.IsZero() {
		s.end = ceil(spec.End)
	}
	if s.start < s.end {
		return nil
	}
	value := spec.End.UTC().Format(time.RFC3339)
	return whole("endTime", value, "endTime is not after startTime, so nothing can occur", "write a time after "+spec.Start.UTC().Format(time.RFC3339))
}

func (s *Schedule) setSource(spec Spec) *FieldError {
	switch {
	case spec.Cron != "":
		return s.setCron(spec)
	case spec.RRule != "":
		return s.setRRule(spec)
	case spec.At != "":
		return s.setAt(spec)
	case spec.Anchor != nil:
		return s.setAnchor(spec)
	default:
		return s.setEvery(spec)
	}
}

func (s *Schedule) setEvery(spec Spec) *FieldError {
	every, err := compileEvery(spec, s.zone)
	if err != nil {
		return err
	}
	s.source, s.expression = every, short(spec.Every)
	return nil
}

// resolved is the source of a schedule whose times are wall times.
func (s *Schedule) resolved(w walls) *resolver {
	return &resolver{walls: s.days.roll(w), zone: s.zone, gap: s.gap, overlap: s.overlap}
}

func orDefault[T comparable](value, fallback T) T {
	var none T
	if value == none {
		return fallback
	}
	return value
}
