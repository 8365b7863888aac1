// Package controllers reconciles the objects of reminders.dev. Each kind has one
// shape: gather what is known, plan (pure, in <kind>_plan.go), apply the plan,
// then write status once. Effects come before the status that reports them, and
// each has a deterministic id, so that a pass may be repeated, cut off anywhere,
// or run by two operators at once.
//
// Policy does not live here: when something falls due is decided by package
// schedule, what becomes of a reminder by package delivery. Secrets are read by
// name only, never listed or watched.
package controllers
