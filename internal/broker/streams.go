package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Names of what lives in NATS (design: one of each per partition).
var (
	jobsStream       = "REMINDERS-" + strconv.Itoa(partition)
	deadStream       = "REMINDERS_DEAD"
	ledgerBucket     = "reminders-ledger-" + strconv.Itoa(partition)
	registryBucket   = "reminders-registry"
	recipientsBucket = "reminders-recipients"
	tallyBucket      = "reminders-tally"

	schedPrefix = "reminders." + strconv.Itoa(partition) + ".sched."
	duePrefix   = "reminders." + strconv.Itoa(partition) + ".due."
	deadPrefix  = "reminders.dead."
)

// ledgerHistory is the number of revisions kept per reminder: each is one
// transition of the trace, and one that is gone before the tally has seen it makes
// the counters wrong for ever. 50 submissions with a claim, a mark and an outcome
// each are 150, and five replays make it 900; takeovers and repairs need some more.
// NATS makes no KV bucket with more than 64, but opens one.
const ledgerHistory = 1024

// maxConsumers is set because a server has a default that no other setting lifts;
// each channel needs one consumer on the jobs stream.
const maxConsumers = 100_000

// ErrUnsafe: an existing stream has a setting that would break the promise.
var ErrUnsafe = errors.New("unsafe setting")

// Shapes is how the streams and buckets must look, for creation and checking.
func Shapes(o Options) []jetstream.StreamConfig {
	o = o.withDefaults()
	return []jetstream.StreamConfig{
		jobsShape(o),
		deadShape(o),
		bucketShape(o, ledgerBucket, ledgerHistory),
		bucketShape(o, registryBucket, 1),
		bucketShape(o, recipientsBucket, 1),
		bucketShape(o, tallyBucket, 1),
	}
}

// jobsShape has no MaxBytes, MaxMsgs or MaxAge: on a stream with message
// schedules they silently evict acknowledged ones. The server itself turns
// rollups on for such a stream: a replaced schedule is one.
func jobsShape(o Options) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              jobsStream,
		Description:       "reminder-operator: due jobs, and the message schedules that release them",
		Subjects:          []string{schedPrefix + ">", duePrefix + ">"},
		Retention:         jetstream.WorkQueuePolicy,
		Storage:           jetstream.FileStorage,
		MaxConsumers:      maxConsumers,
		Discard:           jetstream.DiscardOld,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxMsgsPerSubject: -1,
		Replicas:          o.Replicas,
		Duplicates:        2 * time.Minute,
		AllowDirect:       true,
		AllowMsgTTL:       true,
		AllowMsgSchedules: true,
		AllowRollup:       true,
	}
}

func deadShape(o Options) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              deadStream,
		Description:       "reminder-operator: dead letters, one message per reminder",
		Subjects:          []string{deadPrefix + ">"},
		Retention:         jetstream.LimitsPolicy,
		Storage:           jetstream.FileStorage,
		MaxConsumers:      maxConsumers,
		Discard:           jetstream.DiscardNew,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxAge:            o.Retention,
		MaxMsgsPerSubject: 1,
		Replicas:          o.Replicas,
		Duplicates:        2 * time.Minute,
		AllowDirect:       true,
	}
}

// bucketShape is a KV bucket made by hand: with a TTL per message and without
// rollups, which could wipe the whole bucket by one publish.
func bucketShape(o Options, name string, history int64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              "KV_" + name,
		Description:       "reminder-operator: " + name,
		Subjects:          []string{"$KV." + name + ".>"},
		Retention:         jetstream.LimitsPolicy,
		Storage:           jetstream.FileStorage,
		MaxConsumers:      maxConsumers,
		Discard:           jetstream.DiscardNew,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxMsgsPerSubject: history,
		Replicas:          o.Replicas,
		Duplicates:        2 * time.Minute,
		DenyDelete:        true,
		AllowDirect:       true,
		AllowMsgTTL:       true,
	}
}

func (b *Broker) ensureStream(ctx context.Context, want jetstream.StreamConfig) error {
	stream, err := b.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = b.js.CreateStream(ctx, want)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // created by another process just now
		stream, err = b.js.Stream(ctx, want.Name)
	}
	if err != nil {
		return fmt.Errorf("ensure stream %s: %w", want.Name, classify(err))
	}
	if want.Name == jobsStream {
		created := stream.CachedInfo().Created
		b.created.Store(&created)
	}
	if faults := Unsafe(want, stream.CachedInfo().Config); len(faults) > 0 {
		return fmt.Errorf("stream %s: %s: %w; change it with the nats command, or remove it while no reminder is pending", want.Name, strings.Join(faults, "; "), ErrUnsafe)
	}
	return nil
}

// Unsafe names the settings of an existing stream that would break the promise,
// each as "setting is X, must be Y". Harmless differences, such as more
// replicas or a size limit on a bucket, are left to whoever set them.
func Unsafe(want, have jetstream.StreamConfig) []string {
	checks := []struct {
		setting    string
		have, want any
	}{
		{"retention", have.Retention, want.Retention},
		{"storage", have.Storage, want.Storage},
		{"discard", have.Discard, want.Discard},
		{"max_msgs_per_subject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject},
		{"max_age", have.MaxAge, want.MaxAge},
		{"allow_msg_schedules", have.AllowMsgSchedules, want.AllowMsgSchedules},
		{"allow_msg_ttl", have.AllowMsgTTL || !want.AllowMsgTTL, true},
		{"allow_rollup_hdrs", have.AllowRollup, want.AllowRollup},
		{"no_ack", have.NoAck, false},
		{"sealed", have.Sealed, false},
		{"mirror or sources", have.Mirror != nil || len(have.Sources) > 0, false},
		{"subjects", strings.Join(have.Subjects, ","), strings.Join(want.Subjects, ",")},
	}
	var faults []string
	for _, c := range checks {
		if c.have != c.want {
			faults = append(faults, fmt.Sprintf("%s is %v, must be %v", c.setting, c.have, c.want))
		}
	}
	return append(faults, unsafeLimits(want, have)...)
}

func unsafeLimits(want, have jetstream.StreamConfig) []string {
	var faults []string
	if want.AllowMsgSchedules && (have.MaxBytes > 0 || have.MaxMsgs > 0) {
		faults = append(faults, "max_bytes and max_msgs must be unlimited: they evict acknowledged message schedules")
	}
	if !want.AllowMsgSchedules && have.PersistMode == jetstream.AsyncPersistMode {
		faults = append(faults, "persist_mode is async, must be default: an acknowledged record could be lost")
	}
	return faults
}
