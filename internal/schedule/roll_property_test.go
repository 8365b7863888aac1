package schedule_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

var recurrences = []string{
	"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3;BYHOUR=2,9,23;BYMINUTE=30", "FREQ=WEEKLY;BYDAY=SA,SU,MO;BYHOUR=2,3;BYMINUTE=0,30",
	"FREQ=MONTHLY;BYMONTHDAY=-1,1,15", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,1", "FREQ=YEARLY;BYDAY=-1SU,20MO",
	"FREQ=WEEKLY;BYDAY=FR,SA,SU,MO;BYHOUR=2,9,23;BYMINUTE=30;BYSETPOS=2,-1,5,-3", "FREQ=DAILY;INTERVAL=14;BYDAY=MO,TU,SU",
	"FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;COUNT=40;BYHOUR=2", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=DAILY;UNTIL=20261231T120000Z",
}

// drawBusiness draws a Spec with a calendar, or a recurrence rule, or both, and an instant close to what it names.
func drawBusiness(t *rapid.T) (schedule.Spec, *schedule.Schedule, time.Time) {
	spec := schedule.Spec{
		TimeZone: rapid.SampledFrom(oddZones).Draw(t, "zone"),
		Gap:      rapid.SampledFrom(gapPolicies).Draw(t, "gap"), Overlap: rapid.SampledFrom(overlapPolicies).Draw(t, "overlap"),
	}
	from := time.Date(rapid.IntRange(2009, 2030).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 31).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, time.UTC)
	if rapid.Bool().Draw(t, "rule") {
		spec.RRule = rapid.SampledFrom(recurrences).Draw(t, "rrule")
		spec.Start = time.Date(rapid.IntRange(2005, 2020).Draw(t, "start"), 5, rapid.IntRange(1, 31).Draw(t, "start day"), 1, 30, 0, 0, time.UTC)
	} else {
		spec.Cron = drawCron(t)
	}
	if spec.Cron != "" || rapid.Bool().Draw(t, "calendar") {
		spec.Calendar = drawCalendar(t, from)
		spec.OnNonBusinessDay = rapid.SampledFrom([]calendar.Policy{calendar.Next, calendar.Previous, calendar.Skip, calendar.Keep}).Draw(t, "policy")
	}
	s, err := schedule.Compile(spec)
	if err != nil {
		t.Skip(err)
	}
	return spec, s, from
}

func drawCalendar(t *rapid.T, around time.Time) *calendar.Calendar {
	spec := calendar.Spec{Country: rapid.SampledFrom([]string{"", "DE", "JP"}).Draw(t, "country")}
	for _, day := range rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 0, 5, rapid.ID).Draw(t, "weekend") {
		spec.Weekend = append(spec.Weekend, time.Weekday(day))
	}
	for _, day := range rapid.SliceOfN(rapid.IntRange(-5, 30), 0, 20).Draw(t, "holidays") {
		spec.Holidays = append(spec.Holidays, calendar.Holiday{Date: calendar.DateOf(around) + calendar.Date(day)})
	}
	for _, day := range rapid.SliceOfNDistinct(rapid.IntRange(-5, 30), 0, 5, rapid.ID).Draw(t, "early closes") {
		spec.EarlyCloses = append(spec.EarlyCloses, calendar.EarlyClose{Date: calendar.DateOf(around) + calendar.Date(day), Minute: rapid.IntRange(1, 1439).Draw(t, "minute")})
	}
	c, err := calendar.Of("test", spec)
	if err != nil {
		t.Skip(err)
	}
	return c
}

func TestBusinessDaysKeepTheOrderAndEveryWayToAsk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s, from := drawBusiness(t)
		to := from.AddDate(0, 0, rapid.IntRange(0, 40).Draw(t, "days"))
		whole := slices.Collect(s.Between(from, to))
		if len(whole) > 400 {
			whole = whole[:400]
			to = whole[399].Due
		}
		if got := collect(s, from, len(whole)); !slices.Equal(got, whole) {
			t.Fatalf("%+v from %s:\nNext    %v\nBetween %v", spec, from, got, whole)
		}
		if n := s.Count(from, to); n != len(whole) {
			t.Fatalf("%+v from %s to %s: Count = %d, Between has %d", spec, from, to, n, len(whole))
		}
		for i, o := range whole {
			checkOccurrence(t, spec, s, o)
			if got, ok := s.Previous(o.Due); !ok || got != o {
				t.Fatalf("%+v: Previous(%s) = %v, want %v", spec, o.Due, got, o)
			}
			if i == 0 {
				continue
			}
			if got, ok := s.Previous(o.Due.Add(-1)); !o.Due.After(whole[i-1].Due) || !ok || got != whole[i-1] {
				t.Fatalf("%+v: Previous(just before %s) = %v, want %v", spec, o.Due, got, whole[i-1])
			}
		}
		middle := from.Add(to.Sub(from) / 3)
		if parts := append(slices.Collect(s.Between(from, middle)), slices.Collect(s.Between(middle, to))...); !slices.Equal(parts, whole) {
			t.Fatalf("%+v from %s over %s to %s:\nwhole %v\nparts %v", spec, from, middle, to, whole, parts)
		}
		if a, b := s.Count(from, middle), s.Count(middle, to); a+b != len(whole) {
			t.Fatalf("%+v: %d and %d are not %d", spec, a, b, len(whole))
		}
	})
}

func checkOccurrence(t *rapid.T, spec schedule.Spec, s *schedule.Schedule, o schedule.Occurrence) {
	if shown := o.Due.Unix() + int64(offset(o.Due.In(s.Location()))); shown < wallSecond(o.Actual) {
		t.Fatalf("%+v: %v is early", spec, o)
	}
	if spec.Calendar == nil {
		if o.Actual != o.Nominal {
			t.Fatalf("%+v: %v is moved", spec, o)
		}
		return
	}
	open := func(w schedule.WallTime) bool {
		hour, minute, _ := w.Clock()
		return hour*60+minute < spec.Calendar.Closes(calendar.NewDate(w.Date()))
	}
	switch {
	case spec.OnNonBusinessDay == calendar.Keep:
		if o.Actual != o.Nominal || open(o.Nominal) != (o.Note.Day().Kind == schedule.DayUntouched) {
			t.Fatalf("%+v: %+v", spec, o)
		}
	case !open(o.Actual), open(o.Nominal) && o.Actual != o.Nominal && o.Note.Day().Merged == 0:
		t.Fatalf("%+v: %+v", spec, o)
	}
}

// The oracle takes what the schedule names without the calendar, moves each by stepping over the days, and sorts.
func TestMovesAgreeWithMovingEachByItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		around := time.Date(rapid.IntRange(2024, 2030).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 10, 0, 0, 0, 0, time.UTC)
		plain := schedule.Spec{Cron: drawCron(t)}
		if strings.HasPrefix(plain.Cron, "* ") {
			plain.Cron = "*/20" + plain.Cron[1:] // each is moved by itself, which takes its time
		}
		named, err := schedule.Compile(plain)
		if err != nil {
			t.Skip(err)
		}
		c := drawCalendar(t, around)
		policy := rapid.SampledFrom([]calendar.Policy{calendar.Next, calendar.Previous, calendar.Skip}).Draw(t, "policy")
		plain.Calendar, plain.OnNonBusinessDay = c, policy
		s, err := schedule.Compile(plain)
		if err != nil {
			t.Skip(err)
		}
		from, to := around.AddDate(0, 0, -3), around.AddDate(0, 0, 12)
		var want []int64
		for o := range named.Between(from.AddDate(0, 0, -45), to.AddDate(0, 0, 45)) {
			if at, ok := moved(c, policy, o.Due); ok && at.After(from) && !at.After(to) {
				want = append(want, at.Unix())
			}
		}
		slices.SortFunc(want, cmp.Compare)
		want = slices.Compact(want)
		var got []int64
		for o := range s.Between(from, to) {
			got = append(got, o.Due.Unix())
		}
		if !slices.Equal(got, want) || s.Count(from, to) != len(want) {
			t.Fatalf("%s %s: %d, counted %d, want %d", plain.Cron, policy, len(got), s.Count(from, to), len(want))
		}
	})
}

func moved(c *calendar.Calendar, policy calendar.Policy, at time.Time) (time.Time, bool) {
	step := map[calendar.Policy]int{calendar.Next: 1, calendar.Previous: -1}[policy]
	for at.Hour()*60+at.Minute() >= c.Closes(calendar.DateOf(at)) {
		if step == 0 {
			return at, false
		}
		at = at.AddDate(0, 0, step)
	}
	return at, true
}

func TestCountIsAsManyAsBetweenYields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec, s := drawSpec(t)
		from := drawInstant(t, s.Location(), "from")
		to := from.Add(time.Duration(rapid.Int64Range(-86400, 70*86400).Draw(t, "length")) * time.Second)
		if spec.Every != 0 && spec.Every < time.Minute {
			to = from.Add(time.Hour)
		}
		n := 0
		for range s.Between(from, to) {
			n++
		}
		if got := s.Count(from, to); got != n {
			t.Fatalf("%+v from %s to %s: Count = %d, Between has %d", spec, from, to, got, n)
		}
	})
}
