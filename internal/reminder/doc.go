// Package reminder is the vocabulary of the operator: the nouns that every
// other room speaks of, and the JSON forms in which they are stored.
//
//	Key        the stable identity of a reminder
//	Record     one revision of a reminder in the ledger
//	Job        the envelope of a due job
//	Result     what a channel said of one submission
//	Schedule, Channel, Recipient
//	           what workers must know of the objects, as the registry holds it
//
// It has no behaviour beyond naming, encoding and validating, imports only the
// standard library and may not import anything of this module. All instants
// are in UTC. The JSON forms carry a schemaVersion; a reader that meets a newer
// one must hold what it read, never drop it (see [ErrNewerSchema]).
package reminder
