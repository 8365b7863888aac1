package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// calendarCache keeps compiled calendars, and what was wrong with them, as long as nothing that they were made from
// changes: thousands of schedules may name one. It is safe for concurrent use; nil keeps nothing.
type calendarCache struct {
	mu  sync.Mutex
	all map[types.NamespacedName]compiledCalendar
}

// compiledCalendar is what became of one calendar.
type compiledCalendar struct {
	version string // of everything that it was made from
	days    *calendar.Calendar
	fault   error
}

// compiled answers a calendar of a version, and compiles it unless that was done. A failure to read is not kept.
func (c *calendarCache) compiled(name types.NamespacedName, version string, compile func() (*calendar.Calendar, error)) (*calendar.Calendar, error) {
	if kept, ok := c.get(name); ok && kept.version == version {
		return kept.days, kept.fault
	}
	days, err := compile()
	if err == nil || isCalendarFault(err) {
		c.keep(name, compiledCalendar{version: version, days: days, fault: err})
	}
	return days, err
}

func (c *calendarCache) get(name types.NamespacedName) (compiledCalendar, bool) {
	if c == nil {
		return compiledCalendar{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.all[name]
	return kept, ok
}

func (c *calendarCache) keep(name types.NamespacedName, one compiledCalendar) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[types.NamespacedName]compiledCalendar{}
	}
	c.all[name] = one
}

// forget drops what is kept of a calendar that is gone.
func (c *calendarCache) forget(name types.NamespacedName) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, name)
}
