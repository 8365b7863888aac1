package limit

// Line is where jobs wait for their turn. Each flow has a line of its own, first
// come, first served, and the flows take turns one job at a time, so that a long
// one holds up the others by one job a round. It is not safe for concurrent use.
type Line[T any] struct {
	flows []*flow[T] // in order of their next turn; none is empty
	n     int
}

type flow[T any] struct {
	name  string
	items []T
}

// Len is how many jobs wait.
func (l *Line[T]) Len() int { return l.n }

// Has tells whether jobs of a flow wait.
func (l *Line[T]) Has(name string) bool { return l.find(name) != nil }

// Push puts a job at the end of its flow.
func (l *Line[T]) Push(name string, item T) {
	l.n++
	if f := l.find(name); f != nil {
		f.items = append(f.items, item)
		return
	}
	l.flows = append(l.flows, &flow[T]{name, []T{item}})
}

// Pop takes the job whose turn it is, among the flows whose first job may go.
func (l *Line[T]) Pop(may func(T) bool) (item T, ok bool) {
	for i, f := range l.flows {
		if !may(f.items[0]) {
			continue
		}
		item, f.items = f.items[0], f.items[1:]
		l.n--
		l.flows = append(l.flows[:i], l.flows[i+1:]...)
		if len(f.items) > 0 {
			l.flows = append(l.flows, f)
		}
		return item, true
	}
	return item, false
}

// Take removes the jobs that are picked, in no particular order.
func (l *Line[T]) Take(pick func(T) bool) (taken []T) {
	left := l.flows[:0]
	for _, f := range l.flows {
		keep := f.items[:0]
		for _, item := range f.items {
			if pick(item) {
				taken = append(taken, item)
			} else {
				keep = append(keep, item)
			}
		}
		if f.items = keep; len(keep) > 0 {
			left = append(left, f)
		}
	}
	clear(l.flows[len(left):])
	l.flows, l.n = left, l.n-len(taken)
	return taken
}

// Tail takes the later half of the longest flow, unless it is of one job.
func (l *Line[T]) Tail() (taken []T) {
	var longest *flow[T]
	for _, f := range l.flows {
		if longest == nil || len(f.items) > len(longest.items) {
			longest = f
		}
	}
	if longest == nil || len(longest.items) < 2 {
		return nil
	}
	half := (len(longest.items) + 1) / 2
	taken = append(taken, longest.items[half:]...)
	clear(longest.items[half:])
	longest.items = longest.items[:half]
	l.n -= len(taken)
	return taken
}

// Each calls fn with every job that waits.
func (l *Line[T]) Each(fn func(T)) {
	for _, f := range l.flows {
		for _, item := range f.items {
			fn(item)
		}
	}
}

func (l *Line[T]) find(name string) *flow[T] {
	for _, f := range l.flows {
		if f.name == name {
			return f
		}
	}
	return nil
}
