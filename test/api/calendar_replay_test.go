package api_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const goodCalendar = `
apiVersion: reminders.dev/v1alpha1
kind: BusinessCalendar
metadata: {name: de-banking}
spec:
  country: DE
  region: DE-BY
  holidays:
  - {date: "2026-12-24", name: Christmas Eve}
  earlyCloses:
  - {date: "2026-12-31", time: "13:00"}
`

func refuseCalendars(t *testing.T, api client.Client) {
	refuse(t, api, goodCalendar, map[string]bad{
		"a week without a business day":       {[]edit{set("spec.weekend", []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"})}, "spec.weekend", "must have at most 6 items"},
		"a day in short":                      {[]edit{set("spec.weekend", []string{"Sat"})}, "spec.weekend[0]", `supported values: "Monday"`},
		"a day twice":                         {[]edit{set("spec.weekend", []string{"Sunday", "Sunday"})}, "spec.weekend[1]", "Duplicate value"},
		"a country in lower case":             {[]edit{set("spec.country", "de"), without("spec.region")}, "spec.country", "should match"},
		"a region without a country":          {[]edit{without("spec.country")}, "spec.region", "region begins with the country, such as DE-BY with country DE"},
		"a region of another country":         {[]edit{set("spec.region", "AT-9")}, "spec.region", "region begins with the country, such as DE-BY with country DE"},
		"a holiday on February 30":            {[]edit{set("spec.holidays.0.date", "2026-02-30")}, "spec.holidays[0].date", "date is a day of the calendar, such as 2026-12-24"},
		"a holiday with a time":               {[]edit{set("spec.holidays.0.date", "2026-12-24T00:00:00Z")}, "spec.holidays[0].date", "may not be more than 10"},
		"a holiday in 9999":                   {[]edit{set("spec.holidays.0.date", "9999-12-24")}, "spec.holidays[0].date", "should match"},
		"a holiday twice":                     {[]edit{set("spec.holidays", []any{map[string]any{"date": "2026-12-24"}, map[string]any{"date": "2026-12-24"}})}, "spec.holidays[1]", "Duplicate value"},
		"1001 holidays":                       {[]edit{set("spec.holidays", make([]struct{}, 1001))}, "spec.holidays", "must have at most 1000 items"},
		"a name of two lines":                 {[]edit{set("spec.holidays.0.name", "a\nb")}, "spec.holidays[0].name", "should match"},
		"a day that closes at its start":      {[]edit{set("spec.earlyCloses.0.time", "00:00")}, "spec.earlyCloses[0].time", "a day that ends at 00:00 is a holiday"},
		"a day that closes at 24:00":          {[]edit{set("spec.earlyCloses.0.time", "24:00")}, "spec.earlyCloses[0].time", "should match"},
		"an iCalendar file without a place":   {[]edit{set("spec.iCalendar", struct{}{})}, "spec.iCalendar.configMapRef", "Required value"},
		"an iCalendar file elsewhere":         {[]edit{set("spec.iCalendar.configMapRef.name", "other/office")}, "spec.iCalendar.configMapRef.name", "should match"},
		"a calendar that includes itself":     {[]edit{set("spec.include", []string{"target2", "de-banking"})}, "spec.include", "a calendar does not include itself"},
		"a calendar that includes one twice":  {[]edit{set("spec.include", []string{"target2", "target2"})}, "spec.include[1]", "Duplicate value"},
		"a calendar that includes 17":         {[]edit{set("spec.include", strings.Split("abcdefghijklmnopq", ""))}, "spec.include", "must have at most 16 items"},
		"a calendar that includes a neighbor": {[]edit{set("spec.include", []string{"other/target2"})}, "spec.include[0]", "should match"},
	})
}

const goodReplay = `
apiVersion: reminders.dev/v1alpha1
kind: ReminderReplay
metadata: {name: after-outage}
spec:
  scheduleName: renewal-notice
  action: Replay
  reason: The gateway was down
`

func refuseReplays(t *testing.T, api client.Client) {
	refuse(t, api, goodReplay, map[string]bad{
		"no schedule":                     {[]edit{without("spec.scheduleName")}, "spec.scheduleName", "Required value"},
		"a schedule in another namespace": {[]edit{set("spec.scheduleName", "other/a")}, "spec.scheduleName", "should match"},
		"no action":                       {[]edit{without("spec.action")}, "spec.action", "Required value"},
		"an action that does not exist":   {[]edit{set("spec.action", "Delete")}, "spec.action", `supported values: "Replay", "Discard"`},
		"no reason":                       {[]edit{without("spec.reason")}, "spec.reason", "Required value"},
		"an empty reason":                 {[]edit{set("spec.reason", "")}, "spec.reason", "say in a few words why this is done"},
		"a blank reason":                  {[]edit{set("spec.reason", "   ")}, "spec.reason", "say in a few words why this is done"},
		"a limit of 0":                    {[]edit{set("spec.limit", 0)}, "spec.limit", "greater than or equal to 1"},
		"a limit of 1001":                 {[]edit{set("spec.limit", 1001)}, "spec.limit", "less than or equal to 1000"},
		"0 per second":                    {[]edit{set("spec.perSecond", 0)}, "spec.perSecond", "greater than or equal to 1"},
		"101 per second":                  {[]edit{set("spec.perSecond", 101)}, "spec.perSecond", "less than or equal to 100"},
		"a reason that no dead one has":   {[]edit{set("spec.reasons", []string{"Suspended"})}, "spec.reasons[0]", `supported values: "RetryBudgetExhausted"`},
		"an empty list of keys":           {[]edit{set("spec.keys", []string{})}, "spec.keys", "at least 1 items"},
		"1001 keys":                       {[]edit{set("spec.keys", strings.Split(strings.Repeat("a", 1001), ""))}, "spec.keys", "must have at most 1000 items"},
		"the same key twice":              {[]edit{set("spec.keys", []string{"a", "a"})}, "spec.keys[1]", "Duplicate value"},
		"an extension of 0":               {[]edit{set("spec.extendDeadline", "0s")}, "spec.extendDeadline", "extendDeadline is a duration from 1s to 720h, such as 1h"},
		"an extension of what is dropped": {[]edit{set("spec.action", "Discard"), set("spec.extendDeadline", "1h")}, "spec.extendDeadline", "extendDeadline goes with action Replay only"},
	})
}

func replayIsImmutable(t *testing.T, api client.Client) {
	t.Parallel()
	o := parse(t, goodReplay)
	if err := api.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]edit{
		"its action":     set("spec.action", "Discard"),
		"a new field":    set("spec.limit", 7),
		"an unset field": without("spec.limit"),
	} {
		t.Run(name, func(t *testing.T) {
			edited := o.DeepCopy()
			edited.Object = put(t, edited.Object, strings.Split(e.path, "."), e.value).(map[string]any)
			err := api.Update(t.Context(), edited, client.DryRunAll)
			if e.value == nil { // the default comes back, so nothing changed
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			causes := causesOf(t, err)
			if len(causes) != 1 || causes[0].field != "spec" || !strings.Contains(causes[0].message, "cannot be changed: create another one") {
				t.Errorf("it was refused with:\n%s", listed(causes))
			}
		})
	}
	t.Run("its labels can", func(t *testing.T) {
		edited := o.DeepCopy()
		edited.SetLabels(map[string]string{"a": "b"})
		if err := api.Update(t.Context(), edited); err != nil {
			t.Error(err)
		}
	})
}
