package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// group is one block of constants with the sentence above it.
type group struct {
	title     string
	constants []constant
}

// constant is one word that stands in status, the ledger or a dead letter.
type constant struct {
	name, value, text string
	// used: this version writes it somewhere.
	used bool
}

func (s *source) readReasons(root string) error {
	var err error
	if s.conditions, err = readConstants(root, "api/v1alpha1", "v1alpha1", []string{"controllers", "internal/condition"}, func(g group) bool {
		return strings.HasPrefix(g.title, "Types of conditions") || strings.HasPrefix(g.title, "Reasons of")
	}); err != nil {
		return err
	}
	users := []string{"controllers", "internal/channel", "internal/delivery", "internal/sweep", "internal/worker"}
	s.outcomes, err = readConstants(root, "internal/reminder", "reminder", users, func(g group) bool {
		return strings.HasPrefix(g.title, "Reasons of")
	})
	return err
}

// readConstants reads the wanted blocks of constants of a package, and which of
// them the users name.
func readConstants(root, folder, pkg string, users []string, want func(group) bool) ([]group, error) {
	used := map[string]bool{}
	for _, user := range users {
		files, err := parseDir(root, user)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg {
						used[sel.Sel.Name] = true
					}
				}
				return true
			})
		}
	}
	files, err := parseDir(root, folder)
	if err != nil {
		return nil, err
	}
	var groups []group
	for _, f := range files {
		for _, d := range f.Decls {
			if block, ok := d.(*ast.GenDecl); ok && block.Tok == token.CONST && block.Doc != nil {
				if g := groupOf(block, used); want(g) {
					groups = append(groups, g)
				}
			}
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("read the reasons: %s has none", folder)
	}
	return groups, nil
}

func groupOf(block *ast.GenDecl, used map[string]bool) group {
	title, _, _ := strings.Cut(strings.Join(strings.Fields(block.Doc.Text()), " "), ". ")
	g := group{title: strings.TrimSuffix(title, ".")}
	for _, spec := range block.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			continue
		}
		c := constant{name: v.Names[0].Name, value: literal(v.Values[0]), used: used[v.Names[0].Name]}
		c.text = sentence(strings.Join(strings.Fields(v.Doc.Text()), " "), c)
		g.constants = append(g.constants, c)
	}
	return g
}

// sentence is a comment as it stands in a table: "Planned: the occurrences…" says
// its name elsewhere, "ReadyCondition is True…" is about the word itself.
func sentence(comment string, c constant) string {
	text, named := strings.CutPrefix(comment, c.name+": ")
	if !named {
		return "`" + c.value + "`" + strings.TrimPrefix(comment, c.name)
	}
	if first, _, _ := strings.Cut(text, " "); !strings.Contains(first, ".") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if remark := remarks[c.value]; remark != "" {
		text += " **In this version:** " + remark
	}
	return text
}

// remarks say where this version does not do yet what a word is meant for.
var remarks = map[string]string{
	"LedgerLost": "a ledger that is missing is made anew within seconds, and nobody has to confirm.",
}

const reasonsHead = `<!-- Written by go run ./hack/docs from the comments of the constants. Do not edit. -->

# Conditions and reasons

Every word that this operator writes into a condition, a dead letter or a record of the ledger. The words are part of the API: they do
not change their meaning.

The last column tells whether this version ever writes the word. The others are reserved for what is not built yet.

`

const outcomesHead = `## Reasons of dead letters and cancellations

They stand in the ledger's record, in dead letters, and in ` + "`status.deadLetters`" + ` of a ReminderSchedule. The owner of a dead letter is
who can fix its cause, and a part of its subject in the stream ` + "`REMINDERS_DEAD`" + `.

`

const reasonsTail = `## Events

An event of an object has the reason of the change of its condition Ready. Two kinds come without one:

| reason | on | meaning |
|---|---|---|
| ` + "`OccurrencesMissed`" + ` | ReminderSchedule | Occurrences fell due while nothing was planned, and catchUp does not take them up. The message says how many reminders that is, and from when to when; they are counted in ` + "`status.counts.missed`" + `. |
| that of the failure, such as ` + "`BrokerUnavailable`" + ` | ReminderSchedule, ReminderChannel | The object was deleted although cleaning up behind it had failed for longer than the flag --cleanup-patience allows. The message says what is left. |
`

func (s *source) reasonsPage() string {
	var b strings.Builder
	b.WriteString(reasonsHead)
	for _, g := range s.conditions {
		b.WriteString("## " + g.title + "\n\n" + table("name", "meaning", "written by this version"))
		for _, c := range g.constants {
			b.WriteString(row("`"+c.value+"`", cell(c.text), yes(c.used)))
		}
		b.WriteString("\n")
	}
	b.WriteString(outcomesHead)
	for _, g := range s.outcomes {
		owned := g.title == "Reasons of Dead"
		b.WriteString("### " + g.title + "\n\n")
		if owned {
			b.WriteString(table("reason", "owner", "meaning", "written by this version"))
		} else {
			b.WriteString(table("reason", "meaning", "written by this version"))
		}
		for _, c := range g.constants {
			cells := []string{"`" + c.value + "`", cell(c.text), yes(c.used)}
			if owned {
				owner := "`" + string(reminder.OwnerOf(reminder.Reason(c.value))) + "`"
				cells = []string{cells[0], owner, cells[1], cells[2]}
			}
			b.WriteString(row(cells...))
		}
		b.WriteString("\n")
	}
	b.WriteString(reasonsTail)
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "not yet"
}
