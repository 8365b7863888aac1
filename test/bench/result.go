package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// lateness is how late each reminder was, in order, and when the last one was through.
type lateness struct {
	sorted []time.Duration
}

func newLateness(all []time.Duration) lateness {
	all = slices.Clone(all)
	slices.Sort(all)
	return lateness{all}
}

// at is a quantile by the nearest rank, such as 0.99; 0 without data.
func (l lateness) at(q float64) time.Duration {
	if len(l.sorted) == 0 {
		return 0
	}
	rank := int(q*float64(len(l.sorted))+0.999999) - 1
	return l.sorted[min(max(rank, 0), len(l.sorted)-1)]
}

// rate is reminders a second from the due time to the last outcome.
func (l lateness) rate() float64 {
	if last := l.at(1); last > 0 {
		return float64(len(l.sorted)) / last.Seconds()
	}
	return 0
}

func (l lateness) String() string {
	return fmt.Sprintf("p50=%dms p99=%dms max=%dms through=%.0f/s",
		l.at(0.5).Milliseconds(), l.at(0.99).Milliseconds(), l.at(1).Milliseconds(), l.rate())
}

// result is what a run has found.
type result struct {
	late     lateness
	raw      lateness
	early    int
	planned  time.Duration // from the first object to the last message schedule
	settled  time.Duration // from the due time to the last right status
	rss      int64         // of the controller with all schedules, bytes
	peak     int64
	problems []string
}

func (r *result) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *result) print(out io.Writer, o options) {
	fmt.Fprintf(out, "\n%d schedules × %d recipients = %d reminders, %d channels of type Log, %d in flight per worker\n",
		o.schedules, o.recipients, o.reminders(), o.channels, o.concurrency)
	fmt.Fprintf(out, "planned and scheduled in NATS within %s of the first object; all status right %s after the due time\n",
		r.planned.Round(100*time.Millisecond), r.settled.Round(100*time.Millisecond))
	fmt.Fprintf(out, "product lateness: %s early=%d\n", r.late, r.early)
	for _, problem := range r.problems {
		fmt.Fprintln(out, "bench: problem:", problem)
	}
	if o.raw {
		fmt.Fprintf(out, "raw NATS loop:    %s\n", r.raw)
		fmt.Fprintf(out, "bench: throughput-%d product=%.0f/s raw=%.0f/s ratio=%.2f\n", o.schedules, r.late.rate(), r.raw.rate(), r.late.rate()/r.raw.rate())
		p99, raw := r.late.at(0.99), r.raw.at(0.99)
		fmt.Fprintf(out, "bench: schedules-%d product=%dms raw=%dms ratio=%.2f\n", o.schedules, p99.Milliseconds(), raw.Milliseconds(), p99.Seconds()/raw.Seconds())
	}
	fmt.Fprintf(out, "bench: memory controller-rss=%dMiB schedules=%d\n", r.rss>>20, o.schedules)
}
