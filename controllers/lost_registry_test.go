package controllers

import "testing"

// A bucket that is lost must not look like an edit: what is due or waits for a
// retry stays as it was planned.
func TestALostRegistryKeepsWhatTheSameSpecHasPlanned(t *testing.T) {
	t.Parallel()
	in := scheduleInput{object: aSchedule(cron("0 9 * * *"), cursor("12:15:00")), now: clock("12:00:00"), open: 7}
	if entry, withdraw := registration(in); entry.Epoch != 7 || withdraw {
		t.Errorf("with open reminders: epoch %d, withdraw %t; want 7, false", entry.Epoch, withdraw)
	}
	in.open = 0
	if entry, _ := registration(in); entry.Epoch != in.now.Unix() {
		t.Errorf("without: epoch %d, want the clock's %d", entry.Epoch, in.now.Unix())
	}
}
