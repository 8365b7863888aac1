package model

import (
	"runtime"
	"slices"
	"sync"

	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// The shipped policies: the channel deduplicates, or an unknown outcome is sent again,
// or parked.
var (
	byKey  = policy(true, "")
	resend = policy(false, reminder.RetryUnknown)
	park   = policy(false, reminder.ParkUnknown)
)

func policy(dedupes bool, unknown reminder.OnUnknown) delivery.Policy {
	return delivery.Policy{Retry: retry, Dedupes: dedupes, OnUnknown: unknown, Lease: lease * tick, Retention: retention * tick}
}

// Policies are the names of the shipped policies.
func Policies() []string { return []string{"ByKey", "None+Retry", "None+Park"} }

func policyOf(name string) delivery.Policy {
	return map[string]delivery.Policy{"ByKey": byKey, "None+Retry": resend, "None+Park": park}[name]
}

// scenes are what each policy is walked through. None of them needs more than a
// minute, and each takes one thing further than the others.
var scenes = []Config{
	{Name: "crashes", Workers: 1, Planners: 1, Faults: 3},
	{Name: "racing workers", Workers: 2, Planners: 1, Faults: 1},
	{Name: "racing planners", Workers: 1, Planners: 2, Faults: 1},
	{Name: "books", Workers: 1, Planners: 1, Faults: 1, Books: true},
	{Name: "lost messages", Workers: 1, Planners: 1, Faults: 2, Sweep: true, Loss: true},
	{Name: "edits", Workers: 1, Planners: 1, Edits: 2, Sweep: true},
	{Name: "edits and two planners", Workers: 1, Planners: 2, Edits: 1, Sweep: true},
	{Name: "edits and crashes", Workers: 1, Planners: 1, Faults: 1, Edits: 1, Sweep: true, Loss: true},
	{Name: "all at once", Workers: 2, Planners: 2, Faults: 2, Edits: 2, Sweep: true, Loss: true},
}

// Walks are all scenes for all policies, each with at most limit states.
func Walks(limit int) []Config {
	var all []Config
	for _, scene := range scenes {
		for _, name := range Policies() {
			scene := scene
			scene.Name, scene.Policy, scene.Limit = name+", "+scene.Name, policyOf(name), limit
			all = append(all, scene)
		}
	}
	return all
}

// mistakes are the mutants, each with the scene and the policy that catch it.
var mistakes = []struct {
	mutant              Mutant
	name, policy, scene string
}{
	{ackFirst, "the job is acknowledged before the claim", "ByKey", "crashes"},
	{claimIsDone, "a claim counts as done", "ByKey", "crashes"},
	{noFence, "no fence: a write ignores the revision", "None+Park", "racing workers"},
	{noSendingMark, "no Sending mark", "None+Park", "crashes"},
	{shortTTL, "records expire before the deadline", "None+Park", "crashes"},
	{cursorFirst, "the cursor closes before the record is there", "ByKey", "crashes"},
	{randomIDs, "each attempt has an id of its own", "ByKey", "crashes"},
	{countedInMemory, "counters are kept in memory, after the write", "ByKey", "crashes"},
	{deadlineUnchecked, "the deadline is not checked", "ByKey", "crashes"},
	{releaseUnchecked, "the release time is not checked", "ByKey", "edits"},
	{terminalOverwritten, "who lost its claim writes its outcome all the same", "ByKey", "racing workers"},
	{messageFirst, "the message comes before the record", "ByKey", "crashes"},
	{retryUnscheduled, "a retry is acknowledged and not scheduled", "ByKey", "crashes"},
	{unknownIsFailure, "an unknown outcome counts as refused", "None+Park", "crashes"},
	{unknownIsSuccess, "an unknown outcome counts as accepted", "None+Park", "crashes"},
	{sentReopened, "planning again opens a Sent reminder", "None+Park", "crashes"},
	{checkpointFirst, "the checkpoint is stored before the totals", "ByKey", "books"},
	{foldedTwice, "the tally folds a revision that it has folded", "ByKey", "books"},
	{letterForgotten, "a dead reminder gets no dead letter", "ByKey", "crashes"},
	{factsUnchecked, "the claim does not look whether the schedule still wants it", "ByKey", "edits"},
}

// Mutants are the walks of all mutants.
func Mutants(limit int) []Config {
	var all []Config
	for _, m := range mistakes {
		i := slices.IndexFunc(scenes, func(c Config) bool { return c.Name == m.scene })
		c := scenes[i]
		c.Name, c.Policy, c.Mutant, c.Limit = m.name, policyOf(m.policy), m.mutant, limit
		all = append(all, c)
	}
	return all
}

// Run walks all of them, as many at once as there are processors, and tells done of
// each result as it comes.
func Run(all []Config, done func(Result)) []Result {
	results := make([]Result, len(all))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	var mu sync.Mutex
	for i, c := range all {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			results[i] = Walk(c)
			mu.Lock()
			defer mu.Unlock()
			done(results[i])
		})
	}
	running.Wait()
	return results
}
