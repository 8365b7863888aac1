// Command main walks the model of the delivery protocol through all shipped policies
// and all mutants, and prints what it found.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/test/model"
)

func main() {
	limit := flag.Int("limit", 100_000, "the largest number of states of one walk")
	verbose := flag.Bool("v", false, "print the shortest path to each mutant's end")
	flag.Parse()
	if !run(*limit, *verbose) {
		os.Exit(1)
	}
}

func run(limit int, verbose bool) bool {
	begin := time.Now()
	states, violations, caught := 0, 0, 0
	model.Run(model.Walks(limit), func(r model.Result) {
		states += r.States
		extent := "all"
		if !r.Complete {
			extent = "the nearest"
		}
		fmt.Printf("%-38s %8d states (%s), %9d steps, depth %2d\n", r.Name, r.States, extent, r.Steps, r.Depth)
		if r.Broken != "" {
			violations++
			fmt.Printf("VIOLATION %s\n%s\n", r.Broken, strings.Join(r.Trace, "\n"))
		}
	})
	mutants := model.Mutants(limit)
	model.Run(mutants, func(r model.Result) {
		if r.Broken == "" {
			fmt.Printf("NOT CAUGHT %s, after %d states\n", r.Name, r.States)
			return
		}
		caught++
		fmt.Printf("mutant: %-62s %s, after %d steps\n", r.Name, r.Broken, len(r.Trace))
		if verbose {
			fmt.Println(strings.Join(r.Trace, "\n"))
		}
	})
	fmt.Printf("model: states=%d policies=%d violations=%d mutants=%d/%d seconds=%d\n",
		states, len(model.Policies()), violations, caught, len(mutants), int(time.Since(begin).Seconds()))
	return violations == 0 && caught == len(mutants)
}
