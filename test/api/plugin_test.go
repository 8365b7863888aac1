package api_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/internal/plugin"
	"github.com/reminder-operator/reminder-operator/test/cluster"
)

const shop = `
apiVersion: v1
kind: Namespace
metadata: {name: plugin}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: office, namespace: plugin}
data:
  calendar.ics: |
    BEGIN:VCALENDAR
    VERSION:2.0
    PRODID:-//example//office//EN
    BEGIN:VEVENT
    UID:1@example.com
    DTSTAMP:20260101T000000Z
    DTSTART;VALUE=DATE:20270104
    SUMMARY:Moving day
    END:VEVENT
    END:VCALENDAR
---
apiVersion: reminders.dev/v1alpha1
kind: BusinessCalendar
metadata: {name: office, namespace: plugin}
spec: {iCalendar: {configMapRef: {name: office}}}
---
apiVersion: reminders.dev/v1alpha1
kind: BusinessCalendar
metadata: {name: london, namespace: plugin}
spec: {country: GB, include: [office]}
---
apiVersion: reminders.dev/v1alpha1
kind: ReminderSchedule
metadata: {name: rent, namespace: plugin}
spec:
  schedule: {cron: "0 9 1 * *", timeZone: Europe/London, calendarName: london}
  recipients: [{id: acct_4821, address: ada@example.com}]
  channelName: billing-email
  message: {body: Hello}
---
apiVersion: reminders.dev/v1alpha1
kind: ReminderSchedule
metadata: {name: lost, namespace: plugin}
spec:
  schedule: {cron: "0 9 1 * *", calendarName: paris}
  recipients: [{id: acct_4821, address: ada@example.com}]
  channelName: billing-email
  message: {body: Hello}
`

// pluginReads runs the plugin as people do, with a kubeconfig.
func pluginReads(c *cluster.Cluster) func(*testing.T, client.Client) {
	return func(t *testing.T, api client.Client) {
		for text := range strings.SplitSeq(shop, "---\n") {
			o := parse(t, text)
			if o.GetKind() == "Namespace" {
				o.SetNamespace("")
			} else {
				o.SetNamespace("plugin")
			}
			if err := api.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		stranger, err := c.Kube.User("stranger")
		if err != nil {
			t.Fatal(err)
		}
		for name, test := range map[string]struct {
			args     string
			wantCode int
			want     []string
		}{
			"a schedule, its calendars and their file": {"next rent -n plugin", 0, []string{`"due":"2027-01-05T09:00:00Z"`, "holiday New Year's Day"}},
			"no schedule that does not exist":          {"next nobody rent -n plugin", 1, []string{"there is no ReminderSchedule nobody in namespace plugin", `"due":"2027-01-05T09:00:00Z"`}},
			"the namespace of the kubeconfig":          {"next rent", 1, []string{"there is no ReminderSchedule rent in namespace default"}},
			"no calendar that does not exist":          {"next lost -n plugin", 1, []string{"spec.schedule.calendarName: there is no BusinessCalendar paris in namespace plugin"}},
			"nothing without the right to":             {"next rent -n plugin --kubeconfig=" + stranger, 1, []string{"read ReminderSchedule plugin/rent: ", "forbidden"}},
			"nothing without a cluster":                {"next rent --server=https://127.0.0.1:1", 1, []string{"read ReminderSchedule default/rent: ", "connection refused"}},
			"nothing without a kubeconfig":             {"next rent --kubeconfig=/nowhere/config", 1, []string{"/nowhere/config"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				args := strings.Fields(test.args + " --from 2026-12-31T12:00:00Z --count 1 -o json")
				if !strings.Contains(test.args, "--kubeconfig") {
					args = append(args, "--kubeconfig="+c.Kube.Kubeconfig)
				}
				var out bytes.Buffer
				streams := genericclioptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
				if code := plugin.Run(args, streams, time.Now); code != test.wantCode {
					t.Errorf("exit code %d, want %d", code, test.wantCode)
				}
				for _, want := range test.want {
					if !strings.Contains(out.String(), want) {
						t.Errorf("it prints %s, want %s", out.String(), want)
					}
				}
			})
		}
	}
}
