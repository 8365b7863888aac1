package convert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func channel(spec v1alpha1.ReminderChannelSpec) *v1alpha1.ReminderChannel {
	return &v1alpha1.ReminderChannel{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mail", UID: "uid-1", Generation: 2, CreationTimestamp: metav1.Time{Time: created}},
		Spec:       spec,
	}
}

func httpSpec(h v1alpha1.HTTPChannel) v1alpha1.ReminderChannelSpec {
	return v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeHTTP, HTTP: &h, Idempotency: v1alpha1.IdempotencyByKey}
}

func TestChannel(t *testing.T) {
	t.Parallel()
	common := reminder.Channel{
		SchemaVersion: reminder.RegistryVersion, Namespace: "shop", Name: "mail", UID: "uid-1", CreateTime: created, Generation: 2,
		Dedupes: true, SendTimeout: 10 * time.Second, AckWait: 21 * time.Second, Lease: 27 * time.Second, Concurrency: 32,
	}
	cases := map[string]struct {
		spec v1alpha1.ReminderChannelSpec
		want func(*reminder.Channel)
	}{
		"Log with nothing set dedupes": {
			v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeLog, Log: &v1alpha1.LogChannel{}},
			func(c *reminder.Channel) { c.Type = reminder.ChannelLog },
		},
		"Log without idempotency": {
			v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeLog, Log: &v1alpha1.LogChannel{}, Idempotency: v1alpha1.IdempotencyNone},
			func(c *reminder.Channel) { c.Type, c.Dedupes = reminder.ChannelLog, false },
		},
		"SMTP with its least": {
			v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeSMTP, SMTP: &v1alpha1.SMTPChannel{Host: "smtp.example.com", From: "a@example.com"}},
			func(c *reminder.Channel) {
				c.Type, c.Dedupes, c.SendTimeout, c.AckWait, c.Lease = reminder.ChannelSMTP, false, 30*time.Second, 61*time.Second, 77*time.Second
				c.SMTP = &reminder.SMTPChannel{Host: "smtp.example.com", Port: 587, TLS: reminder.TLSRequire, From: "a@example.com"}
			},
		},
		"SMTP with everything, and a promise that no relay keeps": {
			v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeSMTP, Idempotency: v1alpha1.IdempotencyByKey, SMTP: &v1alpha1.SMTPChannel{
				Host: "::1", Port: new(int32(25)), TLS: v1alpha1.SMTPTLSOpportunistic, From: "a@example.com", SecretName: "relay", Timeout: seconds(2),
			}},
			func(c *reminder.Channel) {
				c.Type, c.Dedupes, c.Signed = reminder.ChannelSMTP, false, true
				c.SendTimeout, c.AckWait, c.Lease = 2*time.Second, 5*time.Second, 7*time.Second
				c.SMTP = &reminder.SMTPChannel{Host: "::1", Port: 25, TLS: reminder.TLSOpportunistic, From: "a@example.com"}
			},
		},
		"NATS with its least dedupes": {
			v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeNATS, NATS: &v1alpha1.NATSChannel{Subject: "billing.reminders"}},
			func(c *reminder.Channel) {
				c.Type, c.NATS = reminder.ChannelNATS, &reminder.NATSChannel{Subject: "billing.reminders"}
			},
		},
		"NATS without idempotency": {
			v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeNATS, NATS: &v1alpha1.NATSChannel{Subject: "a"}, Idempotency: v1alpha1.IdempotencyNone},
			func(c *reminder.Channel) {
				c.Type, c.Dedupes, c.NATS = reminder.ChannelNATS, false, &reminder.NATSChannel{Subject: "a"}
			},
		},
		"HTTP with its least": {
			httpSpec(v1alpha1.HTTPChannel{URL: "https://example.com/hook"}),
			func(c *reminder.Channel) {
				c.Type, c.HTTP = reminder.ChannelHTTP, &reminder.HTTPChannel{URL: "https://example.com/hook"}
			},
		},
		"HTTP with everything": {
			v1alpha1.ReminderChannelSpec{
				Type: v1alpha1.ChannelTypeHTTP, Idempotency: v1alpha1.IdempotencyNone, Workers: &v1alpha1.WorkersSpec{Concurrency: new(int32(4))},
				HTTP: &v1alpha1.HTTPChannel{
					URL: "https://example.com/hook", Method: v1alpha1.MethodPut, SecretName: "signing", Timeout: seconds(2),
					Headers: []v1alpha1.HTTPHeader{{Name: "X-Team", Value: "billing"}}, SuccessCodes: []int32{200, 202},
				},
			},
			func(c *reminder.Channel) {
				c.Type, c.Dedupes, c.Signed, c.Concurrency = reminder.ChannelHTTP, false, true, 4
				c.SendTimeout, c.AckWait, c.Lease = 2*time.Second, 5*time.Second, 7*time.Second
				c.HTTP = &reminder.HTTPChannel{
					URL: "https://example.com/hook", Method: "PUT",
					Headers: []reminder.HTTPHeader{{Name: "X-Team", Value: "billing"}}, SuccessCodes: []int{200, 202},
				}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := common
			c.want(&want)
			if diff := cmp.Diff(want, convert.Channel(channel(c.spec))); diff != "" {
				t.Errorf("channel (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChannelDefaults(t *testing.T) {
	t.Parallel()
	bare := channel(v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeLog})
	if got := convert.Replicas(bare); got != 1 {
		t.Errorf("replicas %d, want 1", got)
	}
	if got := convert.DedupeWindow(bare); got != 24*time.Hour {
		t.Errorf("dedupeWindow %s, want 24h", got)
	}
	if got := convert.SecretName(bare); got != "" {
		t.Errorf("secretName %q, want none", got)
	}
	set := channel(v1alpha1.ReminderChannelSpec{Type: v1alpha1.ChannelTypeLog, DedupeWindow: seconds(60), Workers: &v1alpha1.WorkersSpec{Replicas: new(int32(0))}})
	if r, w := convert.Replicas(set), convert.DedupeWindow(set); r != 0 || w != time.Minute {
		t.Errorf("replicas %d and dedupeWindow %s; want 0 and 1m", r, w)
	}
}

// A worker gives up before the broker redelivers, and the broker before another
// worker may take over: for every timeout that the API allows.
func TestChannelDurationsAreOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		timeout := time.Duration(rapid.Int64Range(int64(100*time.Millisecond), int64(time.Minute)).Draw(t, "timeout"))
		c := convert.Channel(channel(httpSpec(v1alpha1.HTTPChannel{Timeout: &metav1.Duration{Duration: timeout}})))
		if c.SendTimeout != timeout || c.SendTimeout >= c.AckWait || c.AckWait >= c.Lease {
			t.Fatalf("send timeout %s, ack wait %s, lease %s: not in that order", c.SendTimeout, c.AckWait, c.Lease)
		}
		if margin := c.AckWait - c.SendTimeout; margin < time.Second {
			t.Fatalf("%s between send timeout and ack wait is less than a worker needs", margin)
		}
		if margin := c.Lease - c.AckWait; margin < time.Second {
			t.Fatalf("%s between ack wait and lease is less than two clocks may differ", margin)
		}
	})
}
