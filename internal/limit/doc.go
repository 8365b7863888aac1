// Package limit decides when a worker may submit: the breaker that pauses a
// channel, the window of adaptive concurrency, the token bucket of a rate limit,
// the division of a channel's limits among its workers, and the line in which due
// jobs of many schedules and tenants take turns. It is pure: no clock, no
// goroutine; randomness is an argument.
//
//	Closed ──threshold of failures, a fault of the channel, 410──▶ Open ──its time──▶ HalfOpen (one probe)
//	   ▲                                                            ▲                    │
//	   │                                                            └──── failed again ──┤ the pause doubles
//	   └──────────────────────────── the receiver answered for itself ───────────────────┘
package limit
