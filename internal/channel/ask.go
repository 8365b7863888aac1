package channel

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// maxAskTime bounds one question; a channel with a shorter send timeout has that.
const maxAskTime = 10 * time.Second

// Query parameters of a question, beside those that the URL has. They make the URL
// of each reminder another one, so that no cache answers for it.
const (
	// ParamKey is the readable key of the reminder.
	ParamKey = "reminderKey"
	// ParamRecipient is the recipient's id.
	ParamRecipient = "recipientId"
)

// Asker puts questions about reminders to other systems, by GET through the one
// client and its guard: it follows no redirect, takes at most ten seconds, and
// looks at the status alone. It is safe for concurrent use.
type Asker struct {
	client    *client
	endpoint  *url.URL // where an HTTP channel sends; nil for others
	reconcile string
	secrets   *headerFiles
	keys      *keyring
	signed    bool
	agent     string
	now       func() time.Time
}

// NewAsker is the asker of a channel's workers. Its error says what in the
// configuration is wrong, without the value.
func NewAsker(c reminder.Channel, o Options) (*Asker, error) {
	c.SendTimeout, c.Dedupes = min(c.SendTimeout, maxAskTime), true // asking again is harmless
	a := &Asker{
		client: newClient(c, o), reconcile: string(c.ReconcileURL), agent: o.UserAgent, now: o.Now, signed: o.RequireSignature,
		secrets: &headerFiles{dir: o.SecretDir}, keys: &keyring{dir: o.SecretDir},
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.agent == "" {
		a.agent = "reminder-operator"
	}
	if c.HTTP != nil {
		var err error
		if a.endpoint, err = parseURL(c.HTTP.URL); err != nil {
			return nil, fmt.Errorf("open channel %s/%s: http.url %w", c.Namespace, c.Name, err)
		}
	}
	return a, nil
}

// Eligible asks an eligibilityURL whether a reminder is still wanted:
//
//	2xx             Yes
//	404, 409, 410   No
//	anything else   Unclear, with Retry-After
//
// The credentials of the channel's Secret go with it only where the URL has the
// scheme, host and port of the channel's own: who may write a schedule must not
// learn them.
func (a *Asker) Eligible(ctx context.Context, at reminder.Endpoint, key reminder.Key) reminder.Answer {
	return a.ask(ctx, string(at), key, a.sameOrigin, func(status int) reminder.Verdict {
		switch {
		case status/100 == 2:
			return reminder.Yes
		case status == http.StatusNotFound, status == http.StatusConflict, status == http.StatusGone:
			return reminder.No
		}
		return reminder.Unclear
	})
}

// Reconciled asks the channel's reconcileURL whether it has accepted a reminder,
// with the credentials of the channel's Secret:
//
//	2xx             Yes
//	404             No
//	anything else   Unclear
func (a *Asker) Reconciled(ctx context.Context, key reminder.Key) reminder.Answer {
	return a.ask(ctx, a.reconcile, key, func(*url.URL) bool { return true }, func(status int) reminder.Verdict {
		switch {
		case status/100 == 2:
			return reminder.Yes
		case status == http.StatusNotFound:
			return reminder.No
		}
		return reminder.Unclear
	})
}

// ask puts one question. Whom says whether the Secret may go with it.
func (a *Asker) ask(ctx context.Context, at string, key reminder.Key, whom func(*url.URL) bool, verdict func(status int) reminder.Verdict) reminder.Answer {
	target, err := parseURL(at)
	if err != nil {
		return unclear("the URL " + err.Error())
	}
	request := a.request(target, key)
	if whom(target) {
		if err := a.authenticate(request, key); err != nil {
			return unclear(brief(err.Error()))
		}
	}
	reply := a.client.submit(ctx, request, nil, 0)
	if reply.answer == nil {
		return unclear(failureOf(reply.err))
	}
	answer := reminder.Answer{Verdict: verdict(reply.answer.status), Text: "status " + strconv.Itoa(reply.answer.status)}
	if answer.Verdict == reminder.Unclear {
		answer.RetryAfter = retryAfter(reply.answer.retryAfter, a.now())
	}
	return answer
}

func (a *Asker) request(target *url.URL, key reminder.Key) *http.Request {
	query := url.Values{ParamKey: {key.String()}, ParamRecipient: {key.Recipient}}.Encode()
	if target.RawQuery != "" {
		query = target.RawQuery + "&" + query // as it is written: order may matter to a signature
	}
	target.RawQuery = query
	h := http.Header{}
	h.Set("User-Agent", a.agent)
	h.Set("Idempotency-Key", key.ID())
	h.Set("Cache-Control", "no-store")
	return &http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: h}
}

// authenticate adds what the channel's Secret has: headers, and a signature of the
// empty body.
func (a *Asker) authenticate(r *http.Request, key reminder.Key) error {
	headers, err := a.secrets.current()
	if err != nil {
		return err
	}
	for _, h := range headers {
		r.Header.Set(h.name, string(h.value.Reveal()))
	}
	if a.endpoint == nil {
		return nil
	}
	keys, err := a.keys.current()
	if err == nil && len(keys) == 0 && a.signed {
		err = fmt.Errorf("the channel's Secret has no %s", KeyFile)
	}
	if err == nil && len(keys) > 0 {
		sign(r.Header, keys, key.ID(), a.now(), nil)
	}
	return err
}

// sameOrigin tells whether a URL leads to where the channel sends.
func (a *Asker) sameOrigin(u *url.URL) bool {
	return a.endpoint != nil && origin(u) == origin(a.endpoint)
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

func unclear(text string) reminder.Answer {
	return reminder.Answer{Verdict: reminder.Unclear, Text: text}
}

// String says what it is and no more: its URLs may be credentials.
func (a *Asker) String() string { return "asker of a channel" }

// GoString is String, for %#v.
func (a *Asker) GoString() string { return a.String() }
