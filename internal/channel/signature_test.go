package channel_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// key is a signing key of n bytes, in the form with a prefix.
func key(fill byte, n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(fill), n)))
}

// secret is a directory like that of a mounted Secret: the files are links into
// a directory that is swapped as a whole.
type secret struct{ dir string }

func newSecret(t *testing.T, files map[string]string) secret {
	t.Helper()
	s := secret{t.TempDir()}
	s.swap(t, files)
	for _, name := range []string{channel.KeyFile, channel.PreviousKeyFile} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s secret) swap(t *testing.T, files map[string]string) {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(s.dir, "..version*"))
	if err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(s.dir, "..version"+strconv.Itoa(len(old)))
	if err := os.Mkdir(version, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(version, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(s.dir, "..data_tmp")
	if err := os.Symlink(filepath.Base(version), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link, filepath.Join(s.dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

func (s secret) mounted(set *setup) {
	set.options.SecretDir, set.options.RequireSignature = s.dir, true
	set.options.Now = time.Now // the verifier has no clock of its own
}

// verify tells which of the keys verify a request.
func verify(t *testing.T, q ct.Request, keys ...string) []bool {
	t.Helper()
	var ok []bool
	for _, k := range keys {
		w, err := webhooks.NewWebhook(k)
		if err != nil {
			t.Fatalf("verifier: %v", err)
		}
		ok = append(ok, w.Verify(q.Body, q.Header) == nil)
	}
	return ok
}

func sendOnce(t *testing.T, s channel.Sender, want reminder.Outcome) {
	t.Helper()
	if got := s.Send(t.Context(), ct.Message()); got.Outcome != want {
		t.Fatalf("send is %+v, want %s", got, want)
	}
}

func TestSignatureIsVerifiedByAnIndependentVerifier(t *testing.T) {
	t.Parallel()
	current, previous, foreign := key('c', 24), key('p', 32), key('f', 24)
	for name, c := range map[string]struct {
		files map[string]string
		want  []bool
	}{
		"one key":                    {map[string]string{channel.KeyFile: current}, []bool{true, false, false}},
		"two keys during a rotation": {map[string]string{channel.KeyFile: current, channel.PreviousKeyFile: previous}, []bool{true, true, false}},
		"base64 without prefix":      {map[string]string{channel.KeyFile: strings.TrimPrefix(current, "whsec_")}, []bool{true, false, false}},
		"a line break at the end":    {map[string]string{channel.KeyFile: current + "\n"}, []bool{true, false, false}},
		"base64 without padding":     {map[string]string{channel.KeyFile: strings.TrimRight(previous, "=")}, []bool{false, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ct.NewReceiver(t, ct.Answer(200))
			sendOnce(t, open(t, r.URL(), newSecret(t, c.files).mounted), reminder.Accepted)
			got := verify(t, r.Requests()[0], current, previous, foreign)
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("verified by current, previous, foreign: %v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestSignatureCoversBodyIDAndTime(t *testing.T) {
	t.Parallel()
	k := key('c', 24)
	r := ct.NewReceiver(t, ct.Answer(200))
	sendOnce(t, open(t, r.URL(), newSecret(t, map[string]string{channel.KeyFile: k}).mounted), reminder.Accepted)
	for name, change := range map[string]func(*ct.Request){
		"body":      func(q *ct.Request) { q.Body[0] = ' ' },
		"id":        func(q *ct.Request) { q.Header.Set("webhook-id", "other") },
		"timestamp": func(q *ct.Request) { q.Header.Set("webhook-timestamp", "1") },
	} {
		q := r.Requests()[0]
		q.Header, q.Body = q.Header.Clone(), append([]byte(nil), q.Body...)
		change(&q)
		if verify(t, q, k)[0] {
			t.Errorf("a request with another %s was verified", name)
		}
	}
}

func TestKeysAreReadAgainWhenTheyRotate(t *testing.T) {
	t.Parallel()
	before, after := key('b', 24), key('a', 24)
	mount := newSecret(t, map[string]string{channel.KeyFile: before})
	r := ct.NewReceiver(t, ct.Answer(200))
	s := open(t, r.URL(), mount.mounted)
	steps := []struct {
		files   map[string]string
		outcome reminder.Outcome
		want    [2]bool
	}{
		{map[string]string{channel.KeyFile: before}, reminder.Accepted, [2]bool{true, false}},
		{map[string]string{channel.KeyFile: after, channel.PreviousKeyFile: before}, reminder.Accepted, [2]bool{true, true}},
		{map[string]string{channel.KeyFile: after}, reminder.Accepted, [2]bool{false, true}},
		{map[string]string{channel.KeyFile: "whsec_c2hvcnQ="}, reminder.Transient, [2]bool{}},
		{map[string]string{}, reminder.Transient, [2]bool{}},
		{map[string]string{channel.KeyFile: before}, reminder.Accepted, [2]bool{true, false}},
	}
	arrived := 0
	for i, step := range steps {
		mount.swap(t, step.files)
		sendOnce(t, s, step.outcome)
		if step.outcome != reminder.Accepted {
			continue
		}
		q := r.Requests()[arrived]
		arrived++
		if got := verify(t, q, before, after); got[0] != step.want[0] || got[1] != step.want[1] {
			t.Errorf("step %d: verified by before, after: %v, want %v", i, got, step.want)
		}
	}
	if got := len(r.Requests()); got != arrived {
		t.Errorf("%d requests arrived, want %d: nothing may be sent without a key", got, arrived)
	}
}

func TestAKeyRewrittenInPlaceIsReadAgain(t *testing.T) {
	t.Parallel()
	dir, before, after := t.TempDir(), key('b', 24), key('a', 33)
	path := filepath.Join(dir, channel.KeyFile)
	r := ct.NewReceiver(t, ct.Answer(200))
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, r.URL(), secret{dir}.mounted)
	if err := os.WriteFile(path, []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
	sendOnce(t, s, reminder.Accepted)
	if !verify(t, r.Requests()[0], after)[0] {
		t.Error("the request is not signed with the new key")
	}
}

func TestBadSecretsAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	const canary = "Y2FuYXJ5" // base64 of "canary"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a key of 8 bytes":             {map[string]string{channel.KeyFile: "whsec_Y2FuYXJ5ISE="}, "read secret file signingKey: holds a key of 8 bytes; at least 24 are needed"},
		"what is not base64":           {map[string]string{channel.KeyFile: canary + " not base64"}, "read secret file signingKey: is neither whsec_<base64> nor base64"},
		"an empty file":                {map[string]string{channel.KeyFile: ""}, "read secret file signingKey: holds a key of 0 bytes; at least 24 are needed"},
		"a file of 1 MiB":              {map[string]string{channel.KeyFile: strings.Repeat(canary, 1<<17)}, "read secret file signingKey: has more than 4096 bytes"},
		"a short previous key":         {map[string]string{channel.KeyFile: key('c', 24), channel.PreviousKeyFile: canary}, "read secret file previousSigningKey: holds a key of 6 bytes; at least 24 are needed"},
		"only a previous key":          {map[string]string{channel.PreviousKeyFile: key('p', 24)}, "the channel's Secret has previousSigningKey but no signingKey"},
		"a Secret without signing key": {map[string]string{"other": canary}, "the channel's Secret has no signingKey"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mount := newSecret(t, c.files)
			_, err := channel.New(
				reminder.Channel{Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, SendTimeout: time.Second, HTTP: &reminder.HTTPChannel{URL: "http://receiver.example"}},
				channel.Options{SecretDir: mount.dir, RequireSignature: true})
			if err == nil || err.Error() != "open channel shop/billing: "+c.want {
				t.Fatalf("error is %v, want … %s", err, c.want)
			}
			if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), mount.dir) {
				t.Errorf("error %q shows the secret or its path", err)
			}
		})
	}
}

func TestUnsignedOnlyWhereAllowed(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	sendOnce(t, open(t, r.URL()), reminder.Accepted)
	if got := r.Requests()[0].Header.Values("webhook-signature"); len(got) != 0 {
		t.Errorf("signature is %v, want none", got)
	}
	_, err := channel.New(
		reminder.Channel{Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, SendTimeout: time.Second, HTTP: &reminder.HTTPChannel{URL: r.URL()}},
		channel.Options{RequireSignature: true})
	if err == nil {
		t.Error("a channel that must sign was opened without a Secret")
	}
}

func TestCheckSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data map[string]string
		want string
	}{
		"a good key":            {map[string]string{channel.KeyFile: key('c', 24), "other": "x"}, ""},
		"two good keys":         {map[string]string{channel.KeyFile: key('c', 24), channel.PreviousKeyFile: key('p', 24)}, ""},
		"no key":                {map[string]string{"other": "x"}, "lacks the key signingKey"},
		"a short key":           {map[string]string{channel.KeyFile: key('c', 8)}, "key signingKey holds a key of 8 bytes; at least 24 are needed"},
		"a bad previous key":    {map[string]string{channel.KeyFile: key('c', 24), channel.PreviousKeyFile: "?"}, "key previousSigningKey is neither whsec_<base64> nor base64"},
		"a key file of 1 MiB":   {map[string]string{channel.KeyFile: strings.Repeat("Y", 1<<20)}, "key signingKey has more than 4096 bytes"},
		"a header beside a key": {map[string]string{channel.KeyFile: key('c', 24), "header.Authorization": "Bearer x\n"}, ""},
		"a header without key":  {map[string]string{"header.Authorization": "Bearer x"}, "lacks the key signingKey"},
		"a header in two lines": {map[string]string{channel.KeyFile: key('c', 24), "header.X-Token": "a\r\nHost: b"}, "key header.X-Token holds a line break or another control character"},
		"only the previous key": {map[string]string{channel.PreviousKeyFile: key('p', 24)}, "lacks the key signingKey"},
	} {
		data := map[string][]byte{}
		for k, v := range c.data {
			data[k] = []byte(v)
		}
		got := ""
		if err := channel.CheckSecret(reminder.ChannelHTTP, data); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: error is %q, want %q", name, got, c.want)
		}
	}
}
