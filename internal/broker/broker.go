package broker

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// minVersion is the first server whose message schedules behave (ADR-51).
var minVersion = [3]int{2, 14, 5}

// Options says where the broker is and how the objects in it are shaped.
type Options struct {
	// URL is one NATS URL, or several with commas.
	URL string
	// CredentialsFile is a NATS credentials file, read at each (re)connection;
	// empty for none.
	CredentialsFile string
	// Name is shown in the server's connection list.
	Name string
	// Replicas of every stream and bucket, 1 to 5; default 1.
	Replicas int
	// Retention is how long terminal records and dead letters are kept;
	// default 168h.
	Retention time.Duration
	// Timeout bounds each call; default 5s.
	Timeout time.Duration
	// OnError gets what the connection reports outside of any call; nil drops it.
	OnError func(error)
}

func (o Options) withDefaults() Options {
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.Retention == 0 {
		o.Retention = 168 * time.Hour
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return o
}

// Broker is one connection to NATS with the services over it. All methods and
// services are safe for concurrent use.
type Broker struct {
	Ledger      *Ledger
	Queue       *Queue
	Registry    *Registry
	Audience    *Audience
	DeadLetters *DeadLetters
	Tally       *TallyStore
	Outlet      *Outlet

	options Options
	conn    *nats.Conn
	js      jetstream.JetStream
	ready   atomic.Pointer[error]     // what Ensure found last; nil before the first
	created atomic.Pointer[time.Time] // when the jobs stream was made, as of then
}

// partition is the only one of this version; names and subjects carry it so
// that more can be added without a change of keys.
const partition = 0

// Connect dials in the background: it succeeds also while the broker is down,
// and reconnects for ever. Calls answer reminder.ErrUnavailable meanwhile.
func Connect(o Options) (*Broker, error) {
	o = o.withDefaults()
	if o.URL == "" {
		return nil, errors.New("connect to NATS: the URL is empty; give --nats-url, such as nats://nats:4222")
	}
	conn, err := nats.Connect(o.URL, o.connection()...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", withoutURL(err))
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(o.Timeout), jetstream.WithPublishAsyncTimeout(o.Timeout))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	b := &Broker{options: o, conn: conn, js: js}
	s := store{js: js, conn: conn, timeout: o.Timeout, handles: &sync.Map{}}
	b.Ledger = &Ledger{bucket: bucket{store: s, name: ledgerBucket}}
	b.Queue = &Queue{store: s}
	b.Registry = &Registry{bucket: bucket{store: s, name: registryBucket}}
	b.Audience = &Audience{bucket: bucket{store: s, name: recipientsBucket}}
	b.DeadLetters = &DeadLetters{store: s}
	b.Outlet = &Outlet{store: s}
	b.Tally = &TallyStore{bucket: bucket{store: s, name: tallyBucket}}
	return b, nil
}

// withoutURL drops the text of a URL that could not be read: it may hold a password.
func withoutURL(err error) error {
	if fault, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the URL cannot be read; give one like nats://nats:4222: %w", fault.Err)
	}
	return err
}

func (o Options) connection() []nats.Option {
	options := []nats.Option{
		nats.Name(o.Name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectBufSize(-1), // a call while disconnected must fail, not wait in a buffer
		nats.Timeout(2 * time.Second),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.IgnoreAuthErrorAbort(), // else credentials that are refused twice close the connection for ever
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.OnError(err) }),
	}
	if o.CredentialsFile != "" {
		options = append(options, nats.UserCredentials(o.CredentialsFile))
	}
	return options
}

// Close ends the connection; what is in flight is lost, and repeated by others.
func (b *Broker) Close() { b.conn.Close() }

// Retention is how long terminal records are kept.
func (b *Broker) Retention() time.Duration { return b.options.Retention }

// Ensure checks the server's version, creates the streams and buckets that are
// missing and refuses those whose settings would break the promise. It never
// edits an existing one. It is safe to call from several processes at once.
func (b *Broker) Ensure(ctx context.Context) error {
	err := b.ensure(ctx)
	b.ready.Store(&err)
	return err
}

func (b *Broker) ensure(ctx context.Context) error {
	if !b.conn.IsConnected() {
		return fmt.Errorf("connect to NATS: %w", reminder.ErrUnavailable)
	}
	if err := checkVersion(b.conn.ConnectedServerVersion()); err != nil {
		return err
	}
	for _, want := range Shapes(b.options) {
		if err := b.ensureStream(ctx, want); err != nil {
			return err
		}
	}
	return nil
}

// Incarnation is when the jobs stream was created, as of the last Ensure. When it
// changes, every message schedule planned before is gone.
func (b *Broker) Incarnation() time.Time {
	if at := b.created.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// Ready answers nil when the connection stands and the last Ensure was content;
// else why not.
func (b *Broker) Ready() error {
	if !b.conn.IsConnected() {
		return fmt.Errorf("connect to NATS: %w", reminder.ErrUnavailable)
	}
	last := b.ready.Load()
	if last == nil {
		return fmt.Errorf("check streams: not done yet: %w", reminder.ErrUnavailable)
	}
	return *last
}

func checkVersion(version string) error {
	var have [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil {
		return fmt.Errorf("read NATS server version %q: %w", version, err)
	}
	for i := range have {
		if have[i] != minVersion[i] {
			if have[i] > minVersion[i] {
				return nil
			}
			return fmt.Errorf("NATS server %s is too old: message schedules need %d.%d.%d or newer", version, minVersion[0], minVersion[1], minVersion[2])
		}
	}
	return nil
}
