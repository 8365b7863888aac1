// Package audit proves on a user's own data that no reminder was lost or sent twice and that the counters are right: it
// compares what the ledger, the streams, the tally, status and the receiver say of a schedule, and the schedule itself.
//
// It is a judge, so it shares no code with what it judges: it counts from the latest record of each reminder, where the
// tally folds transitions, and it checks that each revision follows the one before. [Books] take the revisions of the
// ledger up to a cut; [Compare] takes them with [Facts] of the other sources, each read behind or before that cut as its
// comment says. Everything here is a function of values: internal/plugin reads.
//
// What moves while it is read is no difference: whatever is younger than a grace is left alone, and status may be as old
// as its lag. Addresses and texts of messages are in none of the sources that are compared.
package audit
