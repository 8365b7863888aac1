package sweep

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// agenda is when to look at which reminder, by token.
type agenda struct {
	mu sync.Mutex
	at map[string]time.Time
}

type appointment struct {
	token string
	at    time.Time
}

func (a *agenda) set(token string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at[token] = at
}

func (a *agenda) drop(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.at, token)
}

// due are the appointments whose time has come, the oldest first.
func (a *agenda) due(now time.Time) []appointment {
	a.mu.Lock()
	defer a.mu.Unlock()
	var due []appointment
	for token, at := range a.at {
		if !at.After(now) {
			due = append(due, appointment{token, at})
		}
	}
	slices.SortFunc(due, func(x, y appointment) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.token, y.token))
	})
	return due
}

// finish drops an appointment, unless it was changed meanwhile.
func (a *agenda) finish(e appointment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now, ok := a.at[e.token]; ok && now.Equal(e.at) {
		delete(a.at, e.token)
	}
}

// postpone moves an appointment, unless it was changed or dropped meanwhile.
func (a *agenda) postpone(e appointment, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now, ok := a.at[e.token]; ok && now.Equal(e.at) {
		a.at[e.token] = at
	}
}
