package schedule_test

import (
	"slices"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// yardstick is what robfig/cron makes of sweepSpecs, next to what the diaries imply by the default policies. It shows that
// the oracle finds faults where there are some.
type yardstick struct {
	specs map[int]*robfig.SpecSchedule // by their number in sweepSpecs; it does not read L
	known map[*diary]count             // a diary that zones share counts for each
	total count
}

// count is what was compared and found.
type count struct {
	schedules, occurrences, inGaps, inOverlaps int // the last two: of the occurrences, those that a change concerns
	lost, doubled, early                       int
	stuck                                      int // times after which the next is not later
	hangs                                      int // schedules that it is not asked about, since it never returns
}

func newYardstick(t *testing.T) *yardstick {
	t.Helper()
	y := &yardstick{specs: map[int]*robfig.SpecSchedule{}, known: map[*diary]count{}}
	for which, spec := range sweepSpecs {
		parsed, err := robfig.ParseStandard(spec.cron)
		if err != nil {
			continue
		}
		s, ok := parsed.(*robfig.SpecSchedule)
		if !ok {
			t.Fatalf("%q is a %T", spec.cron, parsed)
		}
		y.specs[which] = s
	}
	return y
}

// measure compares all specs with a diary of a zone.
func (y *yardstick) measure(zone *time.Location, d *diary) {
	found, known := y.known[d]
	if !known {
		for which, s := range y.specs {
			found.add(d.against(which, zone, s))
		}
		y.known[d] = found
	}
	y.total.add(found)
}

func (c *count) add(b count) {
	c.schedules += b.schedules
	c.occurrences += b.occurrences
	c.inGaps += b.inGaps
	c.inOverlaps += b.inOverlaps
	c.lost += b.lost
	c.doubled += b.doubled
	c.early += b.early
	c.stuck += b.stuck
	c.hangs += b.hangs
}

// against counts what a robfig schedule loses, fires twice, and fires at a time that it does not name.
func (d *diary) against(which int, zone *time.Location, s *robfig.SpecSchedule) count {
	m := meaning{which, schedule.GapShift, schedule.OverlapFirst}
	if sweepSpecs[which].interval {
		m = meaning{which, schedule.GapSkip, schedule.OverlapBoth}
	}
	if s.Dow != everyDay && d.skipsADay() {
		return count{hangs: 1}
	}
	here := *s
	here.Location = zone
	c := count{schedules: 1}
	got := d.firings(&here, zone, &c)
	for _, at := range got {
		if !sweepSpecs[which].matches(time.Unix(at*60, 0).In(zone)) {
			c.early++
		}
	}
	lo, hi := d.near()
	want := slices.DeleteFunc(slices.Clone(d.expected(m)), func(at int64) bool { return at <= lo || at > hi })
	c.occurrences, c.lost, c.doubled = len(want), missingFrom(want, got), missingFrom(got, want)
	if !sweepSpecs[which].interval {
		c.inGaps, c.inOverlaps = d.concerned(which, want)
	}
	return c
}

// firings asks for one time after the other. Where the next is not later it asks again from a minute on, and counts that.
func (d *diary) firings(s *robfig.SpecSchedule, zone *time.Location, c *count) (got []int64) {
	lo, hi := d.near()
	for asked := lo; ; {
		at := s.Next(time.Unix(asked*60, 0).In(zone)).Unix() / 60
		switch {
		case at > hi:
			return got
		case at <= asked:
			c.stuck++
			asked++
		default:
			got = append(got, at)
			asked = at
		}
	}
}

// near returns the hours around the change, and after it as many more as clocks skip.
func (d *diary) near() (lo, hi int64) {
	change := d.start + int64(margin/time.Minute)
	hi = change + 4*60
	for _, g := range d.gaps {
		hi += g.to - g.from
	}
	return change - 4*60, hi
}

// everyDay is what robfig/cron makes of * in the day of the week.
const everyDay = 1<<63 | 1<<7 - 1

// skipsADay tells of a day that does not exist, in Apia and in Fakaofo: looking for a day of the week robfig/cron adds a day
// to the one before, and is on that again, for ever.
func (d *diary) skipsADay() bool {
	return slices.ContainsFunc(d.gaps, func(g gap) bool { return g.to-g.from >= 24*60 })
}

// concerned returns how many of the due times stand for a time that the clocks skip, or show twice.
func (d *diary) concerned(which int, want []int64) (inGaps, inOverlaps int) {
	for _, at := range want {
		wall := d.walls[at-d.start]
		pass := d.passes[wall-d.lowest]
		switch {
		case !sweepSpecs[which].matches(time.Unix(wall*60, 0).UTC()):
			inGaps++
		case pass[0] != pass[1]:
			inOverlaps++
		}
	}
	return inGaps, inOverlaps
}

func (y *yardstick) report(t *testing.T) {
	t.Helper()
	c := y.total
	t.Logf("robfig/cron v3.0.1, the same changes: %d schedules, %d occurrences, of which %d are in a gap and %d in an overlap: "+
		"%d lost, %d doubled, %d early; %d times the next is not later, %d schedules never return",
		c.schedules, c.occurrences, c.inGaps, c.inOverlaps, c.lost, c.doubled, c.early, c.stuck, c.hangs)
	if c.lost == 0 || c.doubled == 0 {
		t.Error("the oracle finds no fault in robfig/cron, which loses and doubles occurrences")
	}
}
