// Package plugin has the verbs of kubectl-reminders: next shows what schedules come to, lint says what is wrong with them,
// render what a recipient will read, audit whether everything became of them that should have, and version what they rest
// on. They work on files without a cluster; next also reads one, and audit reads one and NATS.
//
// The parts: documents splits files, objects says what each document is, judge what is wrong with it, preview when it
// falls due, compare what an edit changes. These are functions of their arguments. The verbs, in next.go, lint.go and
// cluster.go, read and print; the clock and the streams are handed in.
//
// Addresses, attributes and texts of messages are never printed, but for the texts that render is asked for.
package plugin
