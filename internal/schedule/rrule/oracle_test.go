package rrule_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	oracle "github.com/teambition/rrule-go"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/schedule/rrule"
)

// drawList draws values of a BY part, sometimes none.
func drawList(t *rapid.T, name string, values *rapid.Generator[int], often int) string {
	if rapid.IntRange(0, 9).Draw(t, name+" there") >= often {
		return ""
	}
	list := rapid.SliceOfNDistinct(values, 1, 4, rapid.ID).Draw(t, name)
	return ";" + name + "=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

func signed(n int) *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		return rapid.IntRange(1, n).Draw(t, "n") * rapid.SampledFrom([]int{1, -1}).Draw(t, "sign")
	})
}

// drawRule draws a rule, of the kind that the library agrees on: it joins MO and 2TU by and, not by or; it panics over
// numbers from the end beyond those of a month; its first week is cut short, which matters to BYSETPOS only.
func drawRule(t *rapid.T) (text string, start int64) {
	freq := rapid.SampledFrom([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}).Draw(t, "freq")
	text = "FREQ=" + freq
	if n := rapid.IntRange(1, 5).Draw(t, "interval"); n > 1 {
		text += fmt.Sprintf(";INTERVAL=%d", n)
	}
	text += drawList(t, "BYMONTH", rapid.IntRange(1, 12), 4)
	monthly := freq == "MONTHLY" || freq == "YEARLY"
	if freq != "WEEKLY" {
		text += drawList(t, "BYMONTHDAY", signed(31), 3)
	}
	if rapid.Bool().Draw(t, "byday") {
		days := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}), 1, 3, rapid.ID).Draw(t, "days")
		if monthly && rapid.Bool().Draw(t, "numbered") {
			for i := range days {
				days[i] = fmt.Sprint(signed(4).Draw(t, "number"), days[i])
			}
		}
		text += ";BYDAY=" + strings.Join(days, ",")
	}
	text += drawList(t, "BYHOUR", rapid.IntRange(0, 23), 4) + drawList(t, "BYMINUTE", rapid.IntRange(0, 59), 4)
	if strings.Contains(text, "BY") && freq != "WEEKLY" {
		text += drawList(t, "BYSETPOS", signed(5), 3)
	}
	if rapid.Bool().Draw(t, "wkst") {
		text += ";WKST=" + rapid.SampledFrom([]string{"SU", "MO", "TH"}).Draw(t, "week start")
	}
	return text, rapid.Int64Range(0, 4_000_000_000).Draw(t, "start") / 60 * 60
}

func TestTheRulesAgreeWithTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, start := drawRule(t)
		r, err := rrule.Compile(text, start, true)
		if err != nil {
			t.Skip(err)
		}
		option, err := oracle.StrToROption(text)
		if err != nil {
			t.Fatal(err)
		}
		option.Dtstart = time.Unix(start, 0).UTC()
		option.Until = option.Dtstart.AddDate(40, 0, 0)
		theirs, err := oracle.NewRRule(*option)
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for next := theirs.Iterator(); len(want) < 50; {
			at, ok := next()
			if !ok {
				break
			}
			want = append(want, at.Unix())
		}
		if got := hits(r, math.MinInt64, len(want)); !slices.Equal(got, want) {
			t.Fatalf("%s from %s:\n got %v\nwant %v", text, shown(start), times(got), times(want))
		}
	})
}

func times(all []int64) (texts []string) {
	for _, w := range all {
		texts = append(texts, shown(w))
	}
	return texts
}

// anyRule draws also what the library gets wrong.
func anyRule(t *rapid.T) (string, *rrule.Rule) {
	text, start := drawRule(t)
	switch rapid.IntRange(0, 5).Draw(t, "more") {
	case 0:
		text = "FREQ=YEARLY;BYDAY=MO," + fmt.Sprint(signed(53).Draw(t, "nth")) + "TU"
	case 1:
		text = "FREQ=WEEKLY;BYDAY=MO,WE,SA;BYSETPOS=" + fmt.Sprint(signed(3).Draw(t, "position"))
	case 2:
		text += ";UNTIL=" + time.Unix(start, 0).UTC().AddDate(rapid.IntRange(0, 9).Draw(t, "years"), 1, 0).Format("20060102T150405")
	}
	r, err := rrule.Compile(text, start, true)
	if err != nil {
		t.Skip(err)
	}
	return text, r
}

func TestPreviousGoesBackTheWayThatNextCame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, r := anyRule(t)
		from := rapid.Int64Range(-1_000_000_000, 8_000_000_000).Draw(t, "from")
		all := hits(r, from, 40)
		for i, w := range all {
			if i > 0 && w <= all[i-1] {
				t.Fatalf("%s: %s after %s", text, shown(w), shown(all[i-1]))
			}
			if got, ok := r.Previous(w); !ok || got != w {
				t.Fatalf("%s: Previous(%s) = %s, %v", text, shown(w), shown(got), ok)
			}
			if i == 0 {
				continue
			}
			if got, ok := r.Previous(w - 1); !ok || got != all[i-1] {
				t.Fatalf("%s: Previous(before %s) = %s, want %s", text, shown(w), shown(got), shown(all[i-1]))
			}
		}
		if got, ok := r.Previous(from - 1); ok && len(all) > 0 {
			if next, _ := r.Next(got + 1); next != all[0] {
				t.Fatalf("%s: after %s comes %s, want %s", text, shown(got), shown(next), shown(all[0]))
			}
		}
	})
}

func TestCountIsTheNumberOfHits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, r := anyRule(t)
		all := hits(r, rapid.Int64Range(-1_000_000_000, 8_000_000_000).Draw(t, "from"), 60)
		if len(all) == 0 {
			return
		}
		i := rapid.IntRange(0, len(all)-1).Draw(t, "first")
		j := rapid.IntRange(i, len(all)-1).Draw(t, "last")
		for _, edge := range []int64{0, 1} {
			from, upTo := all[i]+edge, all[j]-edge
			if got, want := r.Count(from, upTo), max(0, j-i+1-2*int(edge)); got != want && from <= upTo {
				t.Fatalf("%s from %s to %s: %d, want %d", text, shown(from), shown(upTo), got, want)
			}
		}
	})
}

// The start is a bound and the anchor of INTERVAL: what comes after it does not depend on where a search begins.
func TestARuleIsTheSameFromWhereverItIsAsked(t *testing.T) {
	t.Parallel()
	r := compile(t, "FREQ=DAILY;INTERVAL=3;BYMONTH=1,7", "2020-01-02T08:30:15")
	for _, from := range []string{"2020-01-01T00:00:00", "2020-01-02T08:30:16", "2026-07-01T00:00:00", "9999-01-01T00:00:00"} {
		w, ok := r.Next(wall(t, from))
		if days := (w - wall(t, "2020-01-02T08:30:15")) / 86400; !ok || days%3 != 0 || !strings.HasSuffix(shown(w), "T08:30:15") {
			t.Errorf("from %s: %s, %v", from, shown(w), ok)
		}
	}
}
