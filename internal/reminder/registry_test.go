package reminder_test

import (
	"errors"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func TestChannelTimesMustRise(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		send, ack, lease time.Duration
		concurrency      int
		want             error
	}{
		"each longer than the one before": {time.Second, 2 * time.Second, 3 * time.Second, 1, nil},
		"by as little as can be":          {1, 2, 3, 1, nil},
		"no send timeout":                 {0, 2 * time.Second, 3 * time.Second, 1, reminder.ErrMalformed},
		"a negative send timeout":         {-1, 2 * time.Second, 3 * time.Second, 1, reminder.ErrMalformed},
		"ack wait of a send timeout":      {time.Second, time.Second, 3 * time.Second, 1, reminder.ErrMalformed},
		"lease of an ack wait":            {time.Second, 2 * time.Second, 2 * time.Second, 1, reminder.ErrMalformed},
		"nothing set":                     {0, 0, 0, 1, reminder.ErrMalformed},
		"no concurrency":                  {time.Second, 2 * time.Second, 3 * time.Second, 0, reminder.ErrMalformed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := reminder.Channel{Namespace: "shop", Name: "mail", SendTimeout: tt.send, AckWait: tt.ack, Lease: tt.lease, Concurrency: tt.concurrency}
			if err := c.Validate(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
