package system

import (
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Entry reads what the registry has of a schedule.
func (s *System) Entry(t testing.TB, name string) reminder.Schedule {
	t.Helper()
	entry, _, err := s.Broker.Registry.Schedule(t.Context(), Tenant, name)
	if err != nil {
		t.Fatalf("read the entry of %s: %v", name, err)
	}
	return entry
}

// PlannedThrough changes the registry as if a schedule had last been planned at a
// time and up to then: the history that a test cannot wait for. The entry is of the
// spec as it is now. It fails where a controller writes the entry at the same time.
func (s *System) PlannedThrough(t testing.TB, name string, at time.Time) {
	t.Helper()
	entry, revision, err := s.Broker.Registry.Schedule(t.Context(), Tenant, name)
	if err != nil {
		t.Fatalf("read the entry of %s: %v", name, err)
	}
	obj := s.Schedule(t, name)
	entry.Generation, entry.Suspended = obj.Generation, obj.Spec.Suspend
	entry.Cursor = reminder.Cursor{DoneTime: at.UTC(), ThroughTime: at.UTC()}
	if _, err := s.Broker.Registry.PutSchedule(t.Context(), entry, revision, 0); err != nil {
		t.Fatalf("write the entry of %s: %v", name, err)
	}
}
