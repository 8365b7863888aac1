// Package channel submits reminders to the world: one [Sender] per
// ReminderChannel, one file per channel type, one HTTP client.
//
// A sender makes one submission and says how it ended as a [reminder.Result];
// an outcome is not an error, and there are only four. It never retries: each
// submission is an attempt that the worker has counted and recorded. When it
// cannot prove that nothing left this machine, the outcome is Unknown.
//
//	Accepted   the receiver took responsibility
//	Transient  it did not, and a later attempt may succeed
//	Permanent  it did not and never will
//	Unknown    it may or may not have
//
// Nothing of an address, a text, a URL, a credential or of what the receiver
// wrote may leave this package, neither in a Result nor in a log: results end in
// the ledger, in dead letters and in status.
//
// The package may import internal/reminder, net/http and the like; no other
// room of this module, and of other modules only clients of channels.
package channel
