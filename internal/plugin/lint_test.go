package plugin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// problems are what lint says of documents, as severity, path and message.
func problems(t *testing.T, documents string, args ...string) (all []string, a answer) {
	t.Helper()
	a = run(documents, append([]string{"lint", "-f", "-", "-o", "json"}, args...)...)
	for line := range strings.Lines(a.out) {
		var found struct {
			File, Kind, Namespace, Name string
			Line                        int
			Problems                    []struct{ Severity, Path, Message string }
		}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&found); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		for _, p := range found.Problems {
			all = append(all, p.Severity+" "+p.Path+" "+p.Message)
		}
	}
	return all, a
}

const logChannel = "---\napiVersion: reminders.dev/v1alpha1\nkind: ReminderChannel\nmetadata: {name: mail}\nspec: {type: Log, log: {}}\n"

func TestLint(t *testing.T) {
	t.Parallel()
	good := schedule("a", `cron: "0 9 * * *"`) + logChannel
	body := func(text string) string { return strings.Replace(good, "{body: Hello}", "{body: '"+text+"'}", 1) }
	eligible := func(rule string) string {
		return strings.Replace(good, "{body: Hello}", "{body: Hello}\n  delivery: {eligibility: '"+rule+"', eligibilityURL: 'https://billing.example.com/', deadlineTimeOfDay: '17:00'}", 1)
	}
	for name, c := range map[string]struct {
		text     string
		wantCode int
		want     []string // parts of the problems in order
	}{
		"finds nothing where nothing is wrong":    {good, 0, nil},
		"warns, and that is no error":             {schedule("a", `cron: "* 0 * * *"`) + logChannel, 0, []string{"warning spec.schedule 60 occurrences"}},
		"says that it knows no channel":           {schedule("a", `cron: "@daily"`), 0, []string{"info spec.channelName the documents have no ReminderChannel mail"}},
		"compiles messages":                       {body("{{ recipient.nme }}"), 1, []string{"error spec.message.body line 1, column 4: {{ recipient.nme }}: unknown name"}},
		"finds an expression that is not closed":  {body("Hello {{ recipient.id"), 1, []string{"error spec.message.body line 1, column 7: {{ is not closed"}},
		"compiles an eligibility":                 {eligible("recipient.status == 1"), 1, []string{"error spec.delivery.eligibility line 1, column 1: unknown name recipient.status"}},
		"wants true or false of it":               {eligible("recipient.id"), 1, []string{"error spec.delivery.eligibility line 1, column 1: yields string; yield true or false, such as"}},
		"accepts one that is right":               {eligible("recipient.attributes.status == \"active\""), 0, nil},
		"names an unknown field with its path":    {strings.Replace(good, "id: acct_1", "id: acct_1, email: x", 1), 1, []string{"error spec.recipients[0].email there is no such field"}},
		"finds what is missing":                   {strings.Replace(good, "channelName: mail", "suspend: true", 1), 1, []string{"error spec.channelName Required value", "warning spec.schedule suspended", "info  some validation rules were not checked"}},
		"finds an id twice":                       {strings.Replace(good, "  - {id: acct_1", "  - {id: acct_1, address: x}\n  - {id: acct_1", 1), 1, []string{"error spec.recipients[1] Duplicate value"}},
		"finds what a channel lacks":              {strings.Replace(logChannel, "type: Log", "type: HTTP", 1), 1, []string{"error spec set exactly the member that type names", "error spec.idempotency Required value"}},
		"finds a calendar without a business day": {"apiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: never}\nspec: {weekend: [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday], country: GB, include: [sunday]}\n---\napiVersion: reminders.dev/v1alpha1\nkind: BusinessCalendar\nmetadata: {name: sunday}\nspec: {weekend: [], iCalendar: {configMapRef: {name: x}}}", 1, []string{"error spec.", "error spec.iCalendar.configMapRef the documents have no ConfigMap x"}},
		"finds a name that is none":               {strings.Replace(good, "name: a", "name: A_b", 1), 1, []string{"error metadata.name"}},
		"leaves a replay to the schema":           {"apiVersion: reminders.dev/v1alpha1\nkind: ReminderReplay\nmetadata: {name: r}\nspec: {scheduleName: a, action: Replay, reason: x, limit: 1001}", 1, []string{"error spec.limit should be less than or equal to 1000"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, a := problems(t, c.text)
			same := slices.EqualFunc(got, c.want, func(got, want string) bool { return strings.HasPrefix(got, want) })
			if !same || a.code != c.wantCode {
				t.Errorf("exit code %d, it says\n%s\nwant\n%s", a.code, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// Nothing of a recipient but the id is printed, no text of a message, no password, and nothing that moves a cursor.
func TestNothingPersonalIsPrinted(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	recipients := `
  - {id: "acct_1", address: "` + secret + `\n@example.com", timeZone: "` + secret + `@", attributes: {renewalDate: "` + secret + `"}, active: "` + secret + `"}
  - {id: "acct_1", address: "` + secret + `", attributes: {renewalDate: "` + secret + `", "` + "x" + `": ["` + secret + `"]}}
  - {id: "\e[31m", address: "` + secret + `", attributes: {renewalDate: "` + secret + `"}}
`
	documents := strings.Replace(schedule("a", `anchor: {attribute: renewalDate, time: "09:00"}`), "\n  - {id: acct_1, address: ada@example.com}\n", recipients, 1)
	fewer := strings.Replace(documents, `, active: "`+secret+`"`, "", 1)
	fewer = strings.Replace(fewer, `, "x": ["`+secret+`"]`, "", 1)
	channel := "---\napiVersion: reminders.dev/v1alpha1\nkind: ReminderChannel\nmetadata: {name: mail}\nspec:\n  type: HTTP\n" +
		"  http: {url: 'https://user:" + secret + "@example.com/', headers: [{name: Authorization, value: '" + secret + "\\n'}, {name: Authorization, value: " + secret + "}]}\n"
	subject := strings.Replace(documents, "{body: Hello}", `{subject: "`+secret+`\n", body: "`+secret+` {{ x }} `+secret+`"}`, 1)
	for name, text := range map[string]string{"of the wrong types": documents, "of the right types": fewer, "of a message": subject, "of a channel": channel} {
		for _, args := range []string{"next -f -", "next -f - -o json", "lint -f -", "lint -f - -o json", "lint --diff - testdata/new.yaml", "lint --diff testdata/new.yaml -"} {
			t.Run(name+" "+args, func(t *testing.T) {
				t.Parallel()
				a := run(text, strings.Fields(args)...)
				if all := a.out + a.err; strings.Contains(all, secret) || strings.Contains(all, "\x1b") {
					t.Errorf("it prints %q", all)
				}
			})
		}
	}
}

type comparison struct {
	Name, Change, Through, Error string
	Kept                         int
	Added, Removed               []struct{ Nominal, Due, Recipient, Note string }
	Moved                        []struct {
		From, To struct{ Nominal, Due, Recipient, Note string }
	}
	Notes []string
}

func compared(t *testing.T, before, after string, args ...string) (comparison, answer) {
	t.Helper()
	dir := t.TempDir()
	a := run(after, append([]string{"lint", "--diff", write(t, dir, "old.yaml", before), "-", "-o", "json"}, args...)...)
	var c comparison
	decoder := json.NewDecoder(strings.NewReader(a.out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		t.Fatalf("%v in %+v", err, a)
	}
	return c, a
}

func TestDiffDoesNotPassOverASecondOfOneName(t *testing.T) {
	t.Parallel()
	a := schedule("a", `cron: "0 9 * * *"`)
	answer := run(a+a, "lint", "--diff", write(t, t.TempDir(), "old.yaml", a), "-")
	if want := "there are two of this name"; answer.code != 1 || !strings.Contains(answer.err, want) {
		t.Errorf("%+v, want %s", answer, want)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	type counts struct{ Kept, Added, Removed, Moved int }
	daily := schedule("a", `cron: "0 9 * * *"`)
	for name, c := range map[string]struct {
		before, after string
		change        string
		want          counts
		wantNote      string
	}{
		"of a comment is none":                    {daily, daily + "# x\n", "none", counts{Kept: 5}, ""},
		"of another time of day moves":            {daily, schedule("a", `cron: "30 10 * * *"`), "edited", counts{Moved: 5}, ""},
		"of another zone moves":                   {daily, schedule("a", `cron: "0 9 * * *", timeZone: Europe/Berlin`), "edited", counts{Moved: 5}, ""},
		"of more days adds":                       {schedule("a", `cron: "0 9 * * TUE"`), schedule("a", `cron: "0 9 * * TUE,THU"`), "edited", counts{Kept: 3, Added: 2}, ""},
		"of fewer days removes":                   {schedule("a", `cron: "0 9 * * TUE,THU"`), schedule("a", `cron: "0 9 * * TUE"`), "edited", counts{Kept: 3, Removed: 2}, ""},
		"of an end removes what is after it":      {daily, schedule("a", `cron: "0 9 * * *", endTime: 2026-12-03T00:00:00Z`), "edited", counts{Kept: 2, Removed: 3}, ""},
		"of the channel changes what they are":    {daily, strings.Replace(daily, "channelName: mail", "channelName: sms", 1), "edited", counts{Kept: 5}, "spec.channelName changes from mail to sms"},
		"of the identity changes what they are":   {daily, strings.Replace(daily, "channelName", "identity: BusinessDate\n  channelName", 1), "edited", counts{Kept: 5}, "spec.identity changes from DueTime to BusinessDate"},
		"of another time of a date adds nothing":  {byDate(`cron: "0 9 * * *"`), byDate(`cron: "0 9,15 * * *"`), "edited", counts{Kept: 5}, "spec.identity is BusinessDate"},
		"of an earlier time of a date moves it":   {byDate(`cron: "0 9 * * *"`), byDate(`cron: "0 8,9 * * *"`), "edited", counts{Moved: 5}, "spec.identity is BusinessDate"},
		"of the identity removes later times":     {schedule("a", `cron: "0 9-12 * * *"`), byDate(`cron: "0 9-12 * * *"`), "edited", counts{Kept: 2, Removed: 3}, "spec.identity changes from DueTime to BusinessDate"},
		"of jitter changes the times of release":  {daily, schedule("a", `cron: "0 9 * * *", jitter: 10m`), "edited", counts{Kept: 5}, "spec.schedule.jitter changes from 0s to 10m0s: reminders are released at other times"},
		"of a jitter of nothing is none":          {daily, schedule("a", `cron: "0 9 * * *", jitter: 0s`), "none", counts{Kept: 5}, ""},
		"of a default is none":                    {daily, strings.Replace(daily, "channelName", "identity: DueTime\n  channelName", 1), "none", counts{Kept: 5}, ""},
		"of suspend says so":                      {daily, strings.Replace(daily, "channelName", "suspend: true\n  channelName", 1), "edited", counts{Kept: 5}, "suspended"},
		"of recipients counts them":               {daily, strings.Replace(daily, "  - {id: acct_1", "  - {id: acct_2, address: b}\n  - {id: acct_1", 1), "edited", counts{Kept: 5}, "1 recipient added"},
		"of an inactive recipient counts it":      {daily, strings.Replace(daily, "{id: acct_1", "{active: false, id: acct_1", 1), "edited", counts{Kept: 5}, "1 recipient removed"},
		"from hourly to yearly removes and waits": {schedule("a", `cron: "@hourly"`), schedule("a", `cron: "@yearly"`), "edited", counts{Removed: 5}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, a := compared(t, c.before, c.after, "--from", "2026-12-01T00:00:00Z")
			if diff := cmp.Diff(c.want, counts{got.Kept, len(got.Added), len(got.Removed), len(got.Moved)}); diff != "" || got.Change != c.change || a.code != 0 {
				t.Errorf("%s\n%+v", diff, a)
			}
			if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, c.wantNote) || c.wantNote == "" && notes != "" {
				t.Errorf("it notes %q, want %q", notes, c.wantNote)
			}
		})
	}
}
