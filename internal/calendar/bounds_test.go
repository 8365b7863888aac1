package calendar_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

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

// No file takes more than 10 MB, whether it is refused or not. Each of these is as large as it may be, or larger.
func TestNoFileCostsMuch(t *testing.T) {
	for name, text := range map[string]string{
		"events":                 events(1000, "SUMMARY:x"),
		"long names":             events(1000, "SUMMARY:"+strings.Repeat("x", 200)),
		"long events":            events(1000, "DURATION:P20D"),
		"parameters":             events(60, "RDATE"+strings.Repeat(";X=1", 900)+":20260101"),
		"values of a parameter":  events(60, "RDATE;X="+strings.Repeat("a,", 1900)+":20260101"),
		"quotes":                 events(60, "RDATE;X="+strings.Repeat(`"`, 1900)+":20260101"),
		"dates":                  events(60, "RDATE:"+strings.Repeat("20260101,", 330)+"20260101"),
		"exceptions":             events(50, "RRULE:FREQ=WEEKLY;COUNT=390\nEXDATE:"+strings.Repeat("20260101,", 400)+"20260101"),
		"rules that never occur": events(50, "RRULE:FREQ=DAILY;INTERVAL=7;BYDAY=SA,SU"),
		"rules that seldom do":   events(50, "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"),
		"rules that choose":      events(50, "RRULE:FREQ=YEARLY;COUNT=390;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,2,3,4,5,6,7,8,9,-1,-2,-3,-100,-200"),
		"moved events":           events(1000, "UID:1\nRECURRENCE-ID:20260101"),
		"folds":                  events(1, "DESCRIPTION:"+strings.Repeat("\n x", 300_000)),
		"alarms":                 events(1, strings.Repeat("BEGIN:A\nEND:A\n", 70_000)),
		"lines":                  strings.Repeat("A:\n", 340_000),
		"one line":               strings.Repeat("A", calendar.MaxICalendar),
		"10 MiB":                 strings.Repeat("A", 10<<20),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := calendar.Of("test", calendar.Spec{ICalendar: text})
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 10<<20 {
			t.Errorf("%s: %d bytes, %v", name, bytes, err)
		}
	}
}
