package worker_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/worker"
)

// counter is an HTTP server that answers questions by script, and keeps them.
type counter struct {
	*httptest.Server
	mu     sync.Mutex
	script []int // statuses; the last one repeats
	asked  []question
}

type question struct {
	path, key, recipient, id string
	at                       time.Time
}

func newCounter(t *testing.T, script ...int) *counter {
	t.Helper()
	c := &counter{script: script}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := r.URL.Query()
	c.asked = append(c.asked, question{r.URL.Path, q.Get(channel.ParamKey), q.Get(channel.ParamRecipient), r.Header.Get("Idempotency-Key"), time.Now()})
	w.WriteHeader(c.script[0])
	if len(c.script) > 1 {
		c.script = c.script[1:]
	}
}

func (c *counter) questions() []question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// questionsOf holds the questions that were put against the wanted number.
func (b *bench) questionsOf(c *counter, r reminder.Record, want int) {
	b.Helper()
	all := c.questions()
	if len(all) != want {
		b.Errorf("%d questions, want %d", len(all), want)
	}
	for _, q := range all {
		if q.key != r.Key.String() || q.recipient != r.Key.Recipient || q.id != r.Key.ID() {
			b.Errorf("asked for %+v, want %s", q, r.Key)
		}
	}
}

// asking gives a worker an asker that is allowed to reach the tests' servers.
func asking(o *worker.Options) {
	o.NewAsker = func(c reminder.Channel) (worker.Asker, error) {
		return channel.NewAsker(c, channel.Options{Egress: channel.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	}
}

// active is an eligibility, and people who have the attribute that it wants.
func active(b *bench) {
	b.schedule.Eligibility = "recipient.attributes.status == 'active'"
	for i := range b.people {
		b.people[i].Attributes = map[string]string{"name": "Ada", "status": "active"}
	}
}

// rewrite changes a recipient as the audience has it, as an edit of the schedule does.
func (b *bench) rewrite(id string, change func(*reminder.Recipient)) {
	b.Helper()
	for i := range b.people {
		if b.people[i].ID == id {
			change(&b.people[i])
		}
	}
	b.project(b.people)
}

// project writes an audience anew, and then the entry that says which one counts.
func (b *bench) project(people []reminder.Recipient) {
	b.Helper()
	entry, revision, err := b.Registry.Schedule(b.Context(), "shop", "renewal")
	b.must(err)
	entry.AudienceHash += "+"
	b.must(b.Audience.Replace(b.Context(), "shop", "renewal", entry.AudienceHash, people))
	b.register(entry, revision)
}

// E1: what has become untrue between planning and sending is not sent.
func TestE1AReminderThatIsNotWantedAnyMoreIsCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t, active)
	r, other := b.due("a", nil), b.due("b", nil)
	b.rewrite("a", func(r *reminder.Recipient) {
		r.Attributes = map[string]string{"name": "Ada", "status": "canary-cancelled"}
	})
	b.start(nil)
	got := b.settled(r.Key, reminder.Cancelled, reminder.NotEligible)
	b.settled(other.Key, reminder.Sent, "")
	b.empty()
	b.sends("a", 0)
	b.sends("b", 1)
	if got.Attempts != 0 || strings.Contains(got.Diagnostic+b.logged.String(), "canary") || len(b.letters()) != 0 {
		t.Errorf("I9: got %d attempts, diagnostic %q, %v", got.Attempts, got.Diagnostic, b.letters())
	}
}

// Each fact about a recipient is looked up again before each attempt.
func TestEligibilityIsLookedAtBeforeEachAttempt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit func(*bench)
		want reminder.Reason
	}{
		"the expression yields false now": {func(b *bench) {
			b.rewrite("a", func(r *reminder.Recipient) { r.Attributes["status"] = "paid" })
		}, reminder.NotEligible},
		"the recipient is not active": {func(b *bench) {
			b.rewrite("a", func(r *reminder.Recipient) { r.Active = false })
		}, reminder.RecipientInactive},
		"the recipient is gone": {func(b *bench) {
			b.project(b.people[1:])
		}, reminder.RecipientInactive},
		"another expression is there": {func(b *bench) {
			entry, revision, err := b.Registry.Schedule(b.Context(), "shop", "renewal")
			b.must(err)
			entry.Eligibility = "recipient.attributes.status != 'active'"
			b.register(entry, revision)
		}, reminder.NotEligible},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) { park(b); active(b); b.schedule.Retry.Delays = []time.Duration{2 * time.Second} })
			g := newGate(busy)
			b.receiver.answers("a", g.stubborn)
			b.start(nil)
			r := b.due("a", nil)
			g.wait(t, 1)
			tt.edit(b)
			close(g.open)
			got := b.settled(r.Key, reminder.Cancelled, tt.want)
			b.empty()
			b.sends("a", 1)
			if got.Attempts != 1 || got.Retries != 1 {
				t.Errorf("got %d attempts, %d retries", got.Attempts, got.Retries)
			}
		})
	}
}

// An error is not false, and it is that recipient's alone.
func TestAnEligibilityThatCannotBeEvaluatedIsDead(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		active(b)
		b.people[0].Attributes = map[string]string{"name": "Ada", "canary": "canary-value"}
	})
	b.start(nil)
	r, other := b.due("a", nil), b.due("b", nil)
	got := b.settled(r.Key, reminder.Dead, reminder.InvalidEligibility)
	b.settled(other.Key, reminder.Sent, "")
	b.empty()
	b.sends("a", 0)
	if got.Attempts != 0 || !strings.HasPrefix(got.Diagnostic, "spec.delivery.eligibility: line 1, column 1: the recipient has no attribute status") || strings.Contains(got.Diagnostic+b.logged.String(), "canary-value") {
		t.Errorf("got %d attempts, diagnostic %q", got.Attempts, got.Diagnostic)
	}
	if diff := cmp.Diff(map[reminder.Reason]int{reminder.InvalidEligibility: 1}, b.letters()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

// What this version cannot compile was written by another one: it is held.
func TestAnEligibilityOfAnotherVersionIsHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.schedule.Eligibility = "recipient.attributes.status.fromTheFuture()" })
	b.start(nil)
	r := b.due("a", nil)
	b.heard("cannot be compiled", 2)
	b.heldWith(r)
	entry, revision, err := b.Registry.Schedule(t.Context(), "shop", "renewal")
	b.must(err)
	entry.Eligibility = "true"
	b.register(entry, revision)
	b.settled(r.Key, reminder.Sent, "")
}

func TestEligibilityURLDecides(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script     []int
		change     func(*bench)
		want       reminder.State
		reason     reminder.Reason
		asked      int
		sends      int
		retries    int
		diagnostic string
	}{
		"2xx is a go":                          {[]int{204}, nil, reminder.Sent, "", 1, 1, 0, ""},
		"404 cancels":                          {[]int{404}, nil, reminder.Cancelled, reminder.NotEligible, 1, 0, 0, "eligibilityURL: status 404"},
		"409 cancels":                          {[]int{409}, nil, reminder.Cancelled, reminder.NotEligible, 1, 0, 0, "eligibilityURL: status 409"},
		"410 cancels":                          {[]int{410}, nil, reminder.Cancelled, reminder.NotEligible, 1, 0, 0, "eligibilityURL: status 410"},
		"anything else is tried again":         {[]int{503, 500, 301, 200}, nil, reminder.Sent, "", 4, 1, 3, ""},
		"more often than submissions may fail": {[]int{503, 503, 503, 200}, func(b *bench) { b.schedule.Retry.Attempts = 1 }, reminder.Sent, "", 4, 1, 3, ""},
		"what is false is not asked for":       {[]int{200}, func(b *bench) { b.schedule.Eligibility = "false" }, reminder.Cancelled, reminder.NotEligible, 0, 0, 0, ""},
		"nor whom nobody knows":                {[]int{200}, func(b *bench) { b.people[0].Active = false }, reminder.Cancelled, reminder.RecipientInactive, 0, 0, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounter(t, tt.script...)
			b := newBench(t, func(b *bench) {
				park(b)
				b.schedule.EligibilityURL = reminder.Endpoint(c.URL + "/canary-eligible")
				b.schedule.Retry.Delays = []time.Duration{time.Second}
				if tt.change != nil {
					tt.change(b)
				}
			})
			b.start(asking)
			r := b.due("a", nil)
			got := b.settled(r.Key, tt.want, tt.reason)
			b.empty()
			b.sends("a", tt.sends)
			b.questionsOf(c, r, tt.asked)
			if got.Attempts != tt.sends || got.Retries != tt.retries || got.Diagnostic != tt.diagnostic || len(b.letters()) != 0 {
				t.Errorf("got %d attempts, %d retries, diagnostic %q", got.Attempts, got.Retries, got.Diagnostic)
			}
			if strings.Contains(b.logged.String(), "canary") {
				t.Errorf("I9: the log has the URL: %s", b.logged)
			}
		})
	}
}

// It is asked before each attempt, with the time between that a retry has.
func TestEligibilityURLIsAskedBeforeEachAttempt(t *testing.T) {
	t.Parallel()
	c := newCounter(t, 200, 200, 410)
	b := newBench(t, func(b *bench) { park(b); b.schedule.EligibilityURL = reminder.Endpoint(c.URL) })
	b.receiver.answers("a", busy)
	b.start(asking)
	r := b.due("a", nil)
	b.settled(r.Key, reminder.Cancelled, reminder.NotEligible)
	b.sends("a", 2)
	b.questionsOf(c, r, 3)
}

func TestEligibilityURLThatNeverAnswersEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*worker.Options){"refused": asking, "nobody can ask": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounter(t, 503)
			c.Close()
			b := newBench(t, func(b *bench) { park(b); b.schedule.EligibilityURL = reminder.Endpoint(c.URL) })
			b.start(start)
			r := b.due("a", func(r *reminder.Record) { r.DeadlineTime = r.ReleaseTime.Add(5 * time.Second) })
			got := b.settled(r.Key, reminder.Dead, reminder.DeadlineReached)
			b.empty()
			b.sends("a", 0)
			if got.Attempts != 0 || !strings.HasPrefix(got.Diagnostic, "eligibilityURL: ") || strings.Contains(got.Diagnostic, "127.0.0.1") {
				t.Errorf("got %d attempts, diagnostic %q", got.Attempts, got.Diagnostic)
			}
			if diff := cmp.Diff(map[reminder.Reason]int{reminder.DeadlineReached: 1}, b.letters()); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
		})
	}
}

// Rows 4 and 16: before a reminder waits for a person, the channel is asked.
func TestTheChannelIsAskedBeforeAReminderIsParked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change     func(*bench)
		sender     []answer
		script     []int
		want       reminder.State
		reason     reminder.Reason
		asked      int
		sends      int
		diagnostic string
	}{
		"accepted after all":               {park, []answer{silent}, []int{200}, reminder.Sent, "", 1, 1, ""},
		"not accepted, and sent again":     {park, []answer{silent, accept}, []int{404, 404}, reminder.Sent, "", 2, 2, ""},
		"accepted a moment later":          {park, []answer{silent}, []int{404, 200}, reminder.Sent, "", 2, 1, ""},
		"no clear answer":                  {park, []answer{silent}, []int{500}, reminder.Dead, reminder.ReconciliationRequired, 1, 1, "timeout; reconcileURL: status 500"},
		"no clear answer the second time":  {park, []answer{silent}, []int{404, 403}, reminder.Dead, reminder.ReconciliationRequired, 2, 1, "timeout; reconcileURL: status 403"},
		"not accepted to the end":          {park, []answer{silent}, []int{404}, reminder.Dead, reminder.RetryBudgetExhausted, 6, 3, "timeout"},
		"deduping, at the end":             {nil, []answer{silent}, []int{200}, reminder.Sent, "", 1, 3, ""},
		"under Retry, at the end":          {repeat, []answer{silent}, []int{404, 404}, reminder.Dead, reminder.RetryBudgetExhausted, 2, 3, "timeout"},
		"refused after an unknown outcome": {nil, []answer{silent, refuse}, []int{200}, reminder.Sent, "", 1, 2, ""},
		"a plain refusal is not asked for": {park, []answer{refuse}, []int{200}, reminder.Dead, reminder.InvalidRecipient, 0, 1, "status 422"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounter(t, tt.script...)
			b := newBench(t, func(b *bench) {
				if tt.change != nil {
					tt.change(b)
				}
				b.channel.ReconcileURL = reminder.Endpoint(c.URL + "/canary-seen")
			})
			b.receiver.answers("a", tt.sender...)
			b.start(asking)
			r := b.due("a", nil)
			got := b.settled(r.Key, tt.want, tt.reason)
			b.empty()
			b.sends("a", tt.sends)
			b.questionsOf(c, r, tt.asked)
			if got.Attempts != tt.sends || got.Diagnostic != tt.diagnostic || got.Unresolved != (tt.reason == reminder.ReconciliationRequired) {
				t.Errorf("got %d attempts, diagnostic %q, unresolved %t", got.Attempts, got.Diagnostic, got.Unresolved)
			}
			if want := map[bool]int{true: 1}[tt.want == reminder.Dead]; len(b.letters()) != want {
				t.Errorf("%v, want %d dead letters", b.letters(), want)
			}
			if strings.Contains(b.logged.String(), "canary") {
				t.Errorf("I9: the log has the URL: %s", b.logged)
			}
			for i, q := range c.questions() {
				if i > 0 && tt.sends == 1 && q.at.Sub(c.questions()[i-1].at) < lease {
					t.Errorf("asked again after %s, within the lease", q.at.Sub(c.questions()[i-1].at))
				}
			}
		})
	}
}

// Rows 3 to 5: the channel is asked for what a dead worker has left in Sending.
func TestTheChannelIsAskedForALapsedSubmission(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		change func(*reminder.Record)
		want   reminder.State
		reason reminder.Reason
		sends  int
	}{
		"accepted":                      {200, nil, reminder.Sent, "", 0},
		"accepted, past its deadline":   {200, func(r *reminder.Record) { r.DeadlineTime = r.LeaseUntilTime }, reminder.Sent, "", 0},
		"not accepted, sent again":      {404, nil, reminder.Sent, "", 1},
		"not accepted, past its end":    {404, func(r *reminder.Record) { r.DeadlineTime = r.LeaseUntilTime }, reminder.Dead, reminder.DeadlineReached, 0},
		"no clear answer":               {500, nil, reminder.Dead, reminder.ReconciliationRequired, 0},
		"not accepted, no attempt left": {404, func(r *reminder.Record) { r.Attempts = 3 }, reminder.Dead, reminder.RetryBudgetExhausted, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounter(t, tt.status)
			b := newBench(t, func(b *bench) { park(b); b.channel.ReconcileURL = reminder.Endpoint(c.URL) })
			b.start(asking)
			until := time.Now().UTC().Add(700 * time.Millisecond)
			r, _ := b.plan("a", func(r *reminder.Record) {
				r.State, r.Owner, r.LeaseUntilTime, r.Attempts = reminder.Sending, "dead", until, 1
				if tt.change != nil {
					tt.change(r)
				}
			})
			b.again(r)
			got := b.settled(r.Key, tt.want, tt.reason)
			b.empty()
			b.questionsOf(c, r, 1)
			if c.questions()[0].at.Before(until) {
				t.Errorf("asked %s before the lease ended", until.Sub(c.questions()[0].at))
			}
			if calls := b.receiver.of("a"); len(calls) != tt.sends || got.Attempts != r.Attempts+tt.sends {
				t.Errorf("%d submissions, want %d; counted %d", len(calls), tt.sends, got.Attempts)
			}
		})
	}
}

// A worker that is told to stop asks all the same.
func TestAWorkerThatStopsAsksBeforeItParks(t *testing.T) {
	t.Parallel()
	c := newCounter(t, 200)
	b := newBench(t, func(b *bench) {
		park(b)
		b.channel.ReconcileURL = reminder.Endpoint(c.URL)
		b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 20*time.Second, 2*time.Minute, 3*time.Minute
	})
	g := newGate(silent)
	b.receiver.answers("a", g.stubborn)
	stop := b.start(func(o *worker.Options) { asking(o); o.Grace = 100 * time.Millisecond })
	r := b.due("a", nil)
	g.wait(t, 1)
	close(g.open)
	stop()
	b.settled(r.Key, reminder.Sent, "")
	b.questionsOf(c, r, 1)
}

// What another worker hears of the channel after the lease must be its last word: a
// submission begins only if it ends within the lease.
func TestASubmissionThatCouldOutlastItsLeaseDoesNotBegin(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){"deduping": nil, "Park": park} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) {
				if change != nil {
					change(b)
				}
				b.channel.SendTimeout, b.channel.AckWait, b.channel.Lease = 10*time.Second, 21*time.Second, 27*time.Second
			})
			last := reminder.Claimed
			if change != nil {
				last = reminder.Sending
			}
			var slept atomic.Int64
			b.start(func(o *worker.Options) {
				o.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
				o.Ledger = ledger{Ledger: o.Ledger, forget: func(r reminder.Record) error {
					if r.State == last {
						slept.CompareAndSwap(0, int64(18*time.Second)) // 9 are left of the lease
					}
					return nil
				}}
			})
			r := b.due("a", nil)
			b.until(r.Key, "given back", func(r reminder.Record) bool { return r.State == reminder.Scheduled && r.Previous != nil })
			got := b.settled(r.Key, reminder.Sent, "")
			b.sends("a", 1)
			if got.Attempts != 1 || got.Takeovers != 0 {
				t.Errorf("got %d attempts, %d takeovers", got.Attempts, got.Takeovers)
			}
		})
	}
}
