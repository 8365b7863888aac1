package reminder_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// The endpoint of a channel may be a credential: however one is printed, it stays
// out of logs and errors.
func TestChannelsPrintNoEndpoint(t *testing.T) {
	t.Parallel()
	http := reminder.HTTPChannel{
		URL: "https://hooks.example.com/T0/CANARY", Method: "POST", Headers: []reminder.HTTPHeader{{Name: "X-Team", Value: "CANARY"}},
	}
	channel := reminder.Channel{Namespace: "shop", Name: "mail", Type: reminder.ChannelHTTP, HTTP: &http, ReconcileURL: "https://mail.example.com/CANARY"}
	schedule := reminder.Schedule{Namespace: "shop", Name: "renewal", EligibilityURL: "https://billing.example.com/CANARY"}
	var printed []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{http, &http, channel, &channel, []any{channel}, map[string]any{"c": http}, schedule, &schedule, schedule.EligibilityURL} {
			printed = append(printed, fmt.Sprintf(verb, value))
		}
	}
	printed = append(printed, fmt.Sprint(http), http.String(), fmt.Errorf("open %v: %w", channel, errors.New("no")).Error())
	var out bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(handler).Info("Opened", "http", http, "pointer", &http, "channel", channel, "pointer", &channel, "schedule", schedule, "url", channel.ReconcileURL)
	}
	for _, text := range append(printed, out.String()) {
		if strings.Contains(text, "CANARY") || strings.Contains(text, fmt.Sprintf("%x", "CANARY")) {
			t.Errorf("the endpoint is printed: %s", text)
		}
	}
	if !strings.Contains(out.String(), "shop") || !strings.Contains(out.String(), "mail") {
		t.Errorf("the channel's name is not logged: %s", out.String())
	}
}
