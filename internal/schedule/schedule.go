package schedule

import (
	"iter"
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule/internal/tzdb"
)

// Schedule is a compiled Spec. It is immutable and safe for concurrent use.
type Schedule struct {
	source     source
	zone       *tzdb.Zone
	gap        GapPolicy
	overlap    OverlapPolicy
	start      instant // first instant that counts
	end        instant // first instant that does not count any more
	days       dayPolicy
	anchor     *anchor // nil if the schedule has occurrences by itself
	spec       Spec    // what it was compiled from
	expression string
	warnings   []string
}

// source is what the kinds of schedule have in common: an ascending series of instants without bounds.
type source interface {
	// next returns the first hit not before from, or false if there is none up to maxInstant.
	next(from instant) (hit, bool)
	// previous returns the last hit not after upTo, or false if there is none down to minInstant.
	previous(upTo instant) (hit, bool)
	// each yields all hits from one instant to another, both included, until yield wants no more. The runs are never
	// empty, and valid until yield returns.
	each(from, upTo instant, yield func(run) bool)
	// count returns the number of hits from one instant to another, both included.
	count(from, upTo instant) int
}

// minInstant and maxInstant bound everything: years 1 to 9999, what RFC 3339 can write.
var (
	minInstant = instant(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	maxInstant = instant(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix())
)

// clamp returns the second that holds t, brought into the years that count.
func clamp(t time.Time) instant {
	return min(max(instant(t.Unix()), minInstant-1), maxInstant+1)
}

// ceil returns the first whole second that is not before t.
func ceil(t time.Time) instant {
	at := clamp(t)
	if t.Nanosecond() > 0 {
		at++
	}
	return at
}

// Next returns the first occurrence that is due strictly after the given instant, or false if there is none up to the
// year 9999. It does not allocate.
func (s *Schedule) Next(after time.Time) (Occurrence, bool) {
	return s.from(clamp(after) + 1)
}

// from returns the first occurrence that is due at from or later.
func (s *Schedule) from(from instant) (Occurrence, bool) {
	h, ok := s.source.next(max(from, s.start))
	if !ok || h.at >= s.end {
		return Occurrence{}, false
	}
	return s.occurrence(h), true
}

// Between returns the occurrences with from < Due <= to in order, one after the other, without collecting them.
func (s *Schedule) Between(from, to time.Time) iter.Seq[Occurrence] {
	first, last := max(clamp(from)+1, s.start), min(clamp(to), s.end-1)
	return func(yield func(Occurrence) bool) {
		if s.days.days != nil {
			s.betweenDays(first, last, yield)
			return
		}
		var o Occurrence // one for all: making and copying one takes most of the time
		s.source.each(first, last, func(r run) bool {
			o.Note = clockNote(r.kind, r.by)
			for _, w := range r.walls {
				if fill(&o, w, w, r.offset); !yield(o) {
					return false
				}
			}
			return true
		})
	}
}

// betweenDays is Between with a calendar, which is asked once for each stretch that it treats alike.
func (s *Schedule) betweenDays(first, last instant, yield func(Occurrence) bool) {
	var o Occurrence
	var steady span
	var moved wall
	var day DayNote
	s.source.each(first, last, func(r run) bool {
		clocks := clockNote(r.kind, r.by)
		o.Note = clocks.with(day)
		for _, w := range r.walls {
			if !steady.has(w) {
				var nominal wall
				nominal, day = s.days.note(s.source, w)
				steady, moved = s.days.steady(s.source, w), w-nominal
				o.Note = clocks.with(day)
			}
			if fill(&o, w-moved, w, r.offset); !yield(o) {
				return false
			}
		}
		return true
	})
}

// Previous returns the latest occurrence with Due <= before, or false if there is none. Like Next it takes the same
// short time whatever the distance.
func (s *Schedule) Previous(before time.Time) (Occurrence, bool) {
	h, ok := s.source.previous(min(clamp(before), s.end-1))
	if !ok || h.at < s.start {
		return Occurrence{}, false
	}
	return s.occurrence(h), true
}

// Resolve returns what a wall time means in the schedule's zone by the schedule's policies, whether or not it is one of
// its occurrences, and whatever the calendar says; of two the first. It returns false if the policy drops it.
func (s *Schedule) Resolve(w WallTime) (Occurrence, bool) {
	one := resolver{walls: single(w.w), zone: s.zone, gap: s.gap, overlap: s.overlap}
	h, ok := one.next(max(instant(w.w)-reach, minInstant))
	if !ok {
		return Occurrence{}, false
	}
	var o Occurrence
	h.dress(&o)
	return o, true
}

// ResolveLocal is Resolve for a local time in the form of WallTime.String: a stored one, whose instant is to be worked out
// again because the zone or the time zone data has changed. The error, of ParseWallTime, is about the text.
func (s *Schedule) ResolveLocal(local string) (Occurrence, bool, error) {
	w, err := ParseWallTime(local)
	if err != nil {
		return Occurrence{}, false, err
	}
	o, ok := s.Resolve(w)
	return o, ok, nil
}

// At returns the occurrence that is due exactly at an instant, or false if there is none.
func (s *Schedule) At(due time.Time) (Occurrence, bool) {
	o, ok := s.from(clamp(due))
	return o, ok && o.Due.Equal(due)
}

// Zone returns the canonical name of the schedule's zone, "UTC" if it has none.
func (s *Schedule) Zone() string { return s.zone.String() }

// Location returns the schedule's zone, for showing times to people.
func (s *Schedule) Location() *time.Location { return s.zone.Location }

// Expression returns what the Spec names in Cron, RRule, At or Every in its canonical form: however it was written, the same
// meaning gives the same text, and the text compiles to the same schedule. For Anchor it is "".
func (s *Schedule) Expression() string { return s.expression }

// Warnings returns what is allowed but probably not meant, one sentence each, in a stable order.
func (s *Schedule) Warnings() []string { return slices.Clone(s.warnings) }

// occurrence dresses a hit, whose wall time is the actual one.
func (s *Schedule) occurrence(h hit) (o Occurrence) {
	h.dress(&o)
	if s.days.days != nil {
		nominal, note := s.days.note(s.source, h.wall)
		o.Nominal.w, o.Note = nominal, o.Note.with(note)
	}
	return o
}

// dress fills in all that a hit knows by itself.
func (h hit) dress(o *Occurrence) {
	fill(o, h.wall, h.wall, h.wall-wall(h.at))
	o.Note = clockNote(h.kind, h.by)
}

// fill fills in the times; offset is that between the actual one and its instant.
func fill(o *Occurrence, nominal, actual, offset wall) {
	o.Nominal.w, o.Actual.w = nominal, actual
	o.Due = time.Unix(int64(actual-offset), 0).UTC()
}

// In returns the schedule as it is for recipients in a zone: the same spec, expanded by other clocks. "" is the schedule's
// own zone. It costs as much as Compile; callers keep one for each zone, of which an audience has few.
func (s *Schedule) In(zone string) (*Schedule, error) {
	if zone == "" || zone == s.spec.TimeZone {
		return s, nil
	}
	spec := s.spec
	spec.TimeZone = zone
	return Compile(spec)
}
