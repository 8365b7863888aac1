// Package api_test proves the CRDs against a real API server: what they refuse
// and in which words, what they default, that they hold to the checklist, and
// that every sample applies.
package api_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// One API server serves all tests: its start is the slow part.
func TestAPI(t *testing.T) {
	t.Parallel()
	c := cluster.StartT(t, cluster.Options{NoNATS: true})
	api, err := client.New(c.Kube.RESTConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(*testing.T, client.Client){
		"refuses a bad ReminderSchedule": refuseSchedules,
		"refuses a bad when":             refuseTimes,
		"refuses a bad audience":         refuseAudiences,
		"refuses a bad delivery":         refuseDeliveries,
		"refuses a bad ReminderChannel":  refuseChannels,
		"refuses a bad HTTP channel":     refuseHTTP,
		"refuses a bad BusinessCalendar": refuseCalendars,
		"refuses a bad ReminderReplay":   refuseReplays,
		"accepts":                        accept,
		"defaults":                       defaults,
		"a replay cannot be changed":     replayIsImmutable,
		"notes who resumes":              notesWhoResumes,
		"names unknown fields":           nameUnknownFields,
		"kubectl get shows":              columns(c),
		"samples apply":                  samples,
		"kubectl reminders next reads":   pluginReads(c),
	} {
		t.Run(name, func(t *testing.T) { run(t, api) })
	}
}

// edit changes one field of an object.
type edit struct {
	path  string
	value any // nil removes the field
}

// set changes the field at a path with dots, numbers being places in lists.
func set(path string, value any) edit { return edit{path, value} }

// without removes a field.
func without(path string) edit { return edit{path, nil} }

// bad is an object that is refused: a good one with edits.
type bad struct {
	edits       []edit
	wantField   string
	wantMessage string // a part of it
}

// refuse applies each case's edits to a good object and checks what the API server says of it.
func refuse(t *testing.T, api client.Client, good string, cases map[string]bad) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := create(t, api, changed(t, good, test.edits))
			causes := causesOf(t, err)
			for _, c := range causes {
				if strings.Contains(c.message, "evaluation error") || strings.Contains(c.message, "no such") {
					t.Errorf("a rule failed instead of answering: %s: %s", c.field, c.message)
				}
			}
			for _, c := range causes {
				if c.field == test.wantField && strings.Contains(c.message, test.wantMessage) {
					return
				}
			}
			t.Errorf("no cause of field %s says %q, there are:\n%s", test.wantField, test.wantMessage, listed(causes))
		})
	}
}

type cause struct{ field, message string }

func listed(causes []cause) string {
	var b strings.Builder
	for _, c := range causes {
		b.WriteString(c.field + ": " + c.message + "\n")
	}
	return b.String()
}

// causesOf are the field errors of a refusal.
func causesOf(t *testing.T, err error) []cause {
	t.Helper()
	if err == nil {
		t.Fatal("the object was accepted")
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("the object was refused for another reason: %v", err)
	}
	var causes []cause
	for _, c := range status.Status().Details.Causes {
		causes = append(causes, cause{c.Field, c.Message})
	}
	return causes
}

// create has the API server check an object as on creation, without storing it. What it answers is what lint answers.
func create(t *testing.T, api client.Client, o *unstructured.Unstructured) error {
	t.Helper()
	before := o.DeepCopy()
	err := api.Create(t.Context(), o, client.DryRunAll, client.FieldValidation("Strict"))
	compareOffline(t, before, o, err)
	return err
}

// parse reads an object from YAML.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	o.SetNamespace("default")
	return o
}

// changed is a good object with edits.
func changed(t *testing.T, good string, edits []edit) *unstructured.Unstructured {
	t.Helper()
	o := parse(t, good)
	for _, e := range edits {
		before := o.DeepCopy()
		var value any
		if e.value != nil { // in the types that JSON has
			text, err := yaml.Marshal(e.value)
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(text, &value); err != nil {
				t.Fatal(err)
			}
		}
		o.Object = put(t, o.Object, strings.Split(e.path, "."), value).(map[string]any)
		if equality.Semantic.DeepEqual(before, o) {
			t.Fatalf("the edit of %s changed nothing", e.path)
		}
	}
	return o
}

// put returns in with the value at the path.
func put(t *testing.T, in any, path []string, value any) any {
	t.Helper()
	if len(path) == 0 {
		return value
	}
	switch in := in.(type) {
	case []any:
		i := int(path[0][0] - '0')
		in[i] = put(t, in[i], path[1:], value)
		return in
	case nil:
		return put(t, map[string]any{}, path, value)
	case map[string]any:
		if len(path) == 1 && value == nil {
			delete(in, path[0])
			return in
		}
		in[path[0]] = put(t, in[path[0]], path[1:], value)
		return in
	default:
		t.Fatalf("%s is below a plain value", path)
		return nil
	}
}
