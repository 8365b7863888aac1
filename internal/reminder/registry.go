package reminder

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// RegistryVersion is the schemaVersion of registry entries that this version
// writes and the newest that it reads.
const RegistryVersion = 1

// Schedule is what workers need to know of a ReminderSchedule. Controllers
// write it by compare-and-set; Epoch only ever rises, also over a deletion and
// re-creation, which leaves the entry behind with Deleted set.
type Schedule struct {
	SchemaVersion int    `json:"schemaVersion"`
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	// UID, CreateTime and Generation identify the spec this entry was made from;
	// an older one must not overwrite it (stale caches, a second operator).
	UID        string    `json:"uid"`
	CreateTime time.Time `json:"createTime"`
	Generation int64     `json:"generation"`
	// PlanHash covers the fields that decide which reminders exist and when;
	// Epoch rises when it changes. EditTime is when it last changed, zero when it
	// never did: occurrences before an edit are not missed by what replaced them.
	PlanHash string    `json:"planHash"`
	Epoch    int64     `json:"epoch"`
	EditTime time.Time `json:"editTime,omitzero"`
	// SeenEditTime is when, as the API server tells it, somebody had last set a field
	// of the object as this entry was made: who tells that time still, and has another
	// spec, does not tell when that was made.
	SeenEditTime time.Time `json:"seenEditTime,omitzero"`
	// PlanGeneration is the Generation of the last such change, or of the last
	// resume: how far an older spec was planned says nothing about this one.
	PlanGeneration int64 `json:"planGeneration,omitempty"`
	// Cursor is how far the schedule is planned.
	Cursor Cursor `json:"cursor,omitzero"`
	// CalendarDigest and TimeZoneData are what due times were worked out with beside
	// the spec; where they change, what is planned and not claimed is looked at
	// again. Moved are the occurrences that keep an older slot because of that.
	CalendarDigest string  `json:"calendarDigest,omitempty"`
	TimeZoneData   string  `json:"timeZoneData,omitempty"`
	Moved          []Moved `json:"moved,omitempty"`
	// Kept are slots that an older epoch has planned, that were due and without an
	// outcome when the time fields were edited last, and that the edited spec has too:
	// whoever holds their reminders, they are not superseded.
	Kept []Kept `json:"kept,omitempty"`
	// AudienceHash covers the projected recipients.
	AudienceHash string `json:"audienceHash"`
	Suspended    bool   `json:"suspended,omitempty"`
	// ResumeTime is when suspend was last taken back: suspended time is not missed.
	ResumeTime time.Time `json:"resumeTime,omitzero"`
	Deleted    bool      `json:"deleted,omitempty"`
	Channel    string    `json:"channel"`
	// Subject, Body, HTML and UnsubscribeURL are the message templates, already compiled
	// once.
	Subject        string `json:"subject,omitempty"`
	Body           string `json:"body"`
	HTML           string `json:"html,omitempty"`
	UnsubscribeURL string `json:"unsubscribeURL,omitempty"`
	// Retry bounds submissions; OnUnknown is Retry or Park, or empty on a channel
	// that deduplicates.
	Retry     Retry     `json:"retry"`
	OnUnknown OnUnknown `json:"onUnknown,omitempty"`
	// Eligibility is an expression, compiled once already, that says whether a
	// reminder is still wanted; EligibilityURL is asked the same. Empty for none. The
	// URL may be a credential and must not appear in any log or error.
	Eligibility    string   `json:"eligibility,omitempty"`
	EligibilityURL Endpoint `json:"eligibilityURL,omitempty"`
}

// EpochOf is the epoch by which a record is judged: its own where an edit has kept its
// slot, else the schedule's. A record of an older one is superseded.
func (s Schedule) EpochOf(r Record) int64 {
	if r.Epoch < s.Epoch && slices.ContainsFunc(s.Kept, func(k Kept) bool { return k.Slot == r.Key.Slot }) {
		return r.Epoch
	}
	return s.Epoch
}

// Retry is the retry policy of a schedule.
type Retry struct {
	// Attempts is the largest number of submissions, 1 or more.
	Attempts int `json:"attempts"`
	// InitialDelay, Factor and MaxDelay give exponential backoff; Delays, when
	// set, replaces them, its last entry repeating.
	InitialDelay time.Duration   `json:"initialDelay,omitempty"`
	Factor       float64         `json:"factor,omitempty"`
	MaxDelay     time.Duration   `json:"maxDelay,omitempty"`
	Delays       []time.Duration `json:"delays,omitempty"`
}

// OnUnknown says what becomes of a reminder whose outcome is unknown on a
// channel that cannot deduplicate.
type OnUnknown string

// The two choices; there is no third.
const (
	// RetryUnknown may repeat and never silently loses.
	RetryUnknown OnUnknown = "Retry"
	// ParkUnknown never repeats and waits for a person.
	ParkUnknown OnUnknown = "Park"
)

// Endpoint is a URL that may be a credential: no verb and no log prints it.
type Endpoint string

// ChannelType is the kind of a channel.
type ChannelType string

// The channel types of v1alpha1.
const (
	ChannelHTTP ChannelType = "HTTP"
	ChannelSMTP ChannelType = "SMTP"
	ChannelNATS ChannelType = "NATS"
	ChannelLog  ChannelType = "Log"
)

// Channel is what workers need to know of a ReminderChannel. Credentials are
// never in it: they are mounted as files.
type Channel struct {
	SchemaVersion int         `json:"schemaVersion"`
	Namespace     string      `json:"namespace"`
	Name          string      `json:"name"`
	UID           string      `json:"uid"`
	CreateTime    time.Time   `json:"createTime"`
	Generation    int64       `json:"generation"`
	Type          ChannelType `json:"type"`
	// Dedupes: the receiver deduplicates on our key.
	Dedupes bool `json:"dedupes"`
	// SendTimeout bounds one submission; AckWait and Lease derive from it:
	// SendTimeout < AckWait < Lease.
	SendTimeout time.Duration `json:"sendTimeout"`
	AckWait     time.Duration `json:"ackWait"`
	Lease       time.Duration `json:"lease"`
	// Concurrency is the largest number of reminders in flight per worker.
	Concurrency int `json:"concurrency"`
	// RateLimit bounds the submissions of all workers together; nil for no bound.
	// MaxInFlightPerTenant bounds those under way for one tenant; 0 for no bound.
	RateLimit            *RateLimit `json:"rateLimit,omitempty"`
	MaxInFlightPerTenant int        `json:"maxInFlightPerTenant,omitempty"`
	// Signed: the channel names a Secret, so that nothing may be sent without what
	// is in it: unsigned, or without authentication.
	Signed bool         `json:"signed,omitempty"`
	HTTP   *HTTPChannel `json:"http,omitempty"`
	SMTP   *SMTPChannel `json:"smtp,omitempty"`
	NATS   *NATSChannel `json:"nats,omitempty"`
	// ReconcileURL is asked whether the receiver has accepted a key; empty for
	// nobody. It may be a credential, as HTTPChannel.URL.
	ReconcileURL Endpoint `json:"reconcileURL,omitempty"`
}

// Validate tells whether workers can run with the channel's settings: a submission
// must end before the broker takes its worker for gone, and that must happen
// before another worker may take over.
func (c Channel) Validate() error {
	if c.SendTimeout <= 0 || c.AckWait <= c.SendTimeout || c.Lease <= c.AckWait {
		return fmt.Errorf("channel %s/%s: send timeout %s, ack wait %s and lease %s must rise in this order: %w", c.Namespace, c.Name, c.SendTimeout, c.AckWait, c.Lease, ErrMalformed)
	}
	if c.Concurrency < 1 {
		return fmt.Errorf("channel %s/%s: concurrency is %d, must be 1 or more: %w", c.Namespace, c.Name, c.Concurrency, ErrMalformed)
	}
	if r := c.RateLimit; r != nil && (r.PerSecond < 1 || r.Burst < 1) {
		return fmt.Errorf("channel %s/%s: a rate limit of %d with a burst of %d, both must be 1 or more: %w", c.Namespace, c.Name, r.PerSecond, r.Burst, ErrMalformed)
	}
	return nil
}

// RateLimit is a token bucket: submissions per second over time, and how many may
// start at once; both 1 or more.
type RateLimit struct {
	PerSecond int `json:"perSecond"`
	Burst     int `json:"burst"`
}

// Limited tells whether the workers of the channel have limits to divide.
func (c Channel) Limited() bool { return c.RateLimit != nil || c.MaxInFlightPerTenant > 0 }

// HTTPChannel configures a channel of type HTTP. The URL may be a credential
// and must not appear in any log, event, status, metric or error.
type HTTPChannel struct {
	URL          string       `json:"url"`
	Method       string       `json:"method"`
	Headers      []HTTPHeader `json:"headers,omitempty"`
	SuccessCodes []int        `json:"successCodes,omitempty"`
}

// HTTPHeader is one static header of a channel of type HTTP.
type HTTPHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// TLSMode says whether a relay is spoken to over TLS.
type TLSMode string

// The modes: over TLS only, where the relay offers it, or not.
const (
	TLSRequire       TLSMode = "Require"
	TLSOpportunistic TLSMode = "Opportunistic"
	TLSNone          TLSMode = "None"
)

// SMTPChannel configures a channel of type SMTP. On port 465 the connection is
// encrypted from its start, whatever TLS says.
type SMTPChannel struct {
	Host string  `json:"host"`
	Port int     `json:"port"`
	TLS  TLSMode `json:"tls"`
	From string  `json:"from"`
}

// NATSChannel configures a channel of type NATS.
type NATSChannel struct {
	Subject string `json:"subject"`
}

// Recipient is one addressee as the audience bucket holds it.
type Recipient struct {
	SchemaVersion int               `json:"schemaVersion"`
	ID            string            `json:"id"`
	Address       string            `json:"address"`
	TimeZone      string            `json:"timeZone,omitempty"`
	Attributes    map[string]string `json:"attributes,omitempty"`
	Active        bool              `json:"active"`
}

// Worker is the heartbeat of one live worker of a channel.
type Worker struct {
	SchemaVersion int       `json:"schemaVersion"`
	Namespace     string    `json:"namespace"`
	Channel       string    `json:"channel"`
	Name          string    `json:"name"`
	StartTime     time.Time `json:"startTime"`
	BeatTime      time.Time `json:"beatTime"`
	// InFlight is the number of reminders in hand, Limit how many may be: the
	// channel's concurrency, or fewer while the receiver is overloaded.
	InFlight int `json:"inFlight"`
	Limit    int `json:"limit,omitempty"`
	// Throttled counts submissions that waited for a limit, since StartTime.
	Throttled int64 `json:"throttled,omitempty"`
	// Pause is set while the worker submits nothing.
	Pause *Pause `json:"pause,omitempty"`
}

// Entry is any value of the registry or the audience bucket.
type Entry interface {
	Schedule | Channel | Recipient | Worker | Stakes
}

// EncodeEntry is the stored form of a registry or audience entry.
func EncodeEntry[E Entry](e E) ([]byte, error) { return json.Marshal(e) }

// DecodeEntry reads a registry or audience entry. It answers ErrNewerSchema or
// ErrMalformed.
func DecodeEntry[E Entry](data []byte) (E, error) {
	var e E
	if err := decode(data, RegistryVersion, &e); err != nil {
		return e, fmt.Errorf("decode %T: %w", e, err)
	}
	return e, nil
}
