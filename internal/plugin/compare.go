package plugin

import (
	"slices"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
)

// comparison is what an edit changes in the coming occurrences of a schedule, in the form of the JSON output.
type comparison struct {
	Name    string            `json:"name"`
	Change  string            `json:"change"`            // none, edited, added, removed
	Through string            `json:"through,omitempty"` // up to when both were compared; missing if to the end of both
	Kept    int               `json:"kept"`
	Added   []shownOccurrence `json:"added"`
	Removed []shownOccurrence `json:"removed"`
	Moved   []move            `json:"moved"`
	Notes   []string          `json:"notes"`
	Error   string            `json:"error,omitempty"`

	problems []problem
	edits    []edit
}

// move is an occurrence of the same recipient on the same day that is due at another time.
type move struct {
	From shownOccurrence `json:"from"`
	To   shownOccurrence `json:"to"`
}

// edit is one changed occurrence; of a moved one both are set.
type edit struct{ before, after *occurrence }

func (e edit) moved() bool { return e.before != nil && e.after != nil }

func (e edit) due() time.Time {
	if e.before != nil {
		return e.before.Due
	}
	return e.after.Due
}

// state is one of the two versions of a schedule.
type state struct {
	obj  *v1alpha1.ReminderSchedule // nil where it does not exist
	rows []occurrence
	full bool // there are more than these
}

// compare works out what an edit changes.
func compare(before, after state) comparison {
	c := comparison{Added: []shownOccurrence{}, Removed: []shownOccurrence{}, Moved: []move{}, Notes: editNotes(before.obj, after.obj)}
	removed, added := difference(before.rows, after.rows), difference(after.rows, before.rows)
	c.Kept = len(before.rows) - len(removed)
	c.edits = pair(removed, added)
	if end, ok := horizon(before, after); ok {
		c.Through = instant(end)
		c.edits = slices.DeleteFunc(c.edits, func(e edit) bool { return !e.moved() && e.due().After(end) })
	}
	slices.SortStableFunc(c.edits, func(a, b edit) int { return a.due().Compare(b.due()) })
	for _, e := range c.edits {
		switch {
		case e.after == nil:
			c.Removed = append(c.Removed, show(*e.before))
		case e.before == nil:
			c.Added = append(c.Added, show(*e.after))
		default:
			c.Moved = append(c.Moved, move{show(*e.before), show(*e.after)})
		}
	}
	c.Change = change(before.obj, after.obj, len(c.edits)+len(c.Notes))
	return c
}

func change(before, after *v1alpha1.ReminderSchedule, differences int) string {
	switch {
	case before == nil:
		return "added"
	case after == nil:
		return "removed"
	case differences > 0:
		return "edited"
	}
	return "none"
}

// horizon is the time up to which both states are known: the first of their last known occurrences. What only one of them
// has after it, the other may have too. What moves over it is known to move.
func horizon(states ...state) (end time.Time, ok bool) {
	for _, s := range states {
		if !s.full {
			continue
		}
		if last := s.rows[len(s.rows)-1].Due; !ok || last.Before(end) {
			end, ok = last, true
		}
	}
	return end, ok
}

// sameness is what makes two occurrences one.
type sameness struct {
	due       time.Time
	recipient string
}

// difference are the rows that the other does not have.
func difference(rows, other []occurrence) []occurrence {
	known := map[sameness]bool{}
	for _, o := range other {
		known[sameness{o.Due, o.recipient}] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(o occurrence) bool { return known[sameness{o.Due, o.recipient}] })
}

// day is where a removed occurrence looks for an added one to be moved to.
type day struct{ recipient, date string }

func dayOf(o occurrence) day {
	return day{o.recipient, o.Nominal.String()[:len("2006-01-02")]}
}

// pair joins removed and added occurrences of the same recipient and nominal day.
func pair(removed, added []occurrence) []edit {
	waiting := map[day][]*occurrence{}
	for i := range added {
		waiting[dayOf(added[i])] = append(waiting[dayOf(added[i])], &added[i])
	}
	var edits []edit
	for i := range removed {
		e := edit{before: &removed[i]}
		if same := waiting[dayOf(removed[i])]; len(same) > 0 {
			e.after, waiting[dayOf(removed[i])] = same[0], same[1:]
		}
		edits = append(edits, e)
	}
	for i := range added {
		d := dayOf(added[i])
		if len(waiting[d]) > 0 && waiting[d][0] == &added[i] {
			edits, waiting[d] = append(edits, edit{after: &added[i]}), waiting[d][1:]
		}
	}
	return edits
}
