package channel_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/channel"
	ct "github.com/reminder-operator/reminder-operator/internal/channel/channeltest"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// withHeaders is a mounted Secret with a signing key and more files.
func withHeaders(t *testing.T, files map[string]string) secret {
	t.Helper()
	s := newSecret(t, signedWith(files))
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func signedWith(files map[string]string) map[string]string {
	all := map[string]string{channel.KeyFile: key('c', 24)}
	maps.Copy(all, files)
	return all
}

func TestHeadersOfTheSecretAreSent(t *testing.T) {
	t.Parallel()
	r := ct.NewReceiver(t, ct.Answer(200))
	mount := withHeaders(t, map[string]string{
		"header.Authorization": "Bearer abc.def-ghi", "header.x-api-key": "k=1; \t\"quoted\" ü\n", "header.Cookie": "a=b",
		"header.X-Team": "of the Secret\r\n", "header.Proxy-Authorization": "Basic eA==", "headers": "no", "password": "no",
	})
	sendOnce(t, open(t, r.URL(), mount.mounted, func(s *setup) {
		s.channel.HTTP.Headers = []reminder.HTTPHeader{{Name: "X-Team", Value: "of the channel"}, {Name: "X-Other", Value: "stays"}}
	}), reminder.Accepted)
	q := r.Requests()[0]
	for name, want := range map[string][]string{
		"Authorization": {"Bearer abc.def-ghi"}, "X-Api-Key": {"k=1; \t\"quoted\" ü"}, "Cookie": {"a=b"}, "X-Team": {"of the Secret"},
		"X-Other": {"stays"}, "Proxy-Authorization": {"Basic eA=="}, "Password": nil, "Headers": nil,
	} {
		if diff := cmp.Diff(want, q.Header.Values(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if !verify(t, q, key('c', 24))[0] {
		t.Error("the request is not signed")
	}
}

func TestHeadersOfTheSecretAreReadAgainWhenTheyRotate(t *testing.T) {
	t.Parallel()
	const name = "header.Authorization"
	mount := withHeaders(t, map[string]string{name: "Bearer one"})
	r := ct.NewReceiver(t, ct.Answer(200))
	s := open(t, r.URL(), mount.mounted)
	arrived := 0
	for i, step := range []struct {
		files   map[string]string
		outcome reminder.Outcome
		want    string
	}{
		{map[string]string{name: "Bearer one"}, reminder.Accepted, "Bearer one"},
		{map[string]string{name: "Bearer two"}, reminder.Accepted, "Bearer two"},
		{map[string]string{name: "Bearer\nthree"}, reminder.Transient, ""},
		{map[string]string{name: ""}, reminder.Transient, ""},
		{map[string]string{name: "Bearer four"}, reminder.Accepted, "Bearer four"},
		{nil, reminder.Accepted, ""},
	} {
		mount.swap(t, signedWith(step.files))
		sendOnce(t, s, step.outcome)
		if step.outcome != reminder.Accepted {
			continue
		}
		if got := r.Requests()[arrived].Header.Get("Authorization"); got != step.want {
			t.Errorf("step %d: Authorization is %q, want %q", i, got, step.want)
		}
		arrived++
	}
	if got := len(r.Requests()); got != arrived {
		t.Errorf("%d requests arrived, want %d: nothing may be sent with half a credential", got, arrived)
	}
}

func TestBadHeadersOfTheSecretAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	const taken = "names a header that the operator or the protocol sets"
	cases := map[string]struct {
		files map[string]string
		want  string
	}{
		"two lines":                 {map[string]string{"header.X-A": "canary\r\nX-B: canary"}, "key header.X-A holds a line break or another control character"},
		"a line feed":               {map[string]string{"header.X-A": "canary\ncanary"}, "key header.X-A holds a line break or another control character"},
		"a second line break":       {map[string]string{"header.X-A": "canary\n\n"}, "key header.X-A holds a line break or another control character"},
		"a NUL":                     {map[string]string{"header.X-A": "canary\x00"}, "key header.X-A holds a line break or another control character"},
		"a DEL":                     {map[string]string{"header.X-A": "canary\x7f"}, "key header.X-A holds a line break or another control character"},
		"nothing":                   {map[string]string{"header.X-A": ""}, "key header.X-A is empty"},
		"blanks":                    {map[string]string{"header.X-A": " \t\n"}, "key header.X-A is empty"},
		"too much":                  {map[string]string{"header.X-A": strings.Repeat("canary", 2000)}, "key header.X-A has more than 8192 bytes"},
		"no name":                   {map[string]string{"header.": "canary"}, "key header. does not end in the name of a header"},
		"what is no name":           {map[string]string{"header.a b": "canary"}, "key header.a b does not end in the name of a header"},
		"names that differ by case": {map[string]string{"header.X-A": "canary", "header.x-a": "canary"}, "key header.x-a names a header that another key names, too"},
	}
	for _, name := range []string{
		"Host", "host", "Content-Type", "content-length", "Content-Anything", "Transfer-Encoding", "Connection", "Trailer", "TE", "Upgrade", "Expect",
		"webhook-signature", "Webhook-Anything", "Idempotency-Key", "idempotency-key", "ce-id", "CE-Anything", "User-Agent", "Accept-Encoding",
		"Proxy-Connection", "Traceparent", "Set-Cookie",
	} {
		cases["the reserved "+name] = struct {
			files map[string]string
			want  string
		}{map[string]string{"header." + name: "canary"}, "key header." + name + " " + taken}
	}
	many := map[string]string{}
	for i := range 33 {
		many[fmt.Sprintf("header.X-%d", i)] = "canary"
	}
	cases["33 headers"] = struct {
		files map[string]string
		want  string
	}{many, "holds 33 headers; at most 32 are sent"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mount := withHeaders(t, c.files)
			_, err := channel.New(
				reminder.Channel{Namespace: "shop", Name: "billing", Type: reminder.ChannelHTTP, SendTimeout: time.Second, HTTP: &reminder.HTTPChannel{URL: "http://receiver.example"}},
				channel.Options{SecretDir: mount.dir, RequireSignature: true})
			if err == nil || err.Error() != "open channel shop/billing: the channel's Secret: "+c.want {
				t.Fatalf("error is %v, want … %s", err, c.want)
			}
			checked := map[string][]byte{}
			for key, value := range signedWith(c.files) {
				checked[key] = []byte(value)
			}
			if got := channel.CheckSecret(reminder.ChannelHTTP, checked); got == nil || got.Error() != c.want {
				t.Errorf("CheckSecret says %v, want %s", got, c.want)
			}
			if strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), mount.dir) {
				t.Errorf("error %q shows the value or the path", err)
			}
		})
	}
}

// A credential that becomes bad while the worker runs must not come out either.
func TestABadHeaderWhileRunningIsNotShown(t *testing.T) {
	t.Parallel()
	long := "header." + strings.Repeat("x", 240)
	ct.Run(t, map[string]ct.Case{
		"a line break": {Open: spoilt("header.Authorization", "canary-one\ncanary-two"), Want: transient("the channel's Secret: key header.Authorization holds a line break or another control character", 0)},
		"a long key":   {Open: spoilt(long, "canary-one\ncanary-two"), Want: transient("", 0)},
	})
}

func spoilt(name, value string) func(*testing.T, *ct.Bench) channel.Sender {
	return func(t *testing.T, bench *ct.Bench) channel.Sender {
		bench.Canary("canary-one", "canary-two")
		mount := withHeaders(t, map[string]string{name: "Bearer canary-one"})
		s := open(t, "http://receiver.example", mount.mounted)
		mount.swap(t, signedWith(map[string]string{name: value}))
		return s
	}
}
