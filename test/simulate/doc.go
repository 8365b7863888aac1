// Package simulate runs the real worker, tally and audit sweep, and a planner that
// writes what controllers write, over a broker in memory and under a clock of
// testing/synctest: minutes of faults take milliseconds, and a seed decides all of
// them. Its tests are the simulation.
package simulate
