package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// killBroker kills the one server after a second of work, and starts it again.
func killBroker(ctx context.Context, b *brokerRun, _ int) error {
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	return b.NATS.Restart(ctx) // which kills it
}

// pause lets time pass that is part of the fault.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// led are the streams and the consumer whose leaders are killed in turn.
var led = [][2]string{{"REMINDERS-0", ""}, {"KV_reminders-ledger-0", ""}, {"REMINDERS-0", "shop_" + sink}}

// killLeader kills the server that leads a stream or the consumer, waits for the next
// leader, and then starts it again and waits until it has caught up.
func killLeader(ctx context.Context, b *brokerRun, i int) error {
	conn, err := nats.Connect(b.NATSURL(), nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	what := led[i%len(led)]
	leader, err := b.leader(ctx, js, what, nil)
	if err != nil {
		return err
	}
	if err := leader.Kill(); err != nil {
		return err
	}
	killed := time.Now()
	if _, err := b.leader(ctx, js, what, leader); err != nil {
		return err
	}
	b.say("  %s led %v; the next leader is there after %s", leader.Name(), what, time.Since(killed).Round(100*time.Millisecond))
	if err := leader.Restart(ctx); err != nil {
		return err
	}
	return leader.WaitHealthy(ctx)
}

// leader waits for a server other than one that leads.
func (b *brokerRun) leader(ctx context.Context, js jetstream.JetStream, what [2]string, other *cluster.NATS) (leader *cluster.NATS, err error) {
	err = b.await(ctx, fmt.Sprintf("a leader of %v", what), func(ctx context.Context) (bool, string, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		stream, err := js.Stream(ctx, what[0])
		if err != nil {
			return false, "", err
		}
		info := stream.CachedInfo().Cluster
		if what[1] != "" {
			consumer, err := stream.Consumer(ctx, what[1])
			if err != nil {
				return false, "", err
			}
			info = consumer.CachedInfo().Cluster
		}
		for _, n := range b.Servers {
			if n != other && info != nil && n.Name() == info.Leader {
				leader = n
			}
		}
		return leader != nil, fmt.Sprintf("%+v", info), nil
	})
	return leader, err
}

// noticed is how long a stop must be for the condition to be waited for; the stop then
// lasts at least until it is there. A client finds a connection dead after three pings,
// 15 s, and a channel is looked at every 30 s.
const noticed = 25 * time.Second

// stopBroker stops the server where it is for a while. The channel must say
// BrokerUnavailable when that takes long, and must be ready again afterwards.
func stopBroker(ctx context.Context, b *brokerRun, length time.Duration) error {
	if err := b.NATS.Pause(); err != nil {
		return err
	}
	began := time.Now()
	err := b.whileStopped(ctx, length)
	if left := time.Until(began.Add(length)); left > 0 && err == nil {
		err = pause(ctx, left)
	}
	if resumeErr := b.NATS.Resume(); err == nil {
		err = resumeErr
	}
	if err != nil {
		return err
	}
	return b.await(ctx, "the channel to be ready again", func(ctx context.Context) (bool, string, error) {
		return b.says(ctx, v1alpha1.ReasonAvailable)
	})
}

func (b *brokerRun) whileStopped(ctx context.Context, length time.Duration) error {
	if length < noticed {
		return nil
	}
	began := time.Now()
	err := b.await(ctx, "the condition BrokerUnavailable", func(ctx context.Context) (bool, string, error) {
		return b.says(ctx, v1alpha1.ReasonBrokerUnavailable)
	})
	if err == nil {
		b.say("  the condition BrokerUnavailable was there after %s", time.Since(began).Round(100*time.Millisecond))
	}
	return err
}

// says tells whether the channel's Ready condition has a reason.
func (b *brokerRun) says(ctx context.Context, reason string) (bool, string, error) {
	obj := &v1alpha1.ReminderChannel{}
	if err := b.Client.Get(ctx, client.ObjectKey{Namespace: system.Tenant, Name: sink}, obj); err != nil {
		return false, "", err
	}
	is := apimeta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ReadyCondition)
	return is != nil && is.Reason == reason, fmt.Sprintf("%+v", is), nil
}
