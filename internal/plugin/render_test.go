package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"
)

const letter = `
apiVersion: reminders.dev/v1alpha1
kind: ReminderSchedule
metadata: {name: renewal, namespace: shop}
spec:
  schedule: {cron: "0 9 * * *", timeZone: Europe/Berlin, calendarName: de}
  channelName: mail
  recipients:
  - {id: acct_1, address: ada@example.com, attributes: {name: "Ada <script>"}}
  - {id: acct_2, address: bob@example.com, active: false, attributes: {name: "Bob\u001b[2J"}}
  - {id: acct_3, address: cy@example.com}
  message:
    subject: Due {{ reminder.dueTime.format("%d.%m.%Y", "Europe/Berlin") }}
    body: "Hello {{ recipient.attributes.name }}\n"
    html: <p title="{{ reminder.key }}">Hello {{ recipient.attributes.name }}</p>
    unsubscribeURL: https://example.com/leave?u={{ recipient.attributes.name }}
---
apiVersion: reminders.dev/v1alpha1
kind: BusinessCalendar
metadata: {name: de, namespace: shop}
spec: {country: DE}
`

func TestRenderShowsWhatARecipientReads(t *testing.T) {
	t.Parallel()
	a := run(letter, "render", "-f", "-", "--recipient", "acct_1")
	want := `shop/renewal/2026-12-01T08:00:00Z/acct_1, due 2026-12-01T08:00:00Z
Subject: Due 01.12.2026
List-Unsubscribe: <https://example.com/leave?u=Ada%20%3Cscript%3E>

Hello Ada <script>

-- HTML
<p title="shop/renewal/2026-12-01T08:00:00Z/acct_1">Hello Ada &lt;script&gt;</p>
`
	if a.out != want || a.err != "" || a.code != 0 {
		t.Errorf("%+v", a)
	}
	a = run(letter, "render", "-f", "-", "--recipient", "acct_2", "--occurrence", "2026-11-03T09:00:00+01:00", "-o", "html")
	if a.code != 0 || !strings.HasPrefix(a.out, `<p title="shop/renewal/2026-11-03T08:00:00Z/acct_2">`) {
		t.Errorf("%+v", a)
	}
	if a = run(letter, "render", "-f", "-", "--recipient", "acct_2"); strings.Contains(a.out, "\x1b") {
		t.Errorf("%q does something to a terminal", a.out)
	}
	a = run(letter, "render", "-f", "-", "--recipient", "acct_1", "-o", "json")
	var got map[string]string
	if err := json.Unmarshal([]byte(a.out), &got); err != nil || got["subject"] != "Due 01.12.2026" || got["body"] != "Hello Ada <script>\n" || got["name"] != "renewal" || got["due"] != "2026-12-01T08:00:00Z" {
		t.Errorf("%v: %+v", err, a)
	}
	if strings.Contains(a.out, "example.com/leave") != true || strings.Contains(a.out, "ada@") {
		t.Errorf("%+v", a)
	}
}

func TestRenderSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	edited := func(old, with string) string { return strings.Replace(letter, old, with, 1) }
	tests := map[string]struct {
		documents string
		args      []string
		code      int
		want      string
	}{
		"a missing attribute":    {letter, []string{"--recipient", "acct_3"}, 1, "renewal: error: recipient acct_3: spec.message.body: line 1, column 9: {{ recipient.attributes.name }}: the recipient has no attribute name"},
		"no such recipient":      {letter, []string{"--recipient", "acct_9"}, 1, "renewal: error: spec.recipients: there is no acct_9"},
		"no such occurrence":     {letter, []string{"--recipient", "acct_1", "--occurrence", "2026-12-01T09:00:00Z"}, 1, "--occurrence: nothing is due at 2026-12-01T09:00:00Z; the next is 2026-12-02T08:00:00Z"},
		"a place without escape": {edited(`title="{{ reminder.key }}"`, `onclick="{{ reminder.key }}"`), []string{"--recipient", "acct_1"}, 1, "renewal: error: spec.message.html: line 1, column 15: {{ reminder.key }}: stands where no value can be escaped safely"},
		"a bad address":          {edited("https://example.com/leave", "ftp://example.com/leave"), []string{"--recipient", "acct_1"}, 1, "spec.message.unsubscribeURL: line 1, column 1: the address for unsubscribing"},
		"an error of the schema": {edited("channelName: mail", "channelName: Mail"), []string{"--recipient", "acct_1"}, 1, "renewal: error: spec.channelName"},
		"a missing calendar":     {edited("calendarName: de", "calendarName: fr"), []string{"--recipient", "acct_1"}, 1, "spec.schedule.calendarName: the documents have no BusinessCalendar fr"},
		"no schedule":            {"{}", []string{"--recipient", "acct_1"}, 1, ""},
		"no recipient":           {letter, nil, 2, "give --recipient"},
		"no time":                {letter, []string{"--recipient", "acct_1", "--occurrence", "tomorrow"}, 2, "--occurrence is \"tomorrow\""},
		"an unknown output":      {letter, []string{"--recipient", "acct_1", "-o", "yaml"}, 2, "text, json or html"},
		"an argument":            {letter, []string{"--recipient", "acct_1", "x"}, 2, "takes no arguments"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := run(tt.documents, append([]string{"render", "-f", "-"}, tt.args...)...)
			if a.code != tt.code || !strings.Contains(a.err, tt.want) || a.out != "" || strings.Contains(a.err, "Ada") {
				t.Errorf("%+v\nwant %d, %s", a, tt.code, tt.want)
			}
		})
	}
	if a := run(letter, "render", "--recipient", "acct_1"); a.code != 2 {
		t.Errorf("%+v", a)
	}
}

func TestTheCommandLineOfAnAudit(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"give --nats-url":           {"renewal"},
		"give table or json":        {"--nats-url", "nats://127.0.0.1:1", "-o", "yaml"},
		"names or --all-namespaces": {"--nats-url", "nats://127.0.0.1:1", "-A", "renewal"},
		"--grace is -1s; give 0s":   {"--nats-url", "nats://127.0.0.1:1", "--grace=-1s"},
	} {
		if a := run("", append([]string{"audit"}, args...)...); a.code != 2 || !strings.Contains(a.err, want) {
			t.Errorf("%q: %+v", args, a)
		}
	}
}
