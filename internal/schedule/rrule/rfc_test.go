package rrule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule/rrule"
)

const layout = "2006-01-02T15:04:05"

func wall(t testing.TB, text string) int64 {
	t.Helper()
	at, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}

func shown(w int64) string { return time.Unix(w, 0).UTC().Format(layout) }

func compile(t testing.TB, text, start string) *rrule.Rule {
	t.Helper()
	at := int64(0)
	if start != "" {
		at = wall(t, start)
	}
	r, err := rrule.Compile(text, at, start != "")
	if err != nil {
		t.Fatalf("Compile(%q, %s): %v", text, start, err)
	}
	return r
}

// hits returns the first n hits of a rule, as many as COUNT has it if that is less.
func hits(r *rrule.Rule, from int64, n int) []int64 {
	var all []int64
	if r.Limit() > 0 {
		n = min(n, r.Limit())
	}
	for len(all) < n {
		w, ok := r.Next(from)
		if !ok {
			break
		}
		all = append(all, w)
		from = w + 1
	}
	return all
}

// The examples of RFC 5545, section 3.8.5.3, that the grammar has, in the words of the standard. They begin at
// 1997-09-02T09:00:00 unless they say otherwise. Dates are as the standard lists them: year month days, then the next
// month; "…" after the last that is listed, none where the standard says that the rule ends.
func TestTheExamplesOfTheStandard(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule  string
		start string // "1997-09-02T09:00:00" if empty
		want  string
		clock []string // "09:00:00" if empty
	}{
		"daily for 10 occurrences":                  {rule: "FREQ=DAILY;COUNT=10", want: "1997 9 2-11"},
		"every other day":                           {rule: "FREQ=DAILY;INTERVAL=2", want: "1997 9 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30 10 2,4,6 …"},
		"every 10 days, 5 occurrences":              {rule: "FREQ=DAILY;INTERVAL=10;COUNT=5", want: "1997 9 2,12,22 10 2,12"},
		"every day in January, for 3 years":         {rule: "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", start: "1998-01-01T09:00:00", want: "1998 1 1-31 1999 1 1-31 2000 1 1-31 …"},
		"every day in January, said daily":          {rule: "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", start: "1998-01-01T09:00:00", want: "1998 1 1-31 1999 1 1-31 2000 1 1-31 …"},
		"weekly for 10 occurrences":                 {rule: "FREQ=WEEKLY;COUNT=10", want: "1997 9 2,9,16,23,30 10 7,14,21,28 11 4"},
		"every other week":                          {rule: "FREQ=WEEKLY;INTERVAL=2;WKST=SU", want: "1997 9 2,16,30 10 14,28 11 11,25 12 9,23 1998 1 6,20 2 3,17 …"},
		"weekly on Tuesday and Thursday, 5 weeks":   {rule: "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", want: "1997 9 2,4,9,11,16,18,23,25,30 10 2"},
		"the same, until a local time":              {rule: "FREQ=WEEKLY;UNTIL=19971007T000000;WKST=SU;BYDAY=TU,TH", want: "1997 9 2,4,9,11,16,18,23,25,30 10 2"},
		"every other week on Mo, We and Fr":         {rule: "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000;WKST=SU;BYDAY=MO,WE,FR", start: "1997-09-01T09:00:00", want: "1997 9 1,3,5,15,17,19,29 10 1,3,13,15,17,27,29,31 11 10,12,14,24,26,28 12 8,10,12,22"},
		"every other week on Tu and Th, 8 times":    {rule: "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", want: "1997 9 2,4,16,18,30 10 2,14,16"},
		"monthly on the first Friday, 10 times":     {rule: "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", start: "1997-09-05T09:00:00", want: "1997 9 5 10 3 11 7 12 5 1998 1 2 2 6 3 6 4 3 5 1 6 5"},
		"monthly on the first Friday until 24 Dec":  {rule: "FREQ=MONTHLY;UNTIL=19971224T000000;BYDAY=1FR", start: "1997-09-05T09:00:00", want: "1997 9 5 10 3 11 7 12 5"},
		"every other month, first and last Sunday":  {rule: "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", start: "1997-09-07T09:00:00", want: "1997 9 7,28 11 2,30 1998 1 4,25 3 1,29 5 3,31"},
		"the second to last Monday, 6 months":       {rule: "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", start: "1997-09-22T09:00:00", want: "1997 9 22 10 20 11 17 12 22 1998 1 19 2 16"},
		"the third to last day of the month":        {rule: "FREQ=MONTHLY;BYMONTHDAY=-3", start: "1997-09-28T09:00:00", want: "1997 9 28 10 29 11 28 12 29 1998 1 29 2 26 …"},
		"monthly on the 2nd and 15th, 10 times":     {rule: "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", want: "1997 9 2,15 10 2,15 11 2,15 12 2,15 1998 1 2,15"},
		"monthly on the first and last day":         {rule: "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", start: "1997-09-30T09:00:00", want: "1997 9 30 10 1,31 11 1,30 12 1,31 1998 1 1,31 2 1"},
		"every 18 months on the 10th to 15th":       {rule: "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", start: "1997-09-10T09:00:00", want: "1997 9 10-15 1999 3 10-13"},
		"every Tuesday, every other month":          {rule: "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", want: "1997 9 2,9,16,23,30 11 4,11,18,25 1998 1 6,13,20,27 3 3,10,17,24,31 …"},
		"yearly in June and July, 10 times":         {rule: "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", start: "1997-06-10T09:00:00", want: "1997 6 10 7 10 1998 6 10 7 10 1999 6 10 7 10 2000 6 10 7 10 2001 6 10 7 10"},
		"every other year in Jan, Feb and March":    {rule: "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3", start: "1997-03-10T09:00:00", want: "1997 3 10 1999 1 10 2 10 3 10 2001 1 10 2 10 3 10 2003 1 10 2 10 3 10"},
		"every 20th Monday of the year":             {rule: "FREQ=YEARLY;BYDAY=20MO", start: "1997-05-19T09:00:00", want: "1997 5 19 1998 5 18 1999 5 17 …"},
		"every Thursday in March":                   {rule: "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", start: "1997-03-13T09:00:00", want: "1997 3 13,20,27 1998 3 5,12,19,26 1999 3 4,11,18,25 …"},
		"every Thursday in June, July and August":   {rule: "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8", start: "1997-06-05T09:00:00", want: "1997 6 5,12,19,26 7 3,10,17,24,31 8 7,14,21,28 1998 6 4,11,18,25 7 2,9,16,23,30 8 6,13,20,27 …"},
		"every Friday the 13th":                     {rule: "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", want: "1998 2 13 3 13 11 13 1999 8 13 2000 10 13 …"},
		"the Saturday after the first Sunday":       {rule: "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", start: "1997-09-13T09:00:00", want: "1997 9 13 10 11 11 8 12 13 1998 1 10 2 7 3 7 4 11 5 9 6 13 …"},
		"the US election day":                       {rule: "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", start: "1996-11-05T09:00:00", want: "1996 11 5 2000 11 7 2004 11 2 …"},
		"the third of Tuesday to Thursday, 3 times": {rule: "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", start: "1997-09-04T09:00:00", want: "1997 9 4 10 7 11 6"},
		"the second to last weekday of the month":   {rule: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", start: "1997-09-29T09:00:00", want: "1997 9 29 10 30 11 27 12 30 1998 1 29 2 26 3 30 …"},
		"every 20 minutes from 9 to 16:40":          {rule: "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", want: "1997 9 2,3 …", clock: clocks(9, 16, 20)},
		"a week that begins on Monday":              {rule: "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", start: "1997-08-05T09:00:00", want: "1997 8 5,10,19,24"},
		"a week that begins on Sunday":              {rule: "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", start: "1997-08-05T09:00:00", want: "1997 8 5,17,19,31"},
		"an invalid date is left out":               {rule: "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", start: "2007-01-15T09:00:00", want: "2007 1 15,30 2 15 3 15,30"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := test.start
			if start == "" {
				start = "1997-09-02T09:00:00"
			}
			want, more := listed(test.want, test.clock)
			r := compile(t, test.rule, start)
			var got []string
			for _, w := range hits(r, wall(t, start), len(want)+1) {
				got = append(got, shown(w))
			}
			if more && len(got) > len(want) {
				got = got[:len(want)]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s\n got %v\nwant %v", test.rule, got, want)
			}
		})
	}
}

func clocks(from, to, step int) (all []string) {
	for minute := from * 60; minute < (to+1)*60; minute += step {
		all = append(all, fmt.Sprintf("%02d:%02d:00", minute/60, minute%60))
	}
	return all
}

// listed expands "1997 9 2,4 10 2-3 …".
func listed(text string, clock []string) (all []string, more bool) {
	if clock == nil {
		clock = []string{"09:00:00"}
	}
	year, month := 0, 0
	for i, word := range strings.Fields(text) {
		var n, m int
		switch {
		case word == "…":
			return all, true
		case len(word) == 4 && !strings.ContainsAny(word, ",-"):
			_, _ = fmt.Sscan(word, &year)
			month = 0
		case month == 0 || i > 0 && month < 0:
			_, _ = fmt.Sscan(word, &month)
		default:
			for element := range strings.SplitSeq(word, ",") {
				if k, _ := fmt.Sscanf(element, "%d-%d", &n, &m); k < 2 {
					m = n
				}
				for ; n <= m; n++ {
					for _, c := range clock {
						all = append(all, fmt.Sprintf("%04d-%02d-%02dT%s", year, month, n, c))
					}
				}
			}
			month = 0
		}
	}
	return all, false
}
