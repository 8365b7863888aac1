package plugin

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/reminder-operator/reminder-operator/internal/audit"
)

// auditSummary is the document that an audit prints as JSON.
type auditSummary struct {
	SchemaVersion int       `json:"schemaVersion"`
	Time          time.Time `json:"time"` // when it began, by the clock of NATS
	Equal         bool      `json:"equal"`
	// Receiver: the log of a receiver was compared too.
	Receiver bool `json:"receiver"`

	Due        int64  `json:"due"`
	Sent       int64  `json:"sent"`
	Dead       int64  `json:"dead"`
	Cancelled  int64  `json:"cancelled"`
	Pending    int64  `json:"pending"`
	Lost       int64  `json:"lost"`
	Duplicates *int64 `json:"duplicates"` // null without the log of a receiver
	Counters   string `json:"counters"`

	Schedules []audit.Report `json:"schedules"`
}

func addUp(reports []audit.Report, receiver bool, began time.Time) auditSummary {
	s := auditSummary{SchemaVersion: 1, Time: began.Truncate(time.Second), Equal: true, Receiver: receiver, Counters: audit.Exact, Schedules: []audit.Report{}}
	if receiver {
		s.Duplicates = new(int64)
	}
	for _, r := range reports {
		s.Due, s.Sent, s.Dead, s.Cancelled = s.Due+r.Due, s.Sent+r.Sent, s.Dead+r.Dead, s.Cancelled+r.Cancelled
		s.Pending, s.Lost = s.Pending+r.Pending, s.Lost+r.Lost
		if receiver && r.Duplicates != nil {
			*s.Duplicates += *r.Duplicates
		}
		if r.Counters == audit.Differing || r.Counters == audit.Consistent && s.Counters == audit.Exact {
			s.Counters = r.Counters
		}
		s.Equal = s.Equal && r.Equal()
		s.Schedules = append(s.Schedules, r)
	}
	return s
}

func (s auditSummary) print(output string, streams genericclioptions.IOStreams) error {
	if output == "json" {
		return lines(streams.Out).Encode(s)
	}
	table := [][]string{{"SCHEDULE", "DUE", "SENT", "DEAD", "CANCELLED", "PENDING", "LOST", "DUPLICATES", "COUNTERS", "PROVEN"}}
	for _, r := range s.Schedules {
		table = append(table, []string{
			r.Namespace + "/" + r.Schedule, decimal(r.Due), decimal(r.Sent), decimal(r.Dead), decimal(r.Cancelled), decimal(r.Pending), decimal(r.Lost),
			perhaps(r.Duplicates), r.Counters, provenOf(r),
		})
	}
	if len(s.Schedules) > 0 {
		if err := align(streams.Out, table); err != nil {
			return err
		}
	}
	for _, r := range s.Schedules {
		for _, f := range r.Findings {
			fmt.Fprintf(streams.Out, "%s/%s: %s: %s: %s\n", r.Namespace, r.Schedule, f.Kind, clean(f.Key), clean(f.Detail))
		}
		if more := r.Differences - int64(len(r.Findings)); more > 0 {
			fmt.Fprintf(streams.Out, "%s/%s: %d more differences\n", r.Namespace, r.Schedule, more)
		}
	}
	_, err := fmt.Fprintf(streams.Out, "audit: due=%d sent=%d dead=%d cancelled=%d pending=%d lost=%d duplicates=%s counters=%s\n",
		s.Due, s.Sent, s.Dead, s.Cancelled, s.Pending, s.Lost, perhaps(s.Duplicates), s.Counters)
	return err
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// perhaps is a number that may not be known.
func perhaps(n *int64) string {
	if n == nil {
		return "-"
	}
	return decimal(*n)
}

func provenOf(r audit.Report) string {
	if r.Proven == nil {
		return "- (" + r.Unproven + ")"
	}
	return instant(r.Proven.From) + " to " + instant(r.Proven.Through)
}
