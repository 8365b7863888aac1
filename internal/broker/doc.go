// Package broker is the operator's use of NATS JetStream and the only importer
// of nats.go. It creates and checks the streams and buckets, and offers them as
// services in the words of package reminder:
//
//	Ledger       one record per reminder, written by compare-and-set
//	Queue        due jobs and the message schedules that release them
//	Registry     what workers need to know of schedules and channels; heartbeats
//	Audience     recipients
//	DeadLetters  reminders whose automatic policy has ended
//	TallyStore   counters with the ledger revision that they include
//
// It holds no policy: it does not decide what becomes of a reminder, only how a
// decision is stored. Its errors are those of package reminder. Nothing it
// returns or logs contains the value of an entry.
package broker
