package cmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// Scripts read the first line; the data versions stand below it.
func TestVersionNamesTheDataInTheProgram(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := versionCommand()
	c.SetOut(&out)
	c.SetArgs(nil)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	want := []string{version(), "time zones " + schedule.TZDataVersion(), "holidays " + calendar.DataVersion(), ""}
	if got := strings.Split(out.String(), "\n"); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("it prints %q, want %q", got, want)
	}
}
