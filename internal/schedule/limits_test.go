package schedule_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// No input takes more than 10 MB, nor seconds, which on a machine that does something else as well means that it takes less
// than 50 ms. What is counted by steps instead is in TestAnAnswerTakesABoundedNumberOfSteps.
func TestNoInputTakesLong(t *testing.T) {
	specs := map[string]schedule.Spec{
		"64 KiB of a list":      {Cron: strings.Repeat("1,", 32<<10)},
		"64 KiB of blanks":      {Cron: strings.Repeat(" ", 64<<10)},
		"the longest list":      {Cron: strings.Repeat("1,", 250) + "1 * * * *"},
		"the rarest day":        {Cron: "0 0 29 2 MON", DayMatch: schedule.DayMatchAll, TimeZone: "Asia/Gaza"},
		"the rarest that is":    {Cron: "0 0 29 2 FRI#5", DayMatch: schedule.DayMatchAll, TimeZone: "Africa/Casablanca"},
		"a day that never is":   {Cron: "0 0 LW * SAT", DayMatch: schedule.DayMatchAll},
		"February the 30th":     {Cron: "0 0 30,31 2 *"},
		"64 KiB of a zone":      {Cron: "@daily", TimeZone: strings.Repeat("x", 64<<10)},
		"a zone of no likeness": {Cron: "@daily", TimeZone: strings.Repeat("q", 64)},
		"64 KiB of a time":      {At: strings.Repeat("2", 64<<10)},
		"the last time":         {At: "9999-12-31T00:00:00", TimeZone: "America/New_York"},
		"every second":          {Every: time.Second, Origin: time.Unix(0, 0)},
		"ten thousand times":    {RRule: "FREQ=DAILY;COUNT=10000", Start: time.Unix(0, 0), TimeZone: "Asia/Gaza"},
		"as many, few are left": {RRule: "FREQ=MONTHLY;BYMONTHDAY=1;COUNT=10000", Start: time.Unix(0, 0), Calendar: business(t, "JP"), OnNonBusinessDay: calendar.Skip},
		"nothing is left":       {RRule: "FREQ=WEEKLY;BYDAY=SA", Calendar: business(t, "JP"), OnNonBusinessDay: calendar.Skip},
		"rarely a business day": {RRule: "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29", Calendar: business(t, "DE"), OnNonBusinessDay: calendar.Skip},
		"a year of holidays":    {Cron: "* * * * *", Calendar: closedForAYear(t), OnNonBusinessDay: calendar.Next},
		"and back":              {Cron: "* * * * *", Calendar: closedForAYear(t), OnNonBusinessDay: calendar.Previous},
		"seldom, and counted":   {RRule: "FREQ=MONTHLY;INTERVAL=7;BYMONTH=2;BYMONTHDAY=29;BYDAY=SA,SU;BYMINUTE=0,1,2,3,4,5,6,7,8,9;COUNT=10000", Start: time.Unix(0, 0), TimeZone: "Africa/El_Aaiun", Calendar: business(t, "JP")},
		"one weekday, never":    {RRule: "FREQ=DAILY;INTERVAL=7;BYDAY=SA,SU;BYMINUTE=0,10,20;BYSETPOS=3", Start: time.Unix(0, 0), TimeZone: "Africa/Casablanca"},
		"on days off only":      {RRule: "FREQ=WEEKLY;COUNT=10000;BYDAY=SA,SU,MO", Start: time.Unix(0, 0), Calendar: business(t, "JP"), OnNonBusinessDay: calendar.Skip},
		"a choice of a year":    {RRule: "FREQ=YEARLY;BYMONTHDAY=29;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5,6,7,8,9;BYSETPOS=31,-31;COUNT=10000", Start: time.Unix(0, 0), TimeZone: "Asia/Gaza", Calendar: closedForAYear(t)},
		"dense, on few days":    {RRule: "FREQ=WEEKLY;BYDAY=SA,SU,MO;BYHOUR=" + numbersUpTo(23) + ";BYMINUTE=" + numbersUpTo(59) + ";BYSETPOS=366,-366,1,-1;COUNT=10000", Start: time.Unix(0, 0), Calendar: business(t, "DE")},
		"every, from long ago":  {Every: time.Second, Origin: time.Date(-290000, 1, 1, 0, 0, 0, 0, time.UTC), TimeZone: "Asia/Gaza"},
		"every, in times to be": {Every: schedule.MaxEvery, Origin: time.Date(290000, 1, 1, 0, 0, 0, 0, time.UTC), TimeZone: "Asia/Gaza"},
		"64 KiB of a rule":      {RRule: strings.Repeat("A", 64<<10)},
		"64 KiB of an offset":   {Anchor: &schedule.Anchor{Attribute: "a", Offset: "P" + strings.Repeat("1", 64<<10) + "D", Time: "09:00"}},
	}
	for name, spec := range specs {
		shortest, bytes := time.Duration(math.MaxInt64), uint64(0)
		for range 5 {
			took, allocated := measure(func() { expand(spec) })
			shortest, bytes = min(shortest, took), allocated
		}
		if shortest > time.Second || bytes > 10<<20 {
			t.Errorf("%s: %s and %d bytes", name, shortest, bytes)
		}
	}
}

func numbersUpTo(n int) string {
	text := "0"
	for i := 1; i <= n; i++ {
		text += fmt.Sprint(",", i)
	}
	return text
}

// closedForAYear has 365 days without a business day, which is allowed.
func closedForAYear(t *testing.T) *calendar.Calendar {
	t.Helper()
	spec := calendar.Spec{}
	for d := date(t, "2026-12-01"); d < date(t, "2027-12-01"); d++ {
		spec.Holidays = append(spec.Holidays, calendar.Holiday{Date: d})
	}
	return compileCalendar(t, spec)
}

func expand(spec schedule.Spec) {
	s, err := schedule.Compile(spec)
	if err != nil {
		_ = err.Error()
		return
	}
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{{}, now, now.AddDate(5000, 0, 0)} {
		s.Next(at)
		s.Previous(at)
		s.Count(now, now.AddDate(5, 0, 0))
		s.CountDates(now, now.AddDate(5, 0, 0))
	}
}

func measure(do func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	do()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

func TestNextAndPreviousDoNotAllocate(t *testing.T) {
	now := time.Date(2026, 3, 8, 6, 59, 0, 0, time.UTC)
	for _, spec := range []schedule.Spec{
		{Cron: "30 2 * * *", TimeZone: "America/New_York"},
		{Cron: "0 0 29 2 *"},
		{Every: time.Hour, Origin: now, TimeZone: "Europe/Berlin"},
		{At: "2026-03-08T02:30:00", TimeZone: "America/New_York"},
		{RRule: "FREQ=MONTHLY;BYDAY=-1FR", TimeZone: "Europe/Berlin"},
		{Cron: "0 9 * * *", Calendar: business(t, "DE")},
		{RRule: "FREQ=DAILY", Calendar: business(t, "DE"), OnNonBusinessDay: calendar.Skip},
	} {
		s := compile(t, spec)
		if n := testing.AllocsPerRun(100, func() { s.Next(now); s.Previous(now); s.NextDate(now); s.PreviousDate(now) }); n != 0 {
			t.Errorf("%+v: %v allocations", spec, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for name, spec := range map[string]schedule.Spec{
		"daily":    {Cron: "0 9 * * *", TimeZone: "America/New_York"},
		"minutely": {Cron: "* * * * *", TimeZone: "America/New_York"},
		"leapDay":  {Cron: "0 9 29 2 *", TimeZone: "America/New_York"},
		"every":    {Every: 36 * time.Hour, Origin: time.Unix(0, 0)},
	} {
		b.Run(name, func(b *testing.B) {
			s := compile(b, spec)
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			after := start
			b.ReportAllocs()
			for b.Loop() {
				o, _ := s.Next(after)
				if after = o.Due; after.Year() > 2200 {
					after = start
				}
			}
		})
	}
}

// BenchmarkYear is a year's preview of each kind of schedule, the densest of which has 525,600 occurrences.
func BenchmarkYear(b *testing.B) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const zone = "America/New_York"
	for name, spec := range map[string]schedule.Spec{
		"minutely":         {Cron: "* * * * *", TimeZone: zone},
		"daily":            {Cron: "0 9 * * *", TimeZone: zone},
		"leapDay":          {Cron: "0 0 29 2 MON", DayMatch: schedule.DayMatchAll, TimeZone: zone},
		"rrule":            {RRule: "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYHOUR=9,17", TimeZone: zone},
		"rruleChoice":      {RRule: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1", TimeZone: zone},
		"rruleDense":       {RRule: "FREQ=DAILY;BYHOUR=" + numbersUpTo(23) + ";BYMINUTE=0,5,10,15,20,25,30,35,40,45,50,55", TimeZone: zone},
		"every":            {Every: time.Hour, Origin: from, TimeZone: zone},
		"everyMinute":      {Every: time.Minute, Origin: from, TimeZone: zone},
		"businessDays":     {Cron: "0 9 * * *", TimeZone: zone, Calendar: business(b, "US")},
		"businessMinutely": {Cron: "* * * * *", TimeZone: zone, Calendar: business(b, "US")},
		"rruleMinutely":    {RRule: "FREQ=DAILY;BYHOUR=" + numbersUpTo(23) + ";BYMINUTE=" + numbersUpTo(59), TimeZone: zone},
		"earlyMinutely":    {Cron: "* * * * *", TimeZone: zone, Calendar: closesEarly(b)},
		"keptMinutely":     {Cron: "* * * * *", TimeZone: zone, Calendar: business(b, "US"), OnNonBusinessDay: calendar.Keep},
		"businessHourly":   {Cron: "0 * * * *", TimeZone: zone, Calendar: business(b, "US")},
		"fourChanges":      {Cron: "30 2 * * *", TimeZone: "Africa/Casablanca", Overlap: schedule.OverlapBoth},
	} {
		b.Run(name, func(b *testing.B) {
			s := compile(b, spec)
			n := 0
			for b.Loop() {
				for range s.Between(from, from.AddDate(1, 0, 0)) {
					n++
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "occurrences/s")
		})
	}
}

// closesEarly is a calendar with an early close on two days of three.
func closesEarly(t testing.TB) *calendar.Calendar {
	t.Helper()
	var spec calendar.Spec
	first := calendar.NewDate(2026, time.January, 1)
	for d := range calendar.Date(365) {
		if d%3 != 0 {
			spec.EarlyCloses = append(spec.EarlyCloses, calendar.EarlyClose{Date: first + d, Minute: 600 + int(d)})
		}
	}
	c, err := calendar.Of("early", spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compile(b, schedule.Spec{Cron: "*/15 9-17 * * MON-FRI", TimeZone: "Europe/Berlin"})
	}
}

func BenchmarkRefuseZone(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := schedule.ResolveZone("europe/berlim"); err == nil {
			b.Fatal("accepted")
		}
	}
}

// BenchmarkCount counts what a minutely schedule missed in five years.
func BenchmarkCount(b *testing.B) {
	for name, c := range map[string]*calendar.Calendar{"plain": nil, "businessDays": business(b, "DE")} {
		b.Run(name, func(b *testing.B) {
			s := compile(b, schedule.Spec{Cron: "* * * * *", TimeZone: "America/New_York", Calendar: c})
			from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for b.Loop() {
				s.Count(from, from.AddDate(5, 0, 0))
			}
		})
	}
}
