// Package delivery decides what becomes of a reminder. It is pure: values in,
// values out; it does no I/O, reads no clock, starts no goroutine, and each
// function answers the whole next revision of the ledger's record.
//
//	Scheduled ──Admit──▶ Claimed ──MarkSending (channel cannot dedupe)──▶ Sending
//	   ▲ ▲                  │                                               │
//	   │ │                  └───────────────── Decide ──────────────────────┤
//	   │ Replan (also of Retrying)                                          ├─ Accepted ─▶ Sent
//	   │ │                                                                  ├─ Transient ▶ Retrying | Dead
//	   │ Cancelled ◀─ Cancel, Admit ─ (Scheduled, Retrying)                 ├─ Permanent ▶ Dead
//	   └──── Replay ──── Dead ◀─────────────────────────────────────────────┴─ Unknown ──▶ Retrying | Dead
//	                      └─ Replay (action Discard) ─▶ Discarded
//
// A lapsed claim is admitted again; Release gives an unused one back to Scheduled;
// Upgrade turns anything into Sent after a late acceptance.
//
// Where a decision hangs on what only another system knows, it is Ask: whether the
// reminder is still wanted (before each submission), and whether the channel has
// accepted it after all (before it would wait for a person). Decided again with
// the answer, it is one of the above.
//
// Three rules hold everywhere:
//
//   - A reminder that may have been accepted without our knowing (Unresolved, and
//     MayRepeat after a replay) never ends as a plain failure or a cancellation: it
//     ends as Dead(ReconciliationRequired), so that Dead with any other reason
//     proves that the channel accepted nothing.
//   - No submission starts at or after the deadline, and none before the time
//     that the record gives.
//   - A revision never expires before an earlier one of the same key; else the
//     earlier one would come back to life (docs/adr/0003-revisions-expire-in-order.md).
package delivery
