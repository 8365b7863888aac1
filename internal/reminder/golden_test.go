package reminder_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

var update = flag.Bool("update", false, "write the golden files anew; only for new fields, never for stored ones")

var (
	sampleKey = reminder.Key{
		Namespace: "shop", Schedule: "renewal.notice", Slot: "2026-11-03T08:00:00Z", Recipient: "имя@example.com", Channel: "billing-email",
	}
	nine       = time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC)
	sampleDead = reminder.DeadLetter{
		SchemaVersion: 1, Key: sampleKey, Owner: reminder.OwnerPolicy, Reason: reminder.PermanentFailure, Attempts: 2,
		ReleaseTime: nine, DeadlineTime: nine.Add(4 * time.Hour), DeadTime: nine.Add(5 * time.Minute), Diagnostic: "status 404",
	}
)

// sampleRecord sets every field, so that a new one cannot be left out of the
// golden file; no real record looks like that.
func sampleRecord() reminder.Record {
	return reminder.Record{
		SchemaVersion: 1, Key: sampleKey, State: reminder.Sending, Reason: reminder.ReconciliationRequired, Epoch: 3,
		DueTime: nine.Add(-time.Second), LocalTime: "2026-11-03T08:59:59",
		ReleaseTime: nine, DeadlineTime: nine.Add(4 * time.Hour), LateTime: nine.Add(5 * time.Minute),
		NextAttemptTime: nine.Add(30 * time.Second), LeaseUntilTime: nine.Add(time.Minute), Owner: "worker-1/0a1b2c3d", Unmarked: true,
		Attempts: 2, Retries: 1, Takeovers: 1, Suppressed: 3, Republished: 4, Unresolved: true, MayRepeat: true,
		Receipt: "status 202", Diagnostic: "timeout", UpdateTime: nine.Add(1500 * time.Millisecond),
		FinishTime: nine.Add(2 * time.Second), ExpireTime: nine.Add(172 * time.Hour),
		Replays: []reminder.Replay{{
			UID: "5d1e", Name: "after-outage", Action: reminder.ActionReplay, Why: "Gateway was down, INC-2931", Time: nine.Add(time.Hour),
			Reason: reminder.RetryBudgetExhausted, DeadTime: nine.Add(30 * time.Minute), Attempts: 1, Takeovers: 1, DeadlineTime: nine.Add(4 * time.Hour),
		}},
		Previous: &reminder.Footprint{
			State: reminder.Dead, Reason: reminder.PermanentFailure, Late: true, Attempts: 1, Retries: 1, Suppressed: 2, Republished: 3, Missed: 4, ReleaseTime: nine,
		},
	}
}

var sampleGap = reminder.Gap{FirstDueTime: nine, LastDueTime: nine.Add(time.Hour), Reminders: 61}

// sampleMissed is a run of missed occurrences, which alone has that field.
func sampleMissed() reminder.Record {
	r := sampleRecord()
	r.State, r.Key.Recipient, r.Missed = reminder.Missed, "", &sampleGap
	return r
}

var sampleSchedule = reminder.Schedule{
	SchemaVersion: 1, Namespace: "shop", Name: "renewal.notice", UID: "0b9c", CreateTime: nine, Generation: 7,
	PlanHash: "p1", Epoch: 3, EditTime: nine.Add(time.Second), SeenEditTime: nine.Add(2 * time.Second), PlanGeneration: 6, AudienceHash: "a1", Suspended: true, ResumeTime: nine.Add(time.Minute),
	Deleted: true, Channel: "billing-email", Subject: "Due {{ reminder.slot }}", Body: "Hello {{ recipient.attributes.name }} <b>",
	HTML: "<p>Hello {{ recipient.id }}</p>", UnsubscribeURL: "https://a.example/u/{{ recipient.id }}",
	Retry:          reminder.Retry{Attempts: 5, InitialDelay: 30 * time.Second, Factor: 2, MaxDelay: 15 * time.Minute, Delays: []time.Duration{time.Minute}},
	OnUnknown:      reminder.ParkUnknown,
	Cursor:         reminder.Cursor{DoneTime: nine, ThroughTime: nine.Add(time.Hour), SinceTime: nine.Add(time.Second), CatchUpTime: nine.Add(time.Minute), Missed: &sampleGap, JoinTime: nine, Newcomers: []string{"acct_4821"}},
	CalendarDigest: "c1", TimeZoneData: "2026b", Moved: []reminder.Moved{{Zone: "Europe/Paris", DueTime: nine, Slot: "2026-11-03T07:00:00Z"}}, Kept: []reminder.Kept{{Slot: "2026-11-03T06:00:00Z", UntilTime: nine}},
	Eligibility: "recipient.attributes.status == 'active'", EligibilityURL: "https://billing.example.com/eligible",
}

var sampleChannel = reminder.Channel{
	SchemaVersion: 1, Namespace: "shop", Name: "billing-email", UID: "77af", CreateTime: nine, Generation: 2, Type: reminder.ChannelHTTP,
	Dedupes: true, SendTimeout: 10 * time.Second, AckWait: 21 * time.Second, Lease: 27 * time.Second, Concurrency: 32, Signed: true,
	RateLimit: &reminder.RateLimit{PerSecond: 50, Burst: 100}, MaxInFlightPerTenant: 20,
	HTTP: &reminder.HTTPChannel{
		URL: "https://mail.example.com/v1/send", Method: "POST",
		Headers: []reminder.HTTPHeader{{Name: "X-Tenant", Value: "shop"}}, SuccessCodes: []int{202},
	},
	SMTP: &reminder.SMTPChannel{Host: "smtp.example.com", Port: 587, TLS: reminder.TLSRequire, From: "billing@example.com"},
	NATS: &reminder.NATSChannel{Subject: "billing.reminders"}, ReconcileURL: "https://mail.example.com/v1/seen",
}

var sampleRecipient = reminder.Recipient{
	SchemaVersion: 1, ID: "имя@example.com", Address: "имя@example.com", TimeZone: "Europe/Paris",
	Attributes: map[string]string{"name": "Ada", "renewalDate": "2026-11-03"}, Active: true,
}

var sampleWorker = reminder.Worker{
	SchemaVersion: 1, Namespace: "shop", Channel: "billing-email", Name: "worker-1", StartTime: nine, BeatTime: nine.Add(time.Minute), InFlight: 3,
	Limit: 16, Throttled: 7,
	Pause: &reminder.Pause{Cause: reminder.PauseRefused, SinceTime: nine, UntilTime: nine.Add(time.Minute), Diagnostic: "code 535 at AUTH"},
}

var sampleStakes = reminder.Stakes{SchemaVersion: 1, Stakes: []reminder.Stake{{Name: "worker-1", Parts: 500_000, RenewTime: nine}}}

var sampleTotals = reminder.Totals{
	SchemaVersion: 1, Namespace: "shop", Schedule: "renewal.notice", Applied: 4711, Sent: 10, SentLate: 1, Cancelled: 2, Dead: 3, Discarded: 4,
	DeadTotal: 9, Replayed: 2, Retried: 5, Suppressed: 6, Republished: 7, Attempts: 20,
	ByReason:    map[reminder.Reason]int64{reminder.DeadlineReached: 1, reminder.PermanentFailure: 2},
	Outstanding: map[string]int64{"1793692800": 3},
	LastDueTime: nine, LastFinishTime: nine.Add(time.Minute), Missed: 61, MissedRuns: []reminder.Gap{sampleGap}, Recent: []reminder.DeadLetter{sampleDead},
}

// checkGolden holds encode(sample) against the golden file, and what the file
// decodes to against the sample: what one version stores, all later ones read.
func checkGolden[T any](t *testing.T, sample T, encode func(T) ([]byte, error), decode func([]byte) (T, error)) {
	t.Helper()
	noZero(t, reflect.TypeFor[T]().Name(), reflect.ValueOf(sample))
	got, err := encode(sample)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", filepath.Base(t.Name())+".v1.json")
	if *update {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, append(got, '\n'), "", "  "); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pretty.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, golden); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("encoded form (-golden +got):\n%s", diff)
	}
	back, err := decode(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample, back); diff != "" {
		t.Errorf("decoded golden file (-want +got):\n%s", diff)
	}
}

// noZero fails for each field of a sample that was forgotten.
func noZero(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("%s is not set in the sample", path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		noZero(t, path, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			noZero(t, path, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if name := path + "." + v.Type().Field(i).Name; name != "Record.Missed" && name != "Record.Key.Recipient" {
				noZero(t, name, v.Field(i))
			}
		}
	default:
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	t.Run("record", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleRecord(), reminder.Record.Encode, reminder.DecodeRecord)
	})
	t.Run("missed", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleMissed(), reminder.Record.Encode, reminder.DecodeRecord)
	})
	t.Run("job", func(t *testing.T) {
		t.Parallel()
		job := reminder.JobOf(sampleRecord(), 42)
		job.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		checkGolden(t, job, reminder.Job.Encode, reminder.DecodeJob)
	})
	t.Run("deadletter", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleDead, reminder.DeadLetter.Encode, reminder.DecodeDeadLetter)
	})
	t.Run("schedule", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleSchedule, reminder.EncodeEntry[reminder.Schedule], reminder.DecodeEntry[reminder.Schedule])
	})
	t.Run("channel", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleChannel, reminder.EncodeEntry[reminder.Channel], reminder.DecodeEntry[reminder.Channel])
	})
	t.Run("recipient", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleRecipient, reminder.EncodeEntry[reminder.Recipient], reminder.DecodeEntry[reminder.Recipient])
	})
	t.Run("worker", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleWorker, reminder.EncodeEntry[reminder.Worker], reminder.DecodeEntry[reminder.Worker])
	})
	t.Run("stakes", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleStakes, reminder.EncodeEntry[reminder.Stakes], reminder.DecodeEntry[reminder.Stakes])
	})
	t.Run("totals", func(t *testing.T) {
		t.Parallel()
		checkGolden(t, sampleTotals, reminder.Totals.Encode, reminder.DecodeTotals)
	})
}

func TestDeadLetterOfARecord(t *testing.T) {
	t.Parallel()
	r := sampleRecord()
	r.State, r.Reason, r.Attempts, r.FinishTime, r.Diagnostic = reminder.Dead, reminder.PermanentFailure, 2, nine.Add(5*time.Minute), "status 404"
	if diff := cmp.Diff(sampleDead, reminder.DeadLetterOf(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEveryReasonHasAnOwner(t *testing.T) {
	t.Parallel()
	tests := map[reminder.Reason]reminder.Owner{
		reminder.RetryBudgetExhausted: reminder.OwnerCapacity, reminder.DeadlineReached: reminder.OwnerCapacity,
		reminder.PermanentFailure: reminder.OwnerPolicy, reminder.EndpointGone: reminder.OwnerPolicy,
		reminder.InvalidRecipient: reminder.OwnerData, reminder.InvalidMessage: reminder.OwnerData,
		reminder.InvalidEligibility: reminder.OwnerData, reminder.InvalidJob: reminder.OwnerData, reminder.Poison: reminder.OwnerData,
		reminder.ReconciliationRequired: reminder.OwnerReconcile,
	}
	for reason, want := range tests {
		if got := reminder.OwnerOf(reason); got != want {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
}
