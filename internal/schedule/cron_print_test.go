package schedule

import (
	"testing"

	"pgregory.net/rapid"
)

// drawCompiled draws what parseCron can return, without a text.
func drawCompiled(t *rapid.T) (*cron, DayMatch) {
	set := func(label string, r *fieldRule) uint64 {
		switch all := r.all(); rapid.IntRange(0, 3).Draw(t, label+" form") {
		case 0:
			return all
		case 1:
			return r.every(rapid.IntRange(1, r.top()-r.lo+1).Draw(t, label+" step"))
		default:
			return 1<<rapid.IntRange(r.lo, r.top()).Draw(t, label+" value") | rapid.Uint64().Draw(t, label)&all
		}
	}
	match := rapid.SampledFrom([]DayMatch{"", DayMatchAny, DayMatchAll}).Draw(t, "dayMatch")
	c := &cron{
		minutes: set("minute", &cronFields[0]), hours: uint32(set("hour", &cronFields[1])),
		months: uint16(set("month", &cronFields[3])),
		days:   dayRule{month: uint32(set("day", &cronFields[2])), week: uint8(set("weekday", &cronFields[4]))},
	}
	if rapid.Bool().Draw(t, "specials") {
		d := &c.days
		d.last, d.lastWorkday = rapid.Bool().Draw(t, "L"), rapid.Bool().Draw(t, "LW")
		d.lastOf = rapid.Uint8().Draw(t, "last of") & allWeek
		d.nth[rapid.IntRange(0, 6).Draw(t, "nth day")] = rapid.Uint8().Draw(t, "nth") & 0b111110
	}
	starred := c.days.month>>1&1 == 1 || c.days.week&1 == 1
	c.days.both = match == DayMatchAll || starred && rapid.Bool().Draw(t, "both")
	c.interval = c.hours&1 == 1 && c.hours&(c.hours-1) != 0 && rapid.Bool().Draw(t, "interval")
	return c, match
}

func TestWhatIsPrintedIsReadAsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, match := drawCompiled(t)
		text := c.text(match)
		again, f := parseCron(text, match)
		if f != nil && f.never {
			t.Skip(f.reason)
		}
		if f != nil || *again != *c {
			t.Fatalf("%q with %q:\n from %+v\nreads %+v, %+v", text, match, c, again, f)
		}
	})
}
