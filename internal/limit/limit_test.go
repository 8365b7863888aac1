package limit_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/limit"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	w := limit.NewWindow(32)
	for range 32 { // all that were under way when the receiver had enough
		w = w.Told(throttled)
	}
	if w.Limit() != 16 {
		t.Errorf("after one window of refusals: %d, want 16", w.Limit())
	}
	for range 16 {
		w = w.Told(accepted)
	}
	if got := w.Limit(); got != 16 && got != 17 {
		t.Errorf("after a window of acceptances: %d, want one more", got)
	}
	for range 10_000 {
		w = w.Told(accepted)
	}
	if w.Limit() != 32 {
		t.Errorf("in the end: %d, want 32", w.Limit())
	}
	if got := limit.NewWindow(32).Resized(8).Resized(64).Limit(); got != 64 {
		t.Errorf("a window that was wide open became %d, want 64", got)
	}
	if got := w.Restarted().Limit(); got != 1 {
		t.Errorf("after a pause: %d, want 1", got)
	}
}

// A window is never closed, never wider than allowed, and opens again.
func TestWindowProperties(t *testing.T) {
	t.Parallel()
	results := []reminder.Result{accepted, failing, refused, gone, greylist, invalid, silence, throttled, asked}
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 64).Draw(t, "most")
		w := limit.NewWindow(most)
		for range rapid.IntRange(0, 300).Draw(t, "outcomes") {
			before := w.Limit()
			r := rapid.SampledFrom(results).Draw(t, "result")
			if w = w.Told(r); w.Limit() < 1 || w.Limit() > max(most, 1) {
				t.Fatalf("limit %d of %d", w.Limit(), most)
			}
			if r.Outcome != reminder.Accepted && w.Limit() > before || w.Limit() < before/2 {
				t.Fatalf("%d became %d after %+v", before, w.Limit(), r)
			}
		}
		for range max(most, 1) * max(most, 1) {
			w = w.Told(accepted)
		}
		if w.Limit() != max(most, 1) {
			t.Fatalf("stays at %d of %d", w.Limit(), most)
		}
	})
}

// In no stretch of time does a bucket give more than its burst and what the rate
// adds, however its settings and the clock move.
func TestBucketProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate, burst := float64(rapid.IntRange(1, 1000).Draw(t, "rate")), float64(rapid.IntRange(1, 100).Draw(t, "burst"))
		b, now := limit.Bucket{}.Set(rate, burst, nine), nine
		var given []time.Time
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "ms")) * time.Millisecond)
			switch part := rapid.Float64Range(0, 1).Draw(t, "part"); {
			case part < 0.1:
				b = b.Set(rate*part, max(burst*part, 1), now) // a smaller part
				b = b.Set(rate, burst, now)
			default:
				next, wait := b.Take(now)
				if b = next; wait == 0 {
					given = append(given, now)
				} else if after, again := b.Take(now.Add(wait)); again > time.Second || wait < time.Second && again > 0 {
					t.Fatalf("waiting for %s brings no token: %+v", wait, after)
				}
			}
		}
		for i := range given {
			for k := i; k < len(given); k++ {
				if most := burst + rate*given[k].Sub(given[i]).Seconds() + 1e-6; float64(k-i+1) > most+1 {
					t.Fatalf("%d tokens in %s, at most %f", k-i+1, given[k].Sub(given[i]), most)
				}
			}
		}
	})
}

func TestBucketEdges(t *testing.T) {
	t.Parallel()
	if _, wait := (limit.Bucket{}).Take(nine); wait != time.Second {
		t.Errorf("one without a part waits %s", wait)
	}
	b := limit.Bucket{}.Set(10, 5, nine)
	if _, wait := b.Take(nine); wait == 0 {
		t.Error("one that was just made gives a token: a worker that starts would add a burst")
	}
	b, _ = b.Take(nine.Add(time.Hour))
	taken := 1
	for wait := time.Duration(0); wait == 0; taken++ {
		b, wait = b.Take(nine.Add(time.Hour))
	}
	if taken-1 != 5 {
		t.Errorf("%d at once after an hour, want the burst of 5", taken-1)
	}
	if _, wait := b.Take(nine); wait == 0 {
		t.Error("a clock that was put back brings tokens")
	}
	if _, wait := b.Back().Take(nine); wait != 0 {
		t.Error("a token that was given back is lost")
	}
}

// However workers come, go and write by compare-and-set, their parts never add up
// to more than the whole, and in the end each has an equal one.
func TestDivideProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var stakes []reminder.Stake
		now := nine
		name := func(i int) string { return "w" + strconv.Itoa(i) }
		whole := func() (sum int) {
			for _, s := range stakes {
				sum += s.Parts
			}
			return sum
		}
		for range rapid.IntRange(1, 100).Draw(t, "renewals") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40_000).Draw(t, "ms")) * time.Millisecond)
			who, before := name(rapid.IntRange(0, 6).Draw(t, "worker")), stakes
			stakes = limit.Divide(stakes, who, now)
			if rapid.Bool().Draw(t, "busy") {
				stakes = limit.Keep(stakes, who, min(limit.PartsOf(before, who), rapid.IntRange(0, reminder.Whole).Draw(t, "occupied")))
			}
			if whole() > reminder.Whole {
				t.Fatalf("the parts add up to %d: %+v", whole(), stakes)
			}
		}
		n := rapid.IntRange(1, 100).Draw(t, "workers in the end")
		now = now.Add(limit.Expiry)
		for range 2 { // rounds
			for i := range n {
				stakes = limit.Divide(stakes, name(i), now)
			}
		}
		for i := range n {
			if got := limit.PartsOf(stakes, name(i)); len(stakes) != n || got != reminder.Whole/n {
				t.Fatalf("%s of %d has %d", name(i), n, got)
			}
		}
	})
}

func TestPart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ number, parts, want int }{
		{20, reminder.Whole, 20}, {20, reminder.Whole / 3, 6}, {2, reminder.Whole / 3, 1}, {20, 0, 0}, {100_000, reminder.Whole / 100, 1000},
	} {
		if got := limit.Part(tt.number, tt.parts); got != tt.want {
			t.Errorf("%d parts of %d: %d, want %d", tt.parts, tt.number, got, tt.want)
		}
	}
	for _, tt := range []struct{ underWay, limit, want int }{{0, 3, 0}, {1, 3, 333_334}, {3, 3, reminder.Whole}, {9, 3, reminder.Whole}, {5, 0, 0}} {
		if got := limit.Occupied(tt.underWay, tt.limit); got != tt.want {
			t.Errorf("%d of %d take up %d, want %d", tt.underWay, tt.limit, got, tt.want)
		}
	}
	left := limit.Without([]reminder.Stake{{Name: "a"}, {Name: "b"}}, "a")
	if diff := cmp.Diff([]reminder.Stake{{Name: "b"}}, left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// job is what waits in a line of the tests.
type job struct {
	flow string
	n    int
}

func always(job) bool { return true }

func TestFlowsTakeTurns(t *testing.T) {
	t.Parallel()
	var l limit.Line[job]
	for i := range 4 {
		l.Push("flood", job{"flood", i})
	}
	l.Push("small", job{"small", 0})
	l.Push("other", job{"other", 0})
	l.Push("other", job{"other", 1})
	var got []string
	for j, ok := l.Pop(always); ok; j, ok = l.Pop(always) {
		got = append(got, j.flow+strconv.Itoa(j.n))
	}
	if diff := cmp.Diff([]string{"flood0", "small0", "other0", "flood1", "other1", "flood2", "flood3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := l.Pop(always); ok || l.Len() != 0 {
		t.Errorf("%d wait in an empty line", l.Len())
	}
}

func TestWhoMayNotGoHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	var l limit.Line[job]
	l.Push("a", job{"a", 0})
	l.Push("b", job{"b", 0})
	if j, ok := l.Pop(func(j job) bool { return j.flow != "a" }); !ok || j.flow != "b" {
		t.Errorf("got %v, %t", j, ok)
	}
	if j, ok := l.Pop(always); !ok || j.flow != "a" {
		t.Errorf("got %v, %t", j, ok)
	}
}

// A line loses and doubles nothing, keeps the order within a flow, and lets no
// flow go twice while another that waited before could go.
func TestLineProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l limit.Line[job]
		in, out, last := map[string]int{}, map[job]bool{}, map[string]int{}
		since := map[string][]string{} // per waiting flow, who went since it began to wait
		note := func(j job, popped bool) {
			if out[j] {
				t.Fatalf("%v came out twice", j)
			}
			if out[j] = true; popped && j.n < last[j.flow] {
				t.Fatalf("%v came after %d", j, last[j.flow])
			}
			if popped {
				last[j.flow] = j.n
			}
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "flow")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				for _, j := range l.Take(func(j job) bool { return j.n%3 == 0 }) {
					note(j, false)
				}
			case 1:
				for _, j := range l.Tail() {
					note(j, false)
				}
			case 2, 3, 4:
				j, ok := l.Pop(always)
				if !ok {
					break
				}
				note(j, true)
				delete(since, j.flow)
				for other := range since {
					if slices.Contains(since[other], j.flow) {
						t.Fatalf("%s went twice while %s waited", j.flow, other)
					} else {
						since[other] = append(since[other], j.flow)
					}
				}
			default:
				in[name]++
				l.Push(name, job{name, in[name]})
			}
			for _, f := range []string{"a", "b", "c", "d"} {
				if _, ok := since[f]; !l.Has(f) {
					delete(since, f)
				} else if !ok {
					since[f] = nil
				}
			}
		}
		waiting := 0
		l.Each(func(j job) { waiting++ })
		total := 0
		for _, n := range in {
			total += n
		}
		if waiting != l.Len() || waiting+len(out) != total {
			t.Fatalf("%d wait (%d), %d came out, of %d", waiting, l.Len(), len(out), total)
		}
	})
}
