package calendar_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// events is an iCalendar file of n events, each with some lines of its own.
func events(n int, lines string) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\n")
	for i := range n {
		fmt.Fprintf(&b, "BEGIN:VEVENT\nUID:%d\nDTSTART:20260101\n%s\nEND:VEVENT\n", i, lines)
	}
	return b.String() + "END:VCALENDAR\n"
}

// No input takes more than 10 MB, nor seconds, which on a machine that does something else as well means that it takes less
// than 50 ms. Each of these is as large as it may be, or larger.
func TestNoCalendarTakesLong(t *testing.T) {
	line := func(text string, n int) string { return strings.Repeat(text+"\n", n) }
	exdates := line("EXDATE;VALUE=DATE:"+strings.TrimSuffix(strings.Repeat("20270101,", 400), ","), 250)
	rare := "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20000229\nRRULE:FREQ=DAILY;INTERVAL=%d;BYMONTH=2;BYMONTHDAY=29;BYDAY=TU\nEND:VEVENT\n"
	var rarities strings.Builder
	for i := range 50 {
		fmt.Fprintf(&rarities, rare, 9000+i)
	}
	specs := map[string]calendar.Spec{
		"10 MiB":                         {ICalendar: strings.Repeat("X", 10<<20)},
		"1 MiB of one line":              {ICalendar: "BEGIN:VCALENDAR\n" + strings.Repeat("X", 1<<20-100)},
		"1 MiB of a folded line":         {ICalendar: "BEGIN:VCALENDAR\nX:" + strings.Repeat("\n X", 340_000)},
		"1 MiB of a folded summary":      {ICalendar: "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:" + strings.Repeat("\n X", 340_000)},
		"1 MiB of begins":                {ICalendar: "BEGIN:VCALENDAR\n" + line("BEGIN:X", 100_000)},
		"1 MiB of parameters":            {ICalendar: file("DTSTART" + strings.Repeat(";A=B", 1000) + ":20270101\n" + exdates)},
		"all the exceptions that fit":    {ICalendar: file("DTSTART;VALUE=DATE:20270101\nRRULE:FREQ=DAILY;UNTIL=20800101\n" + exdates)},
		"1,000 events of many lines":     {ICalendar: "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nUID:1\nSUMMARY:A\nSTATUS:CONFIRMED\nDTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270102\nDESCRIPTION:"+strings.Repeat("x", 800)+"\nEND:VEVENT\n", 1000) + "END:VCALENDAR\n"},
		"1,001 events":                   {ICalendar: "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nDTSTART:20270101\nEND:VEVENT\n", 1001)},
		"repetitions from the year 1000": {ICalendar: file(strings.Repeat("DTSTART;VALUE=DATE:10000101\nRRULE:FREQ=DAILY;COUNT=10000\nEND:VEVENT\nBEGIN:VEVENT\n", 99) + "DTSTART:20270101")},
		"fifty rare repetitions":         {ICalendar: "BEGIN:VCALENDAR\n" + rarities.String() + "END:VCALENDAR\n"},
		"one event of all days":          {ICalendar: file("DTSTART;VALUE=DATE:19700101\nRRULE:FREQ=DAILY")},
		"events":                         {ICalendar: events(1000, "SUMMARY:x")},
		"long names":                     {ICalendar: events(1000, "SUMMARY:"+strings.Repeat("x", 200))},
		"long events":                    {ICalendar: events(1000, "DURATION:P20D")},
		"parameters":                     {ICalendar: events(60, "RDATE"+strings.Repeat(";X=1", 900)+":20260101")},
		"values of a parameter":          {ICalendar: events(60, "RDATE;X="+strings.Repeat("a,", 1900)+":20260101")},
		"quotes":                         {ICalendar: events(60, "RDATE;X="+strings.Repeat(`"`, 1900)+":20260101")},
		"dates":                          {ICalendar: events(60, "RDATE:"+strings.Repeat("20260101,", 330)+"20260101")},
		"exceptions":                     {ICalendar: events(50, "RRULE:FREQ=WEEKLY;COUNT=390\nEXDATE:"+strings.Repeat("20260101,", 400)+"20260101")},
		"rules that never occur":         {ICalendar: events(50, "RRULE:FREQ=DAILY;INTERVAL=7;BYDAY=SA,SU")},
		"rules that seldom do":           {ICalendar: events(50, "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29")},
		"rules that choose":              {ICalendar: events(50, "RRULE:FREQ=YEARLY;COUNT=390;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,2,3,4,5,6,7,8,9,-1,-2,-3,-100,-200")},
		"moved events":                   {ICalendar: events(1000, "UID:1\nRECURRENCE-ID:20260101")},
		"folds":                          {ICalendar: events(1, "DESCRIPTION:"+strings.Repeat("\n x", 300_000))},
		"alarms":                         {ICalendar: events(1, strings.Repeat("BEGIN:A\nEND:A\n", 70_000))},
		"lines":                          {ICalendar: strings.Repeat("A:\n", 340_000)},
		"one line":                       {ICalendar: strings.Repeat("A", calendar.MaxICalendar)},
		"all of Germany and 1,000 days":  {Country: "DE", Region: "DE-BY", Weekend: weekend, Holidays: make([]calendar.Holiday, 1000)},
	}
	for name, spec := range specs {
		shortest, bytes := time.Hour, uint64(0)
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			_, err := calendar.Of("test", spec)
			shortest = min(shortest, time.Since(begin))
			runtime.ReadMemStats(&after)
			bytes = after.TotalAlloc - before.TotalAlloc
			if err != nil && len(err.Error()) > 600 {
				t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
			}
		}
		t.Logf("%s: %s, %d KiB", name, shortest, bytes>>10)
		if shortest > time.Second || bytes > 10<<20 {
			t.Errorf("%s: %s and %d bytes", name, shortest, bytes)
		}
	}
}
