package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reminder-operator/reminder-operator/internal/admission"
)

var schemas = sync.OnceValues(admission.Load)

// offline checks an object without the API server: its answer, and the object with its defaults.
func offline(t *testing.T, o *unstructured.Unstructured) (causes []string, object map[string]any) {
	t.Helper()
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	plain := &unstructured.Unstructured{}
	if err := plain.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	unknown, refusals, err := all.Check(t.Context(), plain.Object)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range unknown {
		causes = append(causes, fmt.Sprintf("unknown field %q", path))
	}
	if len(unknown) > 0 { // the API server looks no further
		return causes, plain.Object
	}
	for _, r := range refusals {
		causes = append(causes, r.Field+": "+r.ErrorBody())
	}
	slices.Sort(causes)
	return causes, plain.Object
}

// compareOffline holds what the API server says of an object against what lint says of it.
func compareOffline(t *testing.T, before, after *unstructured.Unstructured, answer error) {
	t.Helper()
	causes, object := offline(t, before)
	if answer == nil {
		if diff := cmp.Diff(after.Object["spec"], object["spec"]); diff != "" || len(causes) > 0 {
			t.Errorf("the API server accepts it; without one it is refused for %q, and this differs:\n%s", causes, diff)
		}
		return
	}
	status, ok := answer.(apierrors.APIStatus)
	if !ok {
		t.Fatalf("no answer of an API server: %v", answer)
	}
	if !apierrors.IsInvalid(answer) {
		for _, c := range causes {
			if !strings.Contains(answer.Error(), c) {
				t.Errorf("without an API server it is refused for %q, with one for %v", c, answer)
			}
		}
		if len(causes) == 0 {
			t.Errorf("without an API server it is accepted, with one it is refused: %v", answer)
		}
		return
	}
	var want []string
	for _, c := range status.Status().Details.Causes {
		want = append(want, c.Field+": "+c.Message)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, causes); diff != "" {
		t.Errorf("the API server and lint differ:\n%s", diff)
	}
}
