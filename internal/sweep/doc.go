// Package sweep is the audit sweep: it follows the ledger and repairs what has
// no outcome although its time has passed. A reminder whose message is gone (a
// purged stream, a crash between record and message) gets a new due job, and is
// counted; one whose deadline has passed without a worker ends as dead. Dead
// letters are kept equal to the ledger: a crash between a record and its dead
// letter leaves one that is missing, or one too many.
//
// It sends nothing itself and takes no claim: each repair is a create-if-absent
// or a compare-and-set, so that two sweeps at once do no harm.
package sweep
