// Package model walks breadth-first through every interleaving, up to bounds, of
// the actors of the delivery protocol around one reminder: two workers, two
// planners, the audit sweep, the tally, a receiver, the broker and a user, with
// crashes at each step, lost and repeated messages, and a clock.
//
// What is decided is not modelled: every next record comes from the functions of
// internal/delivery, every counter from tally.Fold. The model is only the shell
// around them: which step reads, which writes by compare-and-set, what an actor
// holds in memory in between, and what is left when it dies there.
//
// A state is a plain value of bytes; all states are kept, so that a violation is
// printed as the shortest path to it. Mutants are the same shell with one mistake
// made on purpose: each must be caught, or the model proves nothing.
package model
