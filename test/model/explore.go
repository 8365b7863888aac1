package model

import (
	"fmt"
	"hash/maphash"
	"math"
)

// Result is what a walk has found.
type Result struct {
	Config
	States, Steps, Depth int
	// Complete: the walk has ended by itself, not at its limit.
	Complete bool
	// Broken is the invariant that does not hold; empty if all do. Trace is the
	// shortest way there.
	Broken string
	Trace  []string
}

// node is a state and how it was reached.
type node struct {
	state  state
	parent uint32
	depth  uint16
}

// graph holds every state once, in the order of discovery, behind a table with open
// addressing: a map would take twice the memory.
type graph struct {
	nodes []node
	table []uint64 // hash and index + 1; 0 is free
	seed  maphash.Seed
}

func newGraph() *graph {
	return &graph{table: make([]uint64, 1<<16), seed: maphash.MakeSeed()}
}

// find answers the index of a state, or the free place where it belongs, and its
// hash without the low half.
func (g *graph) find(s *state) (index uint32, place int, tag uint64, known bool) {
	hash := maphash.Comparable(g.seed, *s)
	mask := len(g.table) - 1
	tag = hash &^ math.MaxUint32
	for at := int(uint32(hash)) & mask; ; at = (at + 1) & mask {
		have := g.table[at]
		if have == 0 {
			return 0, at, tag, false
		}
		if i := uint32(have) - 1; have&^math.MaxUint32 == tag && g.nodes[i].state == *s {
			return i, at, tag, true
		}
	}
}

// add keeps a state that is new.
func (g *graph) add(s state, parent uint32, depth uint16) {
	_, place, tag, known := g.find(&s)
	if known {
		return
	}
	g.nodes = append(g.nodes, node{s, parent, depth})
	g.table[place] = tag | uint64(len(g.nodes))
	if 2*len(g.nodes) > len(g.table) {
		g.grow()
	}
}

func (g *graph) grow() {
	g.table = make([]uint64, 2*len(g.table))
	for i := range g.nodes {
		_, place, tag, _ := g.find(&g.nodes[i].state)
		g.table[place] = tag | uint64(i+1)
	}
}

// Walk visits every state that can be reached, nearest first, and stops at the first
// that breaks an invariant. Then it lets the faults end in each of them, and sees
// where that leads.
func Walk(c Config) Result {
	w := &world{Config: c, asked: map[call]answer{}, folded: map[folding]totals{}}
	g := newGraph()
	g.add(start().sorted(), 0, 0)
	r := Result{Config: c, Complete: true}
	for i := 0; i < len(g.nodes) && r.Broken == ""; i++ {
		if c.Limit > 0 && len(g.nodes) >= c.Limit {
			r.Complete = false
			break
		}
		from := g.nodes[i]
		w.steps(from.state, func(name string, next state, broken string) {
			r.Steps++
			next = next.sorted()
			if broken == "" {
				broken = w.wrong(next)
			}
			if broken != "" && r.Broken == "" {
				r.Broken = broken
				r.Trace = append(w.path(g, uint32(i)), line(name, next))
			}
			g.add(next, uint32(i), from.depth+1)
		})
		r.Depth = int(from.depth)
	}
	if r.States = len(g.nodes); r.Broken == "" {
		w.settleAll(g, &r)
	}
	return r
}

// settleAll follows every state through a calm to its end (I1, I5). What was seen to
// end well is not followed again.
func (w *world) settleAll(g *graph, r *Result) {
	well := make([]bool, len(g.nodes))
	for i := range g.nodes {
		var way []uint32
		s, broken := g.nodes[i].state, ""
		for n := 0; ; n++ {
			if at, _, _, known := g.find(&s); known {
				if well[at] {
					break
				}
				way = append(way, at)
			}
			next, _, wrong, more := w.calm(s)
			if !more {
				broken = w.left(s)
				break
			}
			if broken = wrong + w.wrong(next); broken != "" {
				break
			}
			if s = next; n > maxCalm {
				broken = "I1: it goes round for ever"
				break
			}
		}
		if broken != "" {
			r.Broken, r.Trace = broken, append(w.path(g, uint32(i)), w.calmly(g.nodes[i].state)...)
			return
		}
		for _, at := range way {
			well[at] = true
		}
	}
}

// maxCalm is more steps than any calm takes.
const maxCalm = 1000

// path is how a state was reached, one line for each step.
func (w *world) path(g *graph, to uint32) []string {
	var way []uint32
	for i := to; i != 0; i = g.nodes[i].parent {
		way = append([]uint32{i}, way...)
	}
	var lines []string
	at := uint32(0)
	for _, next := range way {
		found := ""
		w.steps(g.nodes[at].state, func(name string, s state, _ string) {
			if found == "" && s.sorted() == g.nodes[next].state {
				found = line(name, s)
			}
		})
		lines, at = append(lines, found), next
	}
	return lines
}

// calmly is what follows without faults, until the end or until it repeats itself.
func (w *world) calmly(s state) []string {
	lines := []string{"— no more faults —"}
	for range 60 {
		next, what, _, more := w.calm(s)
		if !more {
			return append(lines, "— quiet —")
		}
		lines, s = append(lines, line(what, next)), next
	}
	return append(lines, "…")
}

// line is one step as people read it: when, what, and what the record is then.
func line(name string, s state) string {
	return fmt.Sprintf("%2d h  %-66s %s", s.clock, name, ledger(s))
}

func ledger(s state) string {
	text := fmt.Sprintf("%s, attempts %d, accepted %d", nameOf(s), s.rec.attempts, s.effects)
	if s.due > 0 {
		text += fmt.Sprintf(", %d due", s.due)
	}
	if s.sched > 0 {
		text += fmt.Sprintf(", scheduled for %d h", s.sched-1)
	}
	return text
}

func nameOf(s state) string {
	text := name(s.rec)
	if s.rec.held() {
		text += fmt.Sprintf(" until %d h", s.rec.lease)
	}
	return text
}
