package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// columns asks the real kubectl what it shows.
func columns(c *cluster.Cluster) func(*testing.T, client.Client) {
	return func(t *testing.T, api client.Client) {
		for name, test := range map[string]struct {
			object string
			edits  []edit
			status map[string]any
			kind   string
			want   [][]string // without AGE
		}{
			"a schedule by its expression": {
				object: goodSchedule, kind: "rsched", edits: []edit{set("metadata.name", "columns")},
				status: map[string]any{
					"timeZone": "Europe/Berlin", "nextDueTime": "2026-11-03T08:00:00Z", "lastDueTime": "2026-11-02T08:00:00Z",
					"counts":     map[string]any{"due": 7, "sent": 5, "sentLate": 1, "missed": 4, "suppressed": 2, "pending": 3, "dead": 2},
					"slo":        map[string]any{"compliance": "71.42", "errorBudgetRemaining": "-12.5"},
					"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Planned", "message": "", "lastTransitionTime": "2026-11-01T00:00:00Z"}},
				},
				want: [][]string{
					{"NAME", "SCHEDULE", "ZONE", "NEXT", "DUE", "SENT", "DEAD", "SLO", "BUDGET", "READY", "AGE", "LAST", "LATE", "MISSED", "SUPPRESSED", "PENDING", "REASON"},
					{"columns", "0 9 * * *", "Europe/Berlin", "2026-11-03T08:00:00Z", "7", "5", "2", "71.42", "-12.5", "True", "", "2026-11-02T08:00:00Z", "1", "4", "2", "3", "Planned"},
				},
			},
			"a schedule by its distance": {
				object: goodSchedule, kind: "rsched", edits: append(when("every", "36h"), set("metadata.name", "columns-every")),
				status: map[string]any{"timeZone": "UTC"},
				want: [][]string{
					{"NAME", "SCHEDULE", "ZONE", "NEXT", "DUE", "SENT", "DEAD", "SLO", "BUDGET", "READY", "AGE", "LAST", "LATE", "MISSED", "SUPPRESSED", "PENDING", "REASON"},
					{"columns-every", "36h", "UTC", "", "", "", "", "", "", "", "", "", "", "", "", "", ""},
				},
			},
			"a channel": {
				object: goodHTTP, kind: "rchan", edits: []edit{set("metadata.name", "columns")},
				status: map[string]any{"workers": 2, "desiredWorkers": 2, "backlog": 10, "inFlight": 3, "throttled": 0, "oldestDueAge": "3m12s", "saturation": 5},
				want: [][]string{
					{"NAME", "TYPE", "WORKERS", "BACKLOG", "INFLIGHT", "OLDEST", "READY", "AGE", "IDEMPOTENCY", "SATURATION", "THROTTLED", "REASON"},
					{"columns", "HTTP", "2", "10", "3", "3m12s", "", "", "ByKey", "5", "0", ""},
				},
			},
			"a calendar": {
				object: goodCalendar, kind: "bcal", edits: []edit{set("metadata.name", "columns")},
				status: map[string]any{"holidays": 12, "upcoming": []any{map[string]any{"date": "2026-12-24", "name": "Christmas Eve"}}},
				want: [][]string{
					{"NAME", "COUNTRY", "REGION", "HOLIDAYS", "NEXT", "READY", "AGE", "REASON"},
					{"columns", "DE", "DE-BY", "12", "2026-12-24", "", "", ""},
				},
			},
			"a replay": {
				object: goodReplay, kind: "rreplay", edits: []edit{set("metadata.name", "columns")},
				status: map[string]any{"matched": 4, "replayed": 3, "discarded": 0, "refused": []any{map[string]any{"reason": "DeadlineReached", "count": 1}}},
				want: [][]string{
					{"NAME", "SCHEDULE", "ACTION", "MATCHED", "REPLAYED", "DISCARDED", "SUCCEEDED", "AGE", "DRYRUN", "WHY", "REASON"},
					{"columns", "renewal-notice", "Replay", "4", "3", "0", "", "", "", "The gateway was down", ""},
				},
			},
		} {
			t.Run(name, func(t *testing.T) {
				o := changed(t, test.object, test.edits)
				if err := api.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				o.Object = put(t, o.Object, []string{"status"}, changed(t, test.object, []edit{set("status", test.status)}).Object["status"]).(map[string]any)
				if err := api.Status().Update(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				out, err := c.Kube.Kubectl(t.Context(), "get", test.kind, o.GetName(), "-o", "wide", "-n", "default")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, table(out)); diff != "" {
					t.Errorf("%s\n%s", diff, out)
				}
			})
		}
		t.Run("all kinds by their category", func(t *testing.T) {
			out, err := c.Kube.Kubectl(t.Context(), "api-resources", "--categories=reminders", "--no-headers", "-o", "name")
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"businesscalendars.reminders.dev", "reminderchannels.reminders.dev", "reminderreplays.reminders.dev", "reminderschedules.reminders.dev"}
			if diff := cmp.Diff(want, strings.Fields(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// table cuts what kubectl prints at its columns, and leaves out the ages.
func table(out string) (rows [][]string) {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	head := lines[0]
	var starts []int
	for i := range head {
		if head[i] != ' ' && (i == 0 || head[i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	for n, line := range lines {
		var row []string
		for i, from := range starts {
			to := len(line)
			if i+1 < len(starts) {
				to = min(to, starts[i+1])
			}
			cell := strings.TrimSpace(line[min(from, len(line)):to])
			if n > 0 && rows[0][i] == "AGE" {
				cell = ""
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}
