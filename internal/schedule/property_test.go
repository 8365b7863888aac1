package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// drawField draws one field of a cron expression.
func drawField(t *rapid.T, label string, lo, hi int) string {
	value := rapid.IntRange(lo, hi)
	switch rapid.IntRange(0, 5).Draw(t, label+" form") {
	case 0, 1:
		return "*"
	case 2:
		return fmt.Sprintf("*/%d", rapid.IntRange(1, hi-lo+1).Draw(t, label+" step"))
	case 3:
		from, to := value.Draw(t, label+" from"), value.Draw(t, label+" to")
		return fmt.Sprintf("%d-%d/%d", min(from, to), max(from, to), rapid.IntRange(1, max(from, to)-min(from, to)+1).Draw(t, label+" step"))
	default:
		list := rapid.SliceOfN(value, 1, 4).Draw(t, label)
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
	}
}

func drawCron(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "macro") == 0 {
		return rapid.SampledFrom([]string{"@hourly", "@daily", "@weekly", "@monthly", "@yearly"}).Draw(t, "macro")
	}
	monthDay, weekday := drawField(t, "day of the month", 1, 31), drawField(t, "day of the week", 0, 7)
	if rapid.IntRange(0, 4).Draw(t, "special") == 0 {
		monthDay = rapid.SampledFrom([]string{"L", "LW", "1,L", "*"}).Draw(t, "special day of the month")
		weekday = rapid.SampledFrom([]string{"*", "MON#2", "FRIL", "SUN,WED#5", "SAT-SUN"}).Draw(t, "special day of the week")
	}
	return strings.Join([]string{
		drawField(t, "minute", 0, 59), drawField(t, "hour", 0, 23), monthDay, drawField(t, "month", 1, 12), weekday,
	}, " ")
}

// drawInstant draws an instant, more often than not close to a change of the clocks.
func drawInstant(t *rapid.T, zone *time.Location, label string) time.Time {
	years := rapid.Int64Range(-3_500_000_000, 8_000_000_000).Draw(t, label) // 1859 to 2223
	at := time.Unix(years, 0).UTC()
	if rapid.IntRange(0, 3).Draw(t, label+" near a change") == 0 {
		return at
	}
	for range 400 {
		if next := at.Add(24 * time.Hour); offset(next.In(zone)) != offset(at.In(zone)) {
			break
		}
		at = at.Add(24 * time.Hour)
	}
	return at.Add(time.Duration(rapid.Int64Range(-86400, 2*86400).Draw(t, label+" off")) * time.Second)
}

// drawZone draws a zone, more often than not one whose clocks do something out of the ordinary.
func drawZone(t *rapid.T) string {
	if rapid.IntRange(0, 3).Draw(t, "any zone") == 0 {
		return rapid.SampledFrom(schedule.ZoneNames()).Draw(t, "zone")
	}
	return rapid.SampledFrom(oddZones).Draw(t, "odd zone")
}

// oddZones change their clocks by half an hour, by two, at midnight, by a day, across midnight, or at a time of their own.
var oddZones = []string{
	"America/New_York", "Europe/Berlin", "America/Santiago", "Africa/Cairo", "Asia/Beirut", "Australia/Lord_Howe",
	"Antarctica/Troll", "Pacific/Apia", "Asia/Gaza", "Europe/Dublin", "America/Nuuk", "America/St_Johns",
}

// drawSpec draws a Spec that compiles.
func drawSpec(t *rapid.T) (schedule.Spec, *schedule.Schedule) {
	spec := schedule.Spec{
		TimeZone: drawZone(t),
		DayMatch: rapid.SampledFrom([]schedule.DayMatch{"", schedule.DayMatchAny, schedule.DayMatchAll}).Draw(t, "dayMatch"),
		Gap:      rapid.SampledFrom(append(gapPolicies, "")).Draw(t, "gap"),
		Overlap:  rapid.SampledFrom(append(overlapPolicies, "")).Draw(t, "overlap"),
	}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		spec.Every = time.Duration(rapid.Int64Range(1, 400*86400).Draw(t, "every")) * time.Second
		spec.Origin = time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "origin"), 0)
	case 1:
		spec.At = time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "at"), 0).UTC().Format("2006-01-02T15:04:05")
	default:
		spec.Cron = drawCron(t)
	}
	s, err := schedule.Compile(spec)
	if err != nil {
		t.Skip(err) // a day that never comes, a single time that is skipped
	}
	return spec, s
}

// collect takes at most n occurrences, from Next.
func collect(s *schedule.Schedule, after time.Time, n int) []schedule.Occurrence {
	var all []schedule.Occurrence
	for range n {
		o, ok := s.Next(after)
		if !ok {
			break
		}
		all = append(all, o)
		after = o.Due
	}
	return all
}

func TestOccurrencesIncreaseAndAreNeverEarly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		after := drawInstant(t, s.Location(), "after")
		for _, o := range collect(s, after, 50) {
			if !o.Due.After(after) {
				t.Fatalf("%+v: %v is not after %v", spec, o, after)
			}
			if shown := o.Due.Unix() + int64(offset(o.Due.In(s.Location()))); shown < wallSecond(o.Nominal) {
				t.Fatalf("%+v: %s due at %s is early", spec, o.Nominal, o.Due.In(s.Location()))
			}
			after = o.Due
		}
	})
}

func wallSecond(w schedule.WallTime) int64 {
	_, _, second := w.Clock()
	return wallMinutes(w)*60 + int64(second)
}

func TestNextIsTheFirstOfBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		from := drawInstant(t, s.Location(), "from")
		want := collect(s, from, 30)
		var got []schedule.Occurrence
		for o := range s.Between(from, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)) {
			if got = append(got, o); len(got) == 30 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v from %s:\nBetween %v\nNext    %v", spec, from, got, want)
		}
	})
}

func TestSplittingARangeChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		from := drawInstant(t, s.Location(), "from")
		middle := from.Add(time.Duration(rapid.Int64Range(0, 86400).Draw(t, "first part")) * time.Second)
		to := middle.Add(time.Duration(rapid.Int64Range(0, 86400).Draw(t, "second part")) * time.Second)
		whole := slices.Collect(s.Between(from, to))
		parts := append(slices.Collect(s.Between(from, middle)), slices.Collect(s.Between(middle, to))...)
		if !slices.Equal(whole, parts) {
			t.Fatalf("%+v from %s over %s to %s:\nwhole %v\nparts %v", spec, from, middle, to, whole, parts)
		}
	})
}

func TestPreviousGoesBackTheWayThatNextCame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		after := drawInstant(t, s.Location(), "after")
		all := collect(s, after, 30)
		for i, o := range all {
			if got, ok := s.Previous(o.Due); !ok || got != o {
				t.Fatalf("%+v: Previous(%s) = %v, want %v", spec, o.Due, got, o)
			}
			if i == 0 {
				continue
			}
			if got, ok := s.Previous(o.Due.Add(-1)); !ok || got != all[i-1] {
				t.Fatalf("%+v: Previous(just before %s) = %v, want %v", spec, o.Due, got, all[i-1])
			}
		}
		if got, ok := s.Previous(after); ok && got.Due.After(after) {
			t.Fatalf("%+v: Previous(%s) = %v", spec, after, got)
		}
	})
}

func TestBoundsOnlyLeaveOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, free := drawSpec(t)
		from := drawInstant(t, free.Location(), "from")
		spec.Start = from.Add(time.Duration(rapid.Int64Range(0, 86400).Draw(t, "start")) * time.Second)
		spec.End = spec.Start.Add(time.Duration(rapid.Int64Range(1, 86400).Draw(t, "end")) * time.Second)
		bounded, err := schedule.Compile(spec)
		if err != nil {
			t.Skip(err)
		}
		want := slices.Collect(free.Between(spec.Start.Add(-1), spec.End.Add(-1)))
		if got := slices.Collect(bounded.Between(from.Add(-1), from.AddDate(0, 0, 3))); !slices.Equal(got, want) {
			t.Fatalf("%+v:\n got %v\nwant %v", spec, got, want)
		}
	})
}

// T2: never earlier than the nominal local time, over a whole year, minute by minute.
func TestNothingIsEarlyInAYearOfTenZones(t *testing.T) {
	t.Parallel()
	from := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, zone := range oddZones {
		for _, cron := range []string{"* * * * *", "*/5 0-23 * * *"} {
			n, s := 0, compile(t, schedule.Spec{Cron: cron, TimeZone: zone, Overlap: schedule.OverlapBoth})
			for o := range s.Between(from, from.AddDate(1, 0, 0)) {
				n++
				if o.Due.Unix()+int64(offset(o.Due.In(s.Location()))) < wallSecond(o.Nominal) {
					t.Errorf("%s: %s is due at %s", zone, o.Nominal, o.Due.In(s.Location()))
				}
			}
			if n < 365*24*12 {
				t.Errorf("%s: %s has %d occurrences", zone, cron, n)
			}
		}
	}
}
