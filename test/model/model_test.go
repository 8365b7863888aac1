package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/test/model"
)

// limit makes more than a million states in a few seconds of processor time; `make
// model` walks further.
const limit = 40_000

// Row 9 of the failure matrix, without processes.
func TestRow9TheModelKeepsTheInvariants(t *testing.T) {
	t.Parallel()
	states := 0
	for _, r := range model.Run(model.Walks(limit), func(model.Result) {}) {
		states += r.States
		if r.Broken != "" {
			t.Errorf("%s: %s\n%s", r.Name, r.Broken, strings.Join(r.Trace, "\n"))
		}
	}
	if states < 1_000_000 {
		t.Errorf("%d states are too few to prove anything; want a million", states)
	}
}

func TestTheModelCatchesEachMutant(t *testing.T) {
	t.Parallel()
	for _, c := range model.Mutants(limit) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			r := model.Walk(c)
			if r.Broken == "" {
				t.Fatalf("not caught in %d states", r.States)
			}
			t.Logf("%s\n%s", r.Broken, strings.Join(r.Trace, "\n"))
			if len(r.Trace) == 0 || slices.Contains(r.Trace, "") {
				t.Errorf("the path to it has %d steps, or one without a name", len(r.Trace))
			}
		})
	}
}

func TestEachPolicyIsWalkedThroughEachScene(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, c := range model.Walks(1) {
		name, scene, _ := strings.Cut(c.Name, ", ")
		seen[name]++
		seen[scene]++
	}
	if len(seen) != 3+9 || seen["ByKey"] != 9 || seen["books"] != 3 {
		t.Errorf("walks: %v", seen)
	}
}
