package channel_test

import (
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func openLog(t *testing.T, b *ct.Bench) channel.Sender {
	t.Helper()
	s, err := channel.New(reminder.Channel{Namespace: "shop", Name: "billing", Type: reminder.ChannelLog}, channel.Options{Log: b.Log})
	if err != nil {
		t.Fatalf("open channel: %v", err)
	}
	return s
}

func TestLog(t *testing.T) {
	t.Parallel()
	ct.Run(t, map[string]ct.Case{
		"a reminder is accepted": {Open: openLog, Want: accepted("logged")},
	})
}

func TestLogWritesOneLineWithKeyAndDueTime(t *testing.T) {
	t.Parallel()
	bench := ct.NewBench()
	openLog(t, bench).Send(t.Context(), ct.Message())
	got := bench.Logged()
	if strings.Count(got, "\n") != 1 {
		t.Errorf("log has not one line: %s", got)
	}
	for _, want := range []string{`"msg":"Reminder was due"`, `"key":"shop/renewal/2026-11-03T08:00:00Z/acct_4821"`, `"dueTime":"2026-11-03T08:00:00Z"`} {
		if !strings.Contains(got, want) {
			t.Errorf("log lacks %s: %s", want, got)
		}
	}
}
