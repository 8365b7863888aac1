package convert

import (
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// margin is what a worker may spend around a submission before the broker takes
// it for gone, and the broker before another worker may take over.
const margin = time.Second

// Channel is what workers need to know of a channel. Its durations are ordered:
// send timeout < ack wait < lease.
func Channel(obj *v1alpha1.ReminderChannel) reminder.Channel {
	timeout := sendTimeout(obj)
	ackWait := 2*timeout + margin
	return reminder.Channel{
		SchemaVersion: reminder.RegistryVersion, Namespace: obj.Namespace, Name: obj.Name,
		UID: string(obj.UID), CreateTime: obj.CreationTimestamp.UTC(), Generation: obj.Generation,
		Type: reminder.ChannelType(obj.Spec.Type), Dedupes: Dedupes(obj),
		SendTimeout: timeout, AckWait: ackWait, Lease: ackWait + timeout/2 + margin,
		Concurrency: Concurrency(obj), RateLimit: rateLimitOf(obj), MaxInFlightPerTenant: maxInFlightPerTenant(obj),
		Signed: SecretName(obj) != "", HTTP: httpOf(obj), SMTP: smtpOf(obj), NATS: natsOf(obj),
		ReconcileURL: reminder.Endpoint(obj.Spec.ReconcileURL),
	}
}

// Dedupes tells whether the receiver deduplicates on our key. Unless it says
// otherwise, a stream of NATS does, and so does a Log channel by its nature: a
// repeated line names the same key. A mail relay never does.
func Dedupes(obj *v1alpha1.ReminderChannel) bool {
	switch obj.Spec.Type {
	case v1alpha1.ChannelTypeNATS, v1alpha1.ChannelTypeLog:
		return obj.Spec.Idempotency != v1alpha1.IdempotencyNone
	case v1alpha1.ChannelTypeHTTP, v1alpha1.ChannelTypeSMTP:
	}
	return obj.Spec.Type == v1alpha1.ChannelTypeHTTP && obj.Spec.Idempotency == v1alpha1.IdempotencyByKey
}

// DedupeWindow is how long the receiver remembers a key.
func DedupeWindow(obj *v1alpha1.ReminderChannel) time.Duration {
	return durationOf(obj.Spec.DedupeWindow, v1alpha1.DefaultDedupeWindow)
}

// Concurrency is the number of reminders in flight per worker.
func Concurrency(obj *v1alpha1.ReminderChannel) int {
	if w := obj.Spec.Workers; w != nil && w.Concurrency != nil {
		return int(*w.Concurrency)
	}
	return v1alpha1.DefaultConcurrency
}

func rateLimitOf(obj *v1alpha1.ReminderChannel) *reminder.RateLimit {
	r := obj.Spec.RateLimit
	if r == nil {
		return nil
	}
	out := &reminder.RateLimit{PerSecond: int(r.PerSecond), Burst: int(r.Burst)}
	if out.Burst == 0 {
		out.Burst = out.PerSecond
	}
	return out
}

func maxInFlightPerTenant(obj *v1alpha1.ReminderChannel) int {
	if most := obj.Spec.MaxInFlightPerTenant; most != nil {
		return int(*most)
	}
	return 0
}

// Replicas is the number of workers.
func Replicas(obj *v1alpha1.ReminderChannel) int32 {
	if w := obj.Spec.Workers; w != nil && w.Replicas != nil {
		return *w.Replicas
	}
	return v1alpha1.DefaultReplicas
}

// SecretName is the Secret with the channel's signing keys or credentials; empty
// for none.
func SecretName(obj *v1alpha1.ReminderChannel) string {
	switch {
	case obj.Spec.HTTP != nil:
		return obj.Spec.HTTP.SecretName
	case obj.Spec.SMTP != nil:
		return obj.Spec.SMTP.SecretName
	}
	return ""
}

func sendTimeout(obj *v1alpha1.ReminderChannel) time.Duration {
	switch {
	case obj.Spec.HTTP != nil:
		return durationOf(obj.Spec.HTTP.Timeout, v1alpha1.DefaultHTTPTimeout)
	case obj.Spec.SMTP != nil:
		return durationOf(obj.Spec.SMTP.Timeout, v1alpha1.DefaultSMTPTimeout)
	}
	return v1alpha1.DefaultHTTPTimeout
}

func smtpOf(obj *v1alpha1.ReminderChannel) *reminder.SMTPChannel {
	s := obj.Spec.SMTP
	if s == nil {
		return nil
	}
	out := &reminder.SMTPChannel{Host: s.Host, Port: v1alpha1.DefaultSMTPPort, TLS: reminder.TLSRequire, From: s.From}
	if s.Port != nil {
		out.Port = int(*s.Port)
	}
	if s.TLS != "" {
		out.TLS = reminder.TLSMode(s.TLS)
	}
	return out
}

func natsOf(obj *v1alpha1.ReminderChannel) *reminder.NATSChannel {
	if obj.Spec.NATS == nil {
		return nil
	}
	return &reminder.NATSChannel{Subject: obj.Spec.NATS.Subject}
}

func httpOf(obj *v1alpha1.ReminderChannel) *reminder.HTTPChannel {
	h := obj.Spec.HTTP
	if h == nil {
		return nil
	}
	out := &reminder.HTTPChannel{URL: h.URL, Method: string(h.Method)}
	for _, header := range h.Headers {
		out.Headers = append(out.Headers, reminder.HTTPHeader{Name: header.Name, Value: header.Value})
	}
	for _, code := range h.SuccessCodes {
		out.SuccessCodes = append(out.SuccessCodes, int(code))
	}
	return out
}
