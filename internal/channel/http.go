package channel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// httpSender posts reminders to one URL.
type httpSender struct {
	name    string
	method  string
	url     *url.URL
	headers http.Header
	success []int
	client  *client
	keys    *keyring
	secrets *headerFiles
	signed  bool
	now     func() time.Time
}

// reserved are the headers that a channel may not set: what the protocol, the
// signature and the event depend on.
var reserved = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Trailer", "Upgrade", "Te", "Expect", "Keep-Alive",
	"Content-Type", "Content-Encoding", "Accept-Encoding", "User-Agent", "Idempotency-Key", headerID, headerTimestamp, headerSignature,
}

func newHTTP(c reminder.Channel, o Options) (Sender, error) {
	if c.HTTP == nil {
		return nil, errors.New("http is not set")
	}
	if c.SendTimeout <= 0 {
		return nil, errors.New("sendTimeout is not positive")
	}
	s := &httpSender{
		name: c.Namespace + "/" + c.Name, success: c.HTTP.SuccessCodes, client: newClient(c, o),
		keys: &keyring{dir: o.SecretDir}, secrets: &headerFiles{dir: o.SecretDir}, signed: o.RequireSignature, now: o.Now,
	}
	var err error
	if s.url, err = parseURL(c.HTTP.URL); err != nil {
		return nil, fmt.Errorf("http.url %w", err)
	}
	if s.method, err = parseMethod(c.HTTP.Method); err != nil {
		return nil, fmt.Errorf("http.method %w", err)
	}
	if s.headers, err = parseHeaders(c.HTTP.Headers); err != nil {
		return nil, fmt.Errorf("http.headers %w", err)
	}
	s.headers.Set("User-Agent", o.UserAgent)
	if _, err := s.signingKeys(); err != nil {
		return nil, err
	}
	if _, err := s.secrets.current(); err != nil {
		return nil, err
	}
	return s, nil
}

// Send posts m once.
func (s *httpSender) Send(ctx context.Context, m reminder.Message) reminder.Result {
	if err := ctx.Err(); err != nil {
		return failed(ctx, err, false)
	}
	keys, err := s.signingKeys()
	if err != nil {
		return channelFault(err.Error())
	}
	headers, err := s.secrets.current()
	if err != nil {
		return channelFault(brief(err.Error()))
	}
	body, err := encode(m)
	if err != nil {
		return reminder.Result{Outcome: reminder.Permanent, Reason: reminder.InvalidMessage, Diagnostic: "the message cannot be encoded"}
	}
	request := s.request(m, headers)
	sign(request.Header, keys, m.ID, s.now(), body)
	reply := s.client.submit(ctx, request, bytes.NewReader(body), len(body))
	if reply.answer == nil {
		return failed(ctx, reply.err, reply.sent)
	}
	return judge(*reply.answer, s.success, s.now())
}

// brief bounds a diagnostic: a key of a Secret may have 253 characters.
func brief(text string) string { return text[:min(len(text), 256)] }

// request is the request without body and signature. Headers from the Secret
// replace those of the same name in the channel.
func (s *httpSender) request(m reminder.Message, secrets []secretHeader) *http.Request {
	r := &http.Request{Method: s.method, URL: s.url, Host: s.url.Host, Header: s.headers.Clone()}
	for _, h := range secrets {
		r.Header.Set(h.name, string(h.value.Reveal()))
	}
	r.Header.Set("Idempotency-Key", m.ID)
	describe(r.Header, m)
	return r
}

// signingKeys is the keys of the Secret; none only where that is allowed.
func (s *httpSender) signingKeys() ([]Secret, error) {
	keys, err := s.keys.current()
	if err == nil && len(keys) == 0 && s.signed {
		err = fmt.Errorf("the channel's Secret has no %s", KeyFile)
	}
	return keys, err
}

// String names the channel; the URL may be a credential.
func (s *httpSender) String() string { return "HTTP channel " + s.name }

// GoString is String, for %#v.
func (s *httpSender) GoString() string { return s.String() }

// parseURL checks the channel's URL. Its errors never hold any of it.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("is not a URL")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("has a scheme other than http and https")
	case u.Hostname() == "":
		return nil, errors.New("has no host")
	case u.User != nil:
		return nil, errors.New("holds a user name or password; credentials belong in the channel's Secret")
	case u.Port() != "" && (err != nil || port == 0):
		return nil, errors.New("has a port outside 1 to 65535")
	case u.Fragment != "":
		return nil, errors.New("has a fragment, which is never sent")
	}
	return u, nil
}

func parseMethod(method string) (string, error) {
	switch method {
	case "":
		return http.MethodPost, nil
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return method, nil
	}
	return "", fmt.Errorf("is %q; allowed are POST, PUT and PATCH", method)
}

func parseHeaders(configured []reminder.HTTPHeader) (http.Header, error) {
	h := http.Header{}
	for _, c := range configured {
		name := http.CanonicalHeaderKey(c.Name)
		switch {
		case !isToken(c.Name):
			return nil, fmt.Errorf("holds %q, which is not a header's name", c.Name)
		case isReserved(name):
			return nil, fmt.Errorf("holds %s, which the operator sets", name)
		case strings.ContainsFunc(c.Value, isHeaderControl):
			return nil, fmt.Errorf("holds a value of %s with a control character", name)
		}
		h.Add(name, c.Value)
	}
	return h, nil
}

func isReserved(name string) bool {
	return strings.HasPrefix(name, "Ce-") || slices.Contains(reserved, name)
}

// isToken tells whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
