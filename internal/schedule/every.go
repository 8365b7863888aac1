package schedule

import (
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule/internal/tzdb"
)

const (
	// MinEvery is the shortest Spec.Every that is accepted. The API asks for offeredEvery or more.
	MinEvery = time.Second
	// MaxEvery is the longest Spec.Every that is accepted: ten years of 365 days.
	MaxEvery = 10 * 365 * 24 * time.Hour

	// offeredEvery is the shortest that the API takes, so that no hint names a shorter one.
	offeredEvery = 10 * time.Second
)

// every is the series origin, origin+step, origin+2×step and so on, in real time.
type every struct {
	origin instant
	step   instant
	zone   *tzdb.Zone // for the nominal wall times
}

func compileEvery(s Spec, zone *tzdb.Zone) (*every, *FieldError) {
	switch value := s.Every.String(); {
	case s.Every < MinEvery:
		return nil, whole("every", value, "an interval of "+short(s.Every)+" is too short", "write "+short(offeredEvery)+" or more, such as 36h")
	case s.Every > MaxEvery:
		return nil, whole("every", value, "an interval of "+short(s.Every)+" is longer than ten years ("+short(MaxEvery)+")", "use at for a single time")
	case s.Every%time.Second != 0:
		return nil, whole("every", value, "an interval counts whole seconds", "write "+short(max(s.Every.Round(time.Second), offeredEvery)))
	case s.Origin.IsZero():
		return nil, whole("every", value, "an interval needs an origin, and there is none", "set startTime")
	}
	origin := clamp(s.Origin)
	return &every{origin: origin, step: instant(s.Every / time.Second), zone: zone}, nil
}

func (e *every) next(from instant) (hit, bool) {
	at := e.origin
	if from > e.origin {
		at += (from - e.origin + e.step - 1) / e.step * e.step
	}
	return e.hit(at), at <= maxInstant
}

func (e *every) previous(upTo instant) (hit, bool) {
	if upTo < e.origin {
		return hit{}, false
	}
	return e.hit(e.origin + (upTo-e.origin)/e.step*e.step), true
}

func (e *every) each(from, upTo instant, yield func(run) bool) {
	h, _ := e.next(from)
	var all batch
	for at, last := h.at, min(upTo, maxInstant); at <= last; {
		p := periodAt(e.zone, at)
		n := 0
		for ; n < len(all) && at < p.end && at <= last; at += e.step {
			all[n] = p.wall(at)
			n++
		}
		if !yield(run{walls: all[:n], offset: p.offset}) {
			return
		}
	}
}

func (e *every) hit(at instant) hit {
	return hit{at: at, wall: wallAt(e.zone, at)}
}
