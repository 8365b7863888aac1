package schedule_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// sweepSpecs are cron expressions beside what they mean, said a second time in the plainest way.
var sweepSpecs = []struct {
	cron     string
	interval bool
	matches  func(w time.Time) bool
}{
	{cron: "0 0 * * *", matches: func(w time.Time) bool { return w.Hour() == 0 && w.Minute() == 0 }},
	{cron: "30 2 * * *", matches: func(w time.Time) bool { return w.Hour() == 2 && w.Minute() == 30 }},
	{cron: "15,45 0-3 * * *", matches: func(w time.Time) bool { return w.Hour() <= 3 && w.Minute()%30 == 15 }},
	{cron: "10,35 2 * * *", matches: func(w time.Time) bool {
		return w.Hour() == 2 && (w.Minute() == 10 || w.Minute() == 35)
	}},
	{cron: "0 1 * * SUN", matches: func(w time.Time) bool {
		return w.Weekday() == time.Sunday && w.Hour() == 1 && w.Minute() == 0
	}},
	{cron: "0 3 L * *", matches: func(w time.Time) bool {
		return w.AddDate(0, 0, 1).Day() == 1 && w.Hour() == 3 && w.Minute() == 0
	}},
	{cron: "*/7 1,2 * * *", matches: func(w time.Time) bool {
		return (w.Hour() == 1 || w.Hour() == 2) && w.Minute()%7 == 0
	}},
	{cron: "*/15 * * * *", interval: true, matches: func(w time.Time) bool { return w.Minute()%15 == 0 }},
	{cron: "20 */2 * * *", interval: true, matches: func(w time.Time) bool { return w.Hour()%2 == 0 && w.Minute() == 20 }},
}

var (
	gapPolicies     = []schedule.GapPolicy{schedule.GapShift, schedule.GapFirstValid, schedule.GapSkip}
	overlapPolicies = []schedule.OverlapPolicy{schedule.OverlapFirst, schedule.OverlapLast, schedule.OverlapBoth}
)

// TestSweep compares the resolver with an oracle around every change of the clocks from 2000 to 2037, in every zone,
// under every policy. The oracle knows nothing of periods: it steps through real time minute by minute, notes what the
// clocks show, and applies the policies to that as they are worded. Every tenth zone, and the odd ones, are also swept
// backwards; with -short no others are. robfig/cron goes the same way, for comparison.
func TestSweep(t *testing.T) {
	t.Parallel()
	var total tally
	books, theirs := library{}, newYardstick(t)
	for i, name := range canonicalZones(t) {
		some := i%10 == 0 || slices.Contains(oddZones, name)
		if testing.Short() && !some {
			continue
		}
		total.add(sweepZone(t, name, books, theirs, some))
		if t.Failed() {
			return
		}
	}
	t.Logf("%d zones, %d changes, %d schedules, %d occurrences: %d lost, %d extra, %d early",
		total.zones, total.changes, total.schedules, total.occurrences, total.lost, total.extra, total.early)
	theirs.report(t)
	if total.changes == 0 || total.lost+total.extra+total.early > 0 {
		t.Fail()
	}
}

// tally counts what a sweep has compared and what it has found.
type tally struct{ zones, changes, schedules, occurrences, lost, extra, early int }

func (a *tally) add(b tally) {
	a.zones += b.zones
	a.changes += b.changes
	a.schedules += b.schedules
	a.occurrences += b.occurrences
	a.lost += b.lost
	a.extra += b.extra
	a.early += b.early
}

func canonicalZones(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, name := range schedule.ZoneNames() {
		if _, canonical, err := schedule.ResolveZone(name); err == nil && canonical == name {
			names = append(names, name)
		}
	}
	return names
}

func sweepZone(t *testing.T, name string, books library, theirs *yardstick, backwards bool) tally {
	t.Helper()
	zone, _, err := schedule.ResolveZone(name)
	if err != nil {
		t.Fatal(err)
	}
	sum := tally{zones: 1}
	schedules := compileAll(t, name)
	for change := range changes(zone, 2000, 2038) {
		sum.changes++
		diary := books.diary(zone, change.Add(-margin), change.Add(margin))
		theirs.measure(zone, diary)
		for _, s := range schedules {
			sum.schedules++
			sum.add(diary.compare(t, s))
			if backwards {
				diary.compareBackwards(t, s)
			}
		}
	}
	return sum
}

type swept struct {
	*schedule.Schedule
	meaning
	spec schedule.Spec
}

// compileAll returns each of sweepSpecs under each pair of policies, an interval under those that must not touch it.
func compileAll(t *testing.T, zone string) []swept {
	t.Helper()
	var all []swept
	for which, spec := range sweepSpecs {
		for _, gap := range gapPolicies {
			for _, overlap := range overlapPolicies {
				s := swept{meaning: meaning{which, gap, overlap}}
				s.spec = schedule.Spec{Cron: spec.cron, TimeZone: zone, Gap: gap, Overlap: overlap}
				if spec.interval && (gap == schedule.GapSkip || overlap == schedule.OverlapBoth) {
					continue // Shift and FirstValid with First and Last are left, all to no effect
				}
				if spec.interval {
					s.gap, s.overlap = schedule.GapSkip, schedule.OverlapBoth
				}
				s.Schedule = compile(t, s.spec)
				all = append(all, s)
			}
		}
	}
	return all
}

// changes finds every minute from one year to another at which a zone's offset changes, by looking every six hours.
func changes(zone *time.Location, from, to int) iter.Seq[time.Time] {
	const step = 6 * time.Hour
	return func(yield func(time.Time) bool) {
		end := time.Date(to, 1, 1, 0, 0, 0, 0, time.UTC)
		for at := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(end); at = at.Add(step) {
			if offset(at.In(zone)) == offset(at.Add(step).In(zone)) {
				continue
			}
			minute := at
			for offset(minute.In(zone)) == offset(at.In(zone)) {
				minute = minute.Add(time.Minute)
			}
			if !yield(minute) {
				return
			}
		}
	}
}

func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}

// margin is how far a diary reaches to both sides of a change.
const margin = 36 * time.Hour

// library keeps diaries that are alike: most of Europe shows the same times around the same changes.
type library map[bookmark]*diary

// bookmark is when a diary begins, and the offset from UTC every two hours from then on.
type bookmark struct {
	start   int64
	offsets [margin / time.Hour]int
}

func (l library) diary(zone *time.Location, from, to time.Time) *diary {
	mark := bookmark{start: from.Unix()}
	for i := range mark.offsets {
		mark.offsets[i] = offset(from.Add(time.Duration(i) * 2 * time.Hour).In(zone))
	}
	if l[mark] == nil {
		l[mark] = keepDiary(zone, from, to)
	}
	return l[mark]
}

// diary is what the clocks of a zone show in a stretch of real time, minute by minute. All times are minutes; those on
// the clocks count as if in UTC.
type diary struct {
	start   int64      // real time of the first entry
	walls   []int64    // what the clocks show, entry by entry
	lowest  int64      // the first wall time of passes
	passes  [][2]int64 // from lowest on: the real times of the first and the last pass of a wall time; 0 if skipped
	gaps    []gap      // what they skip
	due     map[meaning][]int64
	nominal [][]int64 // for each of sweepSpecs, the wall times that it names, shown or skipped
}

// meaning is what decides on the due times that a diary implies.
type meaning struct {
	which   int // of sweepSpecs
	gap     schedule.GapPolicy
	overlap schedule.OverlapPolicy
}

// gap is a stretch of wall times that the clocks skip.
type gap struct{ from, to, at, before int64 } // wall times, the first minute after, the offset before

func keepDiary(zone *time.Location, from, to time.Time) *diary {
	d := &diary{start: from.Unix() / 60, due: map[meaning][]int64{}}
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		d.enter(at.Unix()/60, (at.Unix()+int64(offset(at.In(zone))))/60)
	}
	d.lowest = slices.Min(d.walls)
	d.passes = make([][2]int64, slices.Max(d.walls)-d.lowest+1)
	for i, wall := range d.walls {
		pass := &d.passes[wall-d.lowest]
		if pass[0] == 0 {
			pass[0] = d.start + int64(i)
		}
		pass[1] = d.start + int64(i)
	}
	d.nominal = make([][]int64, len(sweepSpecs))
	for i := range d.passes {
		wall := time.Unix((d.lowest+int64(i))*60, 0).UTC()
		for which, spec := range sweepSpecs {
			if spec.matches(wall) {
				d.nominal[which] = append(d.nominal[which], d.lowest+int64(i))
			}
		}
	}
	return d
}

// enter notes what the clocks show at a minute.
func (d *diary) enter(minute, wall int64) {
	if n := len(d.walls); n > 0 && wall > d.walls[n-1]+1 {
		d.gaps = append(d.gaps, gap{from: d.walls[n-1] + 1, to: wall, at: minute, before: d.walls[n-1] - (minute - 1)})
	}
	d.walls = append(d.walls, wall)
}

// expected applies the policies, as they are worded, to every wall time that a schedule names.
func (d *diary) expected(s meaning) []int64 {
	if due, known := d.due[s]; known {
		return due
	}
	lo, hi := d.middle()
	var due []int64
	for _, wall := range d.nominal[s.which] {
		pass := d.passes[wall-d.lowest]
		switch {
		case pass[0] == 0:
			due = append(due, d.missing(s.gap, wall)...)
		case s.overlap == schedule.OverlapFirst:
			due = append(due, pass[0])
		case s.overlap == schedule.OverlapLast:
			due = append(due, pass[1])
		default:
			due = append(due, pass[0], pass[1])
		}
	}
	slices.Sort(due)
	due = slices.DeleteFunc(slices.Compact(due), func(at int64) bool { return at <= lo || at > hi })
	d.due[s] = due
	return due
}

func (d *diary) missing(policy schedule.GapPolicy, wall int64) []int64 {
	for _, gap := range d.gaps {
		switch {
		case wall < gap.from || wall >= gap.to:
		case policy == schedule.GapShift:
			return []int64{wall - gap.before}
		case policy == schedule.GapFirstValid:
			return []int64{gap.at}
		}
	}
	return nil
}

// middle returns the part of the diary in which it sees both passes of a repeated time and all of a gap.
func (d *diary) middle() (lo, hi int64) { return d.start + 5*60, d.start + int64(len(d.walls)) - 5*60 }

// compare holds a schedule's occurrences against what the diary implies.
func (d *diary) compare(t *testing.T, s swept) tally {
	t.Helper()
	lo, hi := d.middle()
	want := d.expected(s.meaning)
	got := make([]int64, 0, len(want))
	var sum tally
	for o := range s.Between(time.Unix(lo*60, 0), time.Unix(hi*60, 0)) {
		at := o.Due.Unix() / 60
		got = append(got, at)
		if d.walls[at-d.start] < wallMinutes(o.Nominal) {
			sum.early++
		}
		if len(got) > 2*len(want)+100 {
			break // it does not get on
		}
	}
	sum.occurrences = len(want)
	sum.lost, sum.extra = missingFrom(want, got), missingFrom(got, want)
	if sum.lost+sum.extra+sum.early > 0 || !slices.Equal(got, want) {
		t.Errorf("%+v\n got %v\nwant %v", s.spec, readable(got), readable(want))
	}
	return sum
}

// compareBackwards goes the same way with Previous.
func (d *diary) compareBackwards(t *testing.T, s swept) {
	t.Helper()
	lo, hi := d.middle()
	var got []int64
	at := time.Unix(hi*60, 0)
	for o, ok := s.Previous(at); ok && o.Due.Unix() > lo*60 && len(got) < len(d.walls); o, ok = s.Previous(at) {
		got = append(got, o.Due.Unix()/60)
		at = o.Due.Add(-1)
	}
	slices.Reverse(got)
	if want := d.expected(s.meaning); !slices.Equal(got, want) {
		t.Errorf("backwards: %+v\n got %v\nwant %v", s.spec, readable(got), readable(want))
	}
}

func missingFrom(want, got []int64) (n int) {
	for _, at := range want {
		if _, ok := slices.BinarySearch(got, at); !ok {
			n++
		}
	}
	return n
}

func wallMinutes(w schedule.WallTime) int64 {
	year, month, day := w.Date()
	hour, minute, _ := w.Clock()
	return time.Date(year, month, day, hour, minute, 0, 0, time.UTC).Unix() / 60
}

func readable(times []int64) (texts []string) {
	for i, at := range times {
		if i == 12 {
			return append(texts, fmt.Sprint("and ", len(times)-i, " more"))
		}
		texts = append(texts, time.Unix(at*60, 0).UTC().Format(time.RFC3339))
	}
	return texts
}
