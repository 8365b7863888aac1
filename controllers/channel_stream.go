package controllers

import (
	"context"
	"errors"
	"fmt"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// checkStream answers what is wrong with the stream that a NATS channel publishes
// to, in words; empty when nothing is, and for other channels.
func (r *channelReconciler) checkStream(ctx context.Context, obj *v1alpha1.ReminderChannel) (string, error) {
	if obj.Spec.NATS == nil {
		return "", nil
	}
	stream, err := r.Broker.Outlet.Stream(ctx, obj.Spec.NATS.Subject)
	if errors.Is(err, reminder.ErrLost) {
		return fmt.Sprintf("no stream takes the subject %s; create one with it on the operator's NATS", obj.Spec.NATS.Subject), nil
	}
	if err != nil {
		return "", err
	}
	return streamFault(obj, stream), nil
}

// streamFault is why the channel cannot keep its promise with a stream; empty
// when it can.
func streamFault(obj *v1alpha1.ReminderChannel, stream broker.StreamInfo) string {
	window := convert.DedupeWindow(obj)
	switch {
	case !stream.Acknowledges:
		return fmt.Sprintf("stream %s acknowledges nothing (no_ack), so that no outcome would be known; turn no_ack off", stream.Name)
	case convert.Dedupes(obj) && stream.Window < window:
		return fmt.Sprintf("stream %s remembers message ids for %s, which is shorter than spec.dedupeWindow (%s); set duplicate_window of the stream to %s or more, shorten spec.dedupeWindow, or set spec.idempotency to None",
			stream.Name, stream.Window, window, window)
	}
	return ""
}
