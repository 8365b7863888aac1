package brokertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/delivery"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Ledger is what workers, controllers, the tally and the sweep need of a ledger.
type Ledger interface {
	Create(ctx context.Context, r reminder.Record) (uint64, error)
	Get(ctx context.Context, token string) (reminder.Record, uint64, error)
	Update(ctx context.Context, r reminder.Record, last uint64) (uint64, error)
	Of(ctx context.Context, namespace, schedule string, fn func(broker.Revision) error) error
	Follow(ctx context.Context, from uint64, fn func(broker.Revision) error, idle func() error) error
	LastRevision(ctx context.Context) (uint64, error)
}

// Queue is what they need of the stream of due jobs.
type Queue interface {
	EnsureConsumer(ctx context.Context, c reminder.Channel) error
	Fetch(ctx context.Context, namespace, channel string, limit int, fn func(broker.Delivery)) error
	Release(ctx context.Context, r reminder.Record, revision uint64, at, now time.Time) error
	Restore(ctx context.Context, r reminder.Record, revision uint64) error
	Standing(ctx context.Context, key reminder.Key) (bool, error)
	Withdraw(ctx context.Context, key reminder.Key) error
	WithdrawSchedule(ctx context.Context, namespace, schedule string) error
}

// Registry is what they need of the registry.
type Registry interface {
	Schedule(ctx context.Context, namespace, name string) (reminder.Schedule, uint64, error)
	PutSchedule(ctx context.Context, s reminder.Schedule, last uint64, ttl time.Duration) (uint64, error)
	PutChannel(ctx context.Context, c reminder.Channel, last uint64) error
	WatchChannel(ctx context.Context, namespace, name string, fn func(reminder.Channel) error) error
	Beat(ctx context.Context, w reminder.Worker) error
	Rest(ctx context.Context, w reminder.Worker) error
	Workers(ctx context.Context, namespace, channel string) ([]reminder.Worker, error)
}

// Audience is what they need of the bucket of recipients.
type Audience interface {
	Recipient(ctx context.Context, namespace, schedule, id string) (reminder.Recipient, error)
	Complete(ctx context.Context, namespace, schedule, hash string) (bool, error)
	Replace(ctx context.Context, namespace, schedule, hash string, recipients []reminder.Recipient) error
	Forget(ctx context.Context, namespace, schedule string) error
}

// DeadLetters is what they need of the stream of dead letters.
type DeadLetters interface {
	Publish(ctx context.Context, letter reminder.DeadLetter) error
	Standing(ctx context.Context, letter reminder.DeadLetter) (bool, error)
	Resolve(ctx context.Context, key reminder.Key) error
}

// Tally is what the tally needs of its store.
type Tally interface {
	Totals(ctx context.Context, namespace, schedule string) (reminder.Totals, uint64, error)
	SaveTotals(ctx context.Context, totals reminder.Totals, last uint64) error
	ForgetTotals(ctx context.Context, namespace, schedule string) error
	Checkpoint(ctx context.Context) (uint64, error)
	SaveCheckpoint(ctx context.Context, revision uint64) error
}

// Services are one broker's.
type Services struct {
	Ledger      Ledger
	Queue       Queue
	Registry    Registry
	Audience    Audience
	DeadLetters DeadLetters
	Tally       Tally
}

// Of are the services of a real broker.
func Of(b *broker.Broker) Services {
	return Services{b.Ledger, b.Queue, b.Registry, b.Audience, b.DeadLetters, b.Tally}
}

// Conform holds an implementation against what its users rely on; start makes an
// empty one for each case.
func Conform(t *testing.T, start func(t *testing.T) Services) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, Services){
		"a record is created once, and the same creation again is the same": createOnce,
		"a record is updated over its last revision only":                   updateByRevision,
		"a record is forgotten when it expires, and can be created anew":    forgetExpired,
		"a follower sees every revision from a number on, in order":         followFrom,
		"a follower from nowhere sees the latest of each reminder":          followLatest,
		"a list has the latest of each reminder of the schedule alone":      listSchedule,
		"a due job appears at its time, once however often it was released": releaseOnTime,
		"a due job that is published at once twice for a revision is one":   releaseAtOnce,
		"a due job is restored only where none waits or is in flight":       restoreOnce,
		"a due job that is not acknowledged comes again, and says so":       redeliver,
		"a due job in hand does not come again while its worker says so":    keepInHand,
		"a due job that is given back comes again after the delay":          giveBack,
		"an acknowledgement also counts by an older delivery":               ackOlder,
		"a due job that is dropped or withdrawn does not come":              withdraw,
		"consumers are apart, and one that does not exist is lost":          consumersApart,
		"the registry is written over the last revision only":               registryByRevision,
		"a channel is watched":                                               watchChannel,
		"workers live as long as they say so":                                heartbeats,
		"an audience is replaced as a whole, and tells removed from missing": replaceAudience,
		"a dead letter stands once for each owner until it is resolved":      letters,
		"totals are saved over the last revision only, and forgotten":        totals,
		"a checkpoint is overwritten":                                        checkpoints,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, start(t))
		})
	}
}

const suiteRetention = 24 * time.Hour

func record(recipient string, release time.Time) reminder.Record {
	return delivery.Plan(delivery.Planned{
		Key:   reminder.Key{Namespace: "shop", Schedule: "renewal.notice", Slot: reminder.SlotOf(release), Recipient: recipient, Channel: "mail"},
		Epoch: 1, DueTime: release, ReleaseTime: release, DeadlineTime: release.Add(time.Hour), LateTime: release.Add(time.Minute),
	}, suiteRetention, time.Now().UTC())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: got %v, want %v", what, err, kind)
	}
}
