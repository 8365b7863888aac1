package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/audit"
	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/plugin"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// auditDocument is what an auditor reads.
type auditDocument struct {
	SchemaVersion                             int
	Equal, Receiver                           bool
	Due, Sent, Dead, Cancelled, Pending, Lost int64
	Duplicates                                *int64
	Counters                                  string
	Schedules                                 []audit.Report
}

// of is the report of a schedule.
func (d auditDocument) of(t *testing.T, schedule string) audit.Report {
	t.Helper()
	for _, r := range d.Schedules {
		if r.Schedule == schedule {
			return r
		}
	}
	t.Fatalf("no report of %s in %+v", schedule, d)
	return audit.Report{}
}

// runAudit runs the plugin as an auditor does.
func runAudit(t *testing.T, s *system.System, log string, args ...string) (auditDocument, int, string) {
	t.Helper()
	var out, errOut bytes.Buffer
	file := filepath.Join(t.TempDir(), "accepted.log")
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	streams := genericclioptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	args = append([]string{"audit", "-o", "json", "--kubeconfig", s.Kube.Kubeconfig, "-n", system.Tenant, "--nats-url", s.NATS.URL, "--receiver", file}, args...)
	code := plugin.Run(args, streams, time.Now)
	var d auditDocument
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
	}
	return d, code, out.String() + errOut.String()
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestAnAuditProvesThatNothingIsLostOrTwiceAndNamesWhatIs(t *testing.T) {
	t.Parallel()
	var accepted syncBuffer
	s := system.StartT(t, system.Options{ReceiverLog: &accepted})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	at := time.Now().Add(8 * time.Second)
	s.Create(t, system.OneOff("once", "mail", at, 20, "ada"), system.OneOff("hard", "mail", at, 2, "reject"), system.OneOff("again", "mail", at, 3, "fail-once"),
		times("often", "mail", 5, v1alpha1.ScheduleSpec{Every: &metav1.Duration{Duration: 10 * time.Second}}))
	s.WaitCounts(t, "once", "20 sent", sent(20))
	s.WaitCounts(t, "hard", "2 dead", func(c v1alpha1.ReminderCounts) bool { return c.Dead == 2 })
	s.WaitCounts(t, "again", "3 sent after a retry", func(c v1alpha1.ReminderCounts) bool { return c.Sent == 3 && c.Retried == 3 })
	s.WaitCounts(t, "often", "some sent", func(c v1alpha1.ReminderCounts) bool { return c.Sent >= 10 })

	// While one schedule goes on.
	d, code, said := runAudit(t, s, accepted.String(), "--grace=20s")
	if code != 0 || !d.Equal || d.Lost != 0 || d.Duplicates == nil || *d.Duplicates != 0 || d.Counters != audit.Exact {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, r := range d.Schedules {
		if r.Proven == nil || !r.Proven.Through.After(r.Proven.From) {
			t.Errorf("%s: nothing is proven: %s", r.Schedule, r.Unproven)
		}
	}
	if once := d.of(t, "once"); once.Due != 20 || once.Sent != 20 || d.of(t, "hard").Dead != 2 || strings.Contains(said, "example.com") {
		t.Errorf("%s", said)
	}
	for _, c := range s.Controllers { // who would repair it
		_ = c.Stop(10 * time.Second)
	}
	spoil(t, s, accepted.String())
}

// spoil breaks one thing after the other on purpose.
func spoil(t *testing.T, s *system.System, log string) {
	t.Helper()
	records := s.Records(t, "once")
	slices.SortFunc(records, func(a, b reminder.Record) int { return a.FinishTime.Compare(b.FinishTime) })
	id := func(i int) string { return records[i].Key.ID() }
	var lines []string
	for line := range strings.Lines(log) {
		if !strings.Contains(line, id(0)) {
			lines = append(lines, line)
		}
		if strings.Contains(line, id(1)) {
			lines = append(lines, line)
		}
	}
	hard := s.Records(t, "hard")[0].Key
	if err := s.Broker.DeadLetters.Resolve(t.Context(), hard); err != nil {
		t.Fatal(err)
	}
	brokertest.PurgeSubject(t, s.NATS.URL, brokertest.LedgerStream, brokertest.LedgerKeys+records[2].Key.Token())
	totals, revision, err := s.Broker.Tally.Totals(t.Context(), system.Tenant, "again")
	if err != nil {
		t.Fatal(err)
	}
	totals.Sent++
	if err := s.Broker.Tally.SaveTotals(t.Context(), totals, revision); err != nil {
		t.Fatal(err)
	}
	obj := s.Schedule(t, "hard")
	before := obj.DeepCopy()
	obj.Status.Counts.Dead--
	if err := s.Client.Status().Patch(t.Context(), obj, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	wants := map[string][]audit.Finding{
		"once": {
			{Kind: audit.NotAccepted, Key: records[0].Key.String()}, {Kind: audit.Duplicate, Key: records[1].Key.String()},
			{Kind: audit.NoRecord, Key: records[2].Key.String()}, {Kind: audit.AcceptedUnsent, Key: records[2].Key.String()},
			{Kind: audit.Tally, Key: "sent"}, {Kind: audit.Tally, Key: "attempts"},
		},
		"again": {{Kind: audit.Tally, Key: "sent"}, {Kind: audit.Status, Key: "counts.sent"}, {Kind: audit.Status, Key: "counts.due"}},
		"hard":  {{Kind: audit.Status, Key: "counts.dead"}, {Kind: audit.NoDeadLetter, Key: hard.String()}},
	}
	var said string
	system.Eventually(t, "the audit names each", func() (bool, string) {
		d, code, out := runAudit(t, s, keysOf(t, lines), "--wait=0s", "--grace=1s", "once", "again", "hard")
		said = out
		good := code == 1 && !d.Equal && d.Lost == 2 && *d.Duplicates == 1 && d.Counters == audit.Differing
		for name, want := range wants {
			good = good && sameFindings(d.of(t, name).Findings, want)
		}
		return good, fmt.Sprintf("exit code %d: %s", code, out)
	})
	if strings.Contains(said, "example.com") {
		t.Errorf("an address is in %s", said)
	}
}

// keysOf are the keys of the receiver's log, one a line, as another receiver would write them: half by each of the two.
func keysOf(t *testing.T, lines []string) string {
	t.Helper()
	var text strings.Builder
	for i, line := range lines {
		var entry struct{ Key, ID string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			fmt.Fprintln(&text, entry.Key)
		} else {
			fmt.Fprintln(&text, entry.ID)
		}
	}
	return text.String()
}

func sameFindings(have, want []audit.Finding) bool {
	if len(have) != len(want) {
		return false
	}
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h audit.Finding) bool { return h.Kind == w.Kind && h.Key == w.Key }) {
			return false
		}
	}
	return true
}

// With the operator away nothing is planned: what falls due meanwhile is not taken for done.
func TestAnAuditNamesWhatNobodyHasPlannedOrBrought(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{NoWorkers: true})
	s.Create(t, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	at := time.Now().Add(4 * time.Second)
	s.Create(t, system.OneOff("once", "mail", at, 3, "ada"))
	s.WaitRecords(t, "once", "planned", 3, func(r reminder.Record) bool { return r.State == reminder.Scheduled })
	for _, c := range s.Controllers {
		_ = c.Stop(10 * time.Second)
	}
	key := s.Records(t, "once")[1].Key
	if err := s.Broker.Queue.Withdraw(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	brokertest.Publish(t, s.NATS.URL, brokertest.DueSubject+"shop.mail.once.20260101T000000Z.abc", []byte(`{}`))
	// As if it had been planned up to before that time only.
	s.PlannedThrough(t, "once", at.Add(-3*time.Second))
	brokertest.PurgeSubject(t, s.NATS.URL, brokertest.LedgerStream, brokertest.LedgerKeys+s.Records(t, "once")[2].Key.Token())
	// The message of the third is left without a record.
	want := []audit.Finding{
		{Kind: audit.NoMessage, Key: key.String()}, {Kind: audit.NotPlanned}, {Kind: audit.Tally, Key: "pending"},
		{Kind: audit.StrayMessage, Key: "shop.once.20260101T000000Z.abc"}, {Kind: audit.StrayMessage},
	}
	system.Eventually(t, "the audit names both", func() (bool, string) {
		d, code, out := runAudit(t, s, "", "--wait=0s", "--grace=1s", "once")
		found := d.of(t, "once").Findings
		good := code == 1 && d.Lost == 2
		for _, w := range want {
			good = good && slices.ContainsFunc(found, func(h audit.Finding) bool { return h.Kind == w.Kind && (w.Key == "" || h.Key == w.Key) })
		}
		return good, fmt.Sprintf("exit code %d: %s", code, out)
	})
}
