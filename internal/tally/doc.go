// Package tally folds the ledger's stream into the counters of each schedule.
// Each revision carries what its predecessor counted for, so that adding the new
// and subtracting the old is exact, and each is applied once: the counters and
// the revision that they include are one value with one compare-and-set.
//
// It may not count anything that is not in the ledger, nor write to the ledger.
// Two tallies at once are wasteful, not wrong.
package tally
