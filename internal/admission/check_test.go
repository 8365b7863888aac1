package admission_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/reminder-operator/reminder-operator/internal/admission"
)

const schedule = `
apiVersion: reminders.dev/v1alpha1
kind: ReminderSchedule
metadata: {name: renewal-notice}
spec:
  schedule: {cron: "0 9 * * *", dst: {}}
  recipients: [{id: acct_4821, address: ada@example.com}]
  channelName: billing-email
  message: {body: Hello}
`

// test/api compares each refusal of an API server with what this package says; here is what it does besides.
func TestCheck(t *testing.T) {
	t.Parallel()
	schemas, err := admission.Load()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		from, to     string
		wantUnknown  []string
		wantRefusals []string
	}{
		"what is right has no refusal":          {"", "", nil, nil},
		"a name may be left to the API server":  {"name: renewal-notice", "generateName: renewal-", nil, nil},
		"status is left out":                    {"spec:", "status: {nextDueTime: soon}\nspec:", nil, nil},
		"a name is needed":                      {"name: renewal-notice", "labels: {a: b}", nil, []string{"metadata.name", "<nil>"}},
		"metadata is needed":                    {"metadata: {name: renewal-notice}", "", nil, []string{"metadata.name", "<nil>"}},
		"a name is of lower case":               {"renewal-notice", "Renewal", nil, []string{"metadata.name"}},
		"metadata is of its types":              {"name: renewal-notice", "name: 5", nil, []string{"metadata"}},
		"labels are of their form":              {"name: renewal-notice", "name: a, labels: {a: 'b c'}", nil, []string{"metadata.labels"}},
		"unknown fields are named":              {"message:", "x: {y: z}\n  message:", []string{"spec.x"}, nil},
		"unknown fields in lists are named":     {"id: acct_4821", "id: a, email: b", []string{"spec.recipients[0].email"}, nil},
		"unknown fields of metadata are named":  {"name: renewal-notice", "name: a, title: b", []string{"metadata.title"}, nil},
		"a rule over two fields holds":          {"dst: {}", "jitter: 5h", nil, []string{"spec.schedule.jitter"}},
		"types come before rules":               {"dst: {}", "jitter: 5h, every: 5", nil, []string{"spec.schedule.every", "<nil>"}},
		"a kind that there is not is not found": {"kind: ReminderSchedule", "kind: ReminderPlan", nil, []string{"kind"}},
		"an object without a spec lacks it":     {schedule[strings.Index(schedule, "spec:"):], "", nil, []string{"spec", "<nil>"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := map[string]any{}
			if err := yaml.Unmarshal([]byte(strings.Replace(schedule, c.from, c.to, 1)), &object); err != nil {
				t.Fatal(err)
			}
			unknown, refusals, err := schemas.Check(t.Context(), object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.wantUnknown, unknown); diff != "" {
				t.Error(diff)
			}
			var paths []string
			for _, r := range refusals {
				paths = append(paths, r.Field)
			}
			if diff := cmp.Diff(c.wantRefusals, paths); diff != "" {
				t.Errorf("%s\n%v", diff, refusals)
			}
		})
	}
}

func TestCheckFillsInDefaults(t *testing.T) {
	t.Parallel()
	schemas, err := admission.Load()
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(schedule), &object); err != nil {
		t.Fatal(err)
	}
	if _, _, err := schemas.Check(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"cron": "0 9 * * *", "timeZoneFrom": "Schedule", "dst": map[string]any{"gap": "Shift", "overlap": "First"}}
	if diff := cmp.Diff(want, object["spec"].(map[string]any)["schedule"]); diff != "" {
		t.Error(diff)
	}
}
