package rrule

// choice is what BYSETPOS chooses of the n times of a period, by their ranks from 0.
type choice struct {
	first daySet // bit k: the kth, from 0
	last  daySet // bit k: the kth from the end, from 0
}

func choiceOf(setPos []int) *choice {
	c := &choice{}
	for _, pos := range setPos {
		if pos > 0 {
			c.first.add(pos-1, 1)
		} else {
			c.last.add(-pos-1, 1)
		}
	}
	return c
}

// from returns the first rank from k on.
func (c *choice) from(k, n int) (int, bool) {
	if k >= n {
		return 0, false
	}
	best, ok := c.first.from(k)
	if ok = ok && best < n; !ok {
		best = n
	}
	if back, found := c.last.upTo(min(n-1-k, maxDays-1)); found && n-1-back <= best {
		return n - 1 - back, true
	}
	return best, ok
}

// upTo returns the last rank up to k, which is less than n.
func (c *choice) upTo(k, n int) (int, bool) {
	if k < 0 {
		return 0, false
	}
	best, ok := c.first.upTo(min(k, maxDays-1))
	if back, found := c.last.from(n - 1 - k); found && back < n && (!ok || n-1-back > best) {
		return n - 1 - back, true
	}
	return best, ok
}

// count returns the number of ranks less than k, which is at most n. A rank may be named from both ends.
func (c *choice) count(k, n int) (count int) {
	for rank, ok := c.from(0, n); ok && rank < k; rank, ok = c.from(rank+1, n) {
		count++
	}
	return count
}

// any tells whether there is one if a period has n times.
func (c *choice) any(n int) bool {
	_, ok := c.from(0, n)
	return ok
}

// has tells whether the rank k is chosen of n.
func (c *choice) has(k, n int) bool {
	rank, ok := c.from(k, n)
	return ok && rank == k
}
