// Package worker delivers the due jobs of one channel: it fetches a job, checks
// the ledger's record and durable facts, claims by compare-and-set, hands the
// message to the channel, lets package delivery decide, persists the decision
// and only then acknowledges.
//
// It holds no policy of its own and imports nothing of Kubernetes: what it needs
// to know of schedules and channels it reads from the registry. It fails closed:
// where the ledger cannot be read or written, nothing is sent.
package worker
