// Package message renders the text of reminders: templates in which {{ }} holds
// one CEL expression over
//
//	recipient.id, recipient.timeZone          string
//	recipient.attributes.<name>               string
//	reminder.key, reminder.slot               string
//	reminder.dueTime, reminder.deadlineTime   timestamp
//	schedule.name, schedule.namespace         string
//
// Everything that can be known of a template is refused by [Compile]: an
// expression that is not closed, an unknown name, a wrong type, a cost that
// cannot be afforded. What depends on the recipient is refused by
// [Template.Render]: an attribute that is missing is an error, never a hole in
// the text. Neither the attempt nor the current time can be asked for, so every
// attempt of a reminder has the same text, as receivers that compare repeats of
// an idempotency key require.
//
// A template is written by a tenant and rendered for data of others, so both are
// bounded: source, output, steps and bytes touched. Errors hold the expression,
// which belongs to the author of the schedule, and an attribute's name if the
// expression spells it; never a value, since errors end in ledgers and status.
//
// The package is pure: no I/O, no clock, no goroutines. It may import
// internal/reminder and cel-go and nothing else of this module.
package message
