package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

// Finalizer keeps an object until what it left in NATS and in the operator's
// namespace is cleaned up.
const Finalizer = "reminders.dev/cleanup"

// Options are what all controllers share.
type Options struct {
	Client client.Client
	// Reader reads past the cache: Secrets and ConfigMaps, by name.
	Reader client.Reader
	Events events.EventRecorder
	Broker *broker.Broker
	// Namespace is the operator's own, where worker Deployments live.
	Namespace string
	// LookAhead is how far ahead reminders are planned.
	LookAhead time.Duration
	// StatusInterval is the shortest time between two status writes of one object.
	StatusInterval time.Duration
	// CleanupPatience is how long the deletion of an object waits for a cleanup that
	// fails, such as while the broker is away, before it lets go.
	CleanupPatience time.Duration
	// Worker is how worker Deployments are made.
	Worker WorkerTemplate
	// Changed announces schedules whose counters have changed.
	Changed <-chan event.TypedGenericEvent[types.NamespacedName]
	Now     func() time.Time

	// started is when this process began; the zero time is long ago.
	started time.Time
	// calendars are the compiled calendars that all controllers share; nil keeps none.
	calendars *calendarCache
}

// report is what a pass has found out about an object.
type report struct {
	summary condition.Summary
	// again is when to come back at the latest; 0 for not by itself.
	again time.Duration
	// finished: a schedule that has no further occurrence, and whose reminders have
	// their outcomes as far as the counters know.
	finished bool
}

// soonest is the smaller of two waits, where 0 means none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// until is the wait for a time; 0 for the zero time, at least a second else.
func until(t, now time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(t.Sub(now), time.Second)
}

// channelOf reads the channel that a schedule names; nil when there is none.
func (o Options) channelOf(ctx context.Context, obj *v1alpha1.ReminderSchedule) (*v1alpha1.ReminderChannel, error) {
	channel := &v1alpha1.ReminderChannel{}
	err := o.Client.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: obj.Spec.ChannelName}, channel)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read channel of %s/%s: %w", obj.Namespace, obj.Name, err)
	}
	if err != nil || !channel.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return channel, nil
}
