package reminder

import "time"

// Cursor is how far a schedule is planned, under the epoch of its entry. It is
// written before what it speaks of and again behind it, so that a crash in between
// leaves it open, and the next pass finishes what was begun.
type Cursor struct {
	// DoneTime: what becomes of the occurrences that are due at or before it is
	// decided and written down.
	DoneTime time.Time `json:"doneTime,omitzero"`
	// ThroughTime: occurrences behind DoneTime and up to it are being planned. It
	// never goes back while the epoch stays.
	ThroughTime time.Time `json:"throughTime,omitzero"`
	// CatchUpTime is when a plan found that occurrences behind SinceTime had been
	// missed: which of those it takes up follows from both. Zero where none had.
	SinceTime   time.Time `json:"sinceTime,omitzero"`
	CatchUpTime time.Time `json:"catchUpTime,omitzero"`
	// Missed is what that plan gives up; nil for nothing.
	Missed *Gap `json:"missed,omitempty"`
	// Newcomers are the ids of recipients that came with an edit at JoinTime, behind
	// which the plan was begun: they have no part in what was due before.
	JoinTime  time.Time `json:"joinTime,omitzero"`
	Newcomers []string  `json:"newcomers,omitempty"`
}

// Open tells whether a plan was begun and is not known to be finished.
func (c Cursor) Open() bool { return c.ThroughTime.After(c.DoneTime) }

// Close is the cursor of the finished plan.
func (c Cursor) Close() Cursor { return Cursor{DoneTime: c.ThroughTime, ThroughTime: c.ThroughTime} }

// Gap is a run of occurrences that fell due while nothing was planned and that are
// not taken up: one value, however long the run.
type Gap struct {
	// FirstDueTime and LastDueTime are the ends of the run, both in it.
	FirstDueTime time.Time `json:"firstDueTime"`
	LastDueTime  time.Time `json:"lastDueTime"`
	// Reminders counts them for each recipient, 1 or more.
	Reminders int64 `json:"reminders"`
}

// Kept is a slot that an edit has kept, until all of its reminders have ended.
type Kept struct {
	Slot      string    `json:"slot"`
	UntilTime time.Time `json:"untilTime"`
}

// Moved is an occurrence that a change of the time zone data has moved after it
// was planned: it keeps the slot that it was planned under.
type Moved struct {
	// Zone is the recipients' zone; empty for the schedule's.
	Zone string `json:"zone,omitempty"`
	// DueTime is when the occurrence is due now, Slot that of its key.
	DueTime time.Time `json:"dueTime"`
	Slot    string    `json:"slot"`
}
