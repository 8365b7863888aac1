// Package condition keeps the conditions of our objects in the form that kstatus
// knows: Ready is always there; Reconciling and Stalled only while True; each
// carries the generation that it speaks of. It also writes status: once per
// pass, only on change, and at most once per interval and object.
//
// It decides nothing about what a condition should say.
package condition
