package schedule

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// FirstOfDate tells whether no earlier occurrence of the schedule has the business date of o: whether o is the one that
// stands for the date where the identity is BusinessDate.
func (s *Schedule) FirstOfDate(o Occurrence) bool {
	first, ok := s.firstOf(dateOf(o.Actual.w))
	return !ok || first.at >= clamp(o.Due)
}

// CountDates returns the number of business dates whose first occurrence is due with from < Due <= to. Of a date that has
// one before, the later ones do not count. It goes from day to day, however dense the schedule.
func (s *Schedule) CountDates(from, to time.Time) (n int) {
	first, last := max(clamp(from)+1, s.start), min(clamp(to), s.end-1)
	for first <= last {
		h, ok := s.source.next(first)
		if !ok || h.at > last {
			break
		}
		p := periodAt(s.zone, h.at)
		if s.opens(p, h, first) {
			n++
		}
		first = p.sameDateUntil(h.at)
	}
	return n
}

// NextDate returns the first occurrence due strictly after an instant that is the first of its business date, or false if
// there is none up to the year 9999. It goes from day to day, however dense the schedule.
func (s *Schedule) NextDate(after time.Time) (Occurrence, bool) {
	for from := max(clamp(after)+1, s.start); from < s.end; {
		h, ok := s.source.next(from)
		if !ok || h.at >= s.end {
			break
		}
		p := periodAt(s.zone, h.at)
		if s.opens(p, h, from) {
			return s.occurrence(h), true
		}
		from = p.sameDateUntil(h.at)
	}
	return Occurrence{}, false
}

// PreviousDate returns the latest occurrence with Due <= before that is the first of its business date, or false if there
// is none. Like NextDate it goes from day to day.
func (s *Schedule) PreviousDate(before time.Time) (Occurrence, bool) {
	for upTo := min(clamp(before), s.end-1); upTo >= s.start; {
		h, ok := s.source.previous(upTo)
		if !ok || h.at < s.start {
			break
		}
		from := periodAt(s.zone, h.at).sameDateFrom(h.at)
		first, ok := s.firstOf(dateOf(h.wall))
		if !ok || first.at > h.at {
			first = h
		}
		if first.at >= from {
			return s.occurrence(first), true
		}
		upTo = from - 1
	}
	return Occurrence{}, false
}

// opens tells whether a hit of period p, the first one from an instant on, is the first of its date.
func (s *Schedule) opens(p period, h hit, from instant) bool {
	morning := instant(midnightOf(dateOf(h.wall)) - p.offset)
	if morning >= p.start+reach && morning >= from && morning >= s.start {
		return true // the date has nothing to do with the change of the clocks before it
	}
	first, ok := s.firstOf(dateOf(h.wall))
	return !ok || first.at >= h.at
}

// firstOf returns the first hit of a date. Where clocks change around midnight a date may be shown in two periods, and what
// is shifted from one date may come after the first of the next.
func (s *Schedule) firstOf(d calendar.Date) (hit, bool) {
	begin, end := midnightOf(d), midnightOf(d+1)
	for at := max(instant(begin)-reach, minInstant); at <= min(instant(end)+reach, maxInstant); {
		p := periodAt(s.zone, at)
		from := max(p.start, s.start, instant(begin-max(p.offset, p.before)))
		upTo := min(p.end, s.end, instant(end-min(p.offset, p.before))) - 1
		for from <= upTo {
			h, ok := s.source.next(from)
			if !ok || h.at > upTo {
				break
			}
			if dateOf(h.wall) == d {
				return h, true
			}
			from = h.at + 1
		}
		at = p.end
	}
	return hit{}, false
}

// sameDateUntil returns the first instant after at, one of the period, whose hits may have another date than those from at
// on. After a gap there are two dates to look at: that of the clocks, and that of the times that they skipped.
func (p period) sameDateUntil(at instant) instant {
	shown := p.wall(at).midnight()
	if at < p.mixedUntil() && (wall(at)+p.before).midnight() != shown {
		return at + 1
	}
	return min(p.end, instant(shown+wallDay-p.offset))
}

// sameDateFrom returns the first instant, one of the period, from which on up to at all hits have the date of those at at.
// After a gap there are two dates to look at, as for sameDateUntil.
func (p period) sameDateFrom(at instant) instant {
	shown := p.wall(at).midnight()
	switch {
	case at >= p.mixedUntil():
		return max(p.mixedUntil(), instant(shown-p.offset))
	case (wall(at) + p.before).midnight() != shown:
		return at
	default:
		return max(p.start, instant(shown-p.before))
	}
}
