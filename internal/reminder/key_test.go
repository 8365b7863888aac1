package reminder_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// oddIDs are recipient ids that people really use or that break naive keys.
var oddIDs = []string{
	"acct_4821", "acct:1", "user@example.com", "имя", "😀", "a b", "a..b", ".a", "a.", ".", "*", ">", "x.>", "=", "=2E", "a%3Ab",
	"a/b", "\x00", "\r\nNats-Rollup: all", "é", "e\u0301", "A", "a", strings.Repeat("x", 4000),
}

// kvKey is what a KV bucket takes as a key: tokens of the alphabet, none empty.
var kvKey = regexp.MustCompile(`^[A-Za-z0-9_=-]+(\.[A-Za-z0-9_=-]+)*$`)

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom(oddIDs), rapid.StringMatching(`[a-c.=*>]{1,6}`),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
}

func validText() *rapid.Generator[string] {
	return rapid.Map(anyText(), func(s string) string { return "x" + strings.ToValidUTF8(s, "?") })
}

func anyKey() *rapid.Generator[reminder.Key] {
	return rapid.Custom(func(t *rapid.T) reminder.Key {
		slot := reminder.SlotOf(time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "second"), 0))
		if rapid.Bool().Draw(t, "business date") {
			slot = slot[:len(time.DateOnly)]
		}
		return reminder.Key{
			Namespace: validText().Draw(t, "namespace"), Schedule: validText().Draw(t, "schedule"), Slot: slot,
			Recipient: validText().Draw(t, "recipient"), Channel: validText().Draw(t, "channel"),
		}
	})
}

func TestEscapeIsInjectiveAndOneToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyText().Draw(t, "a"), anyText().Draw(t, "b")
		token := reminder.Escape(a)
		if !kvKey.MatchString(token) || strings.Contains(token, ".") {
			t.Fatalf("Escape(%q) = %q is not one token of the KV alphabet", a, token)
		}
		if got, err := reminder.Unescape(token); err != nil || got != a {
			t.Fatalf("Unescape(Escape(%q)) = %q, %v", a, got, err)
		}
		if same := token == reminder.Escape(b); same != (a == b) {
			t.Fatalf("Escape(%q) = %q, Escape(%q) = %q", a, token, b, reminder.Escape(b))
		}
	})
}

func TestUnescapeTakesOnlyWhatEscapeWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringMatching(`[a-z=0-9A-G.]{0,8}`).Draw(t, "token")
		s, err := reminder.Unescape(token)
		switch {
		case err != nil && !errors.Is(err, reminder.ErrMalformed):
			t.Fatalf("Unescape(%q): %v is not ErrMalformed", token, err)
		case err == nil && reminder.Escape(s) != token:
			t.Fatalf("Unescape(%q) = %q, whose escape is %q", token, s, reminder.Escape(s))
		}
	})
}

func TestUnescapeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"no token at all":             "",
		"a lone escape at the end":    "a=",
		"half an escape":              "a=2",
		"an escape that is not hex":   "=zz",
		"an escape in lower case":     "=2e",
		"an escape of a plain letter": "=61",
		"a dot":                       "a.b",
		"a byte outside the alphabet": "a b",
	}
	for name, token := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s, err := reminder.Unescape(token); !errors.Is(err, reminder.ErrMalformed) {
				t.Errorf("Unescape(%q) = %q, %v; want ErrMalformed", token, s, err)
			}
		})
	}
}

func TestKeysThatDifferNeverShareAToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyKey().Draw(t, "a"), anyKey().Draw(t, "b")
		if rapid.Bool().Draw(t, "move the border between two parts") {
			b = a
			b.Namespace, b.Schedule = a.Namespace+"."+a.Schedule, "x"
		}
		for what, of := range map[string]func(reminder.Key) string{"Token": reminder.Key.Token, "Subject": reminder.Key.Subject, "ID": reminder.Key.ID} {
			if (of(a) == of(b)) != (a == b) {
				t.Fatalf("%s of %+v and %+v: %q, %q", what, a, b, of(a), of(b))
			}
			if !kvKey.MatchString(of(a)) {
				t.Fatalf("%s %q is not a KV key", what, of(a))
			}
		}
		if n := strings.Count(a.Subject(), "."); n != 4 {
			t.Fatalf("Subject %q has %d dots, want 4", a.Subject(), n)
		}
	})
}

func TestKeysThatLookAlikeDiffer(t *testing.T) {
	t.Parallel()
	key := func(namespace, schedule, recipient, channel string) reminder.Key {
		return reminder.Key{Namespace: namespace, Schedule: schedule, Slot: "2026-11-03T08:00:00Z", Recipient: recipient, Channel: channel}
	}
	tests := map[string]struct{ a, b reminder.Key }{
		"schedule a.b beside a and b":      {key("n", "a.b", "r", "c"), key("n", "a", "b", "c")},
		"a dot moves to the namespace":     {key("n.a", "b", "r", "c"), key("n", "a.b", "r", "c")},
		"recipient ab beside channel bc":   {key("n", "s", "ab", "c"), key("n", "s", "a", "bc")},
		"an escaped name beside its text":  {key("n", "a=2Eb", "r", "c"), key("n", "a.b", "r", "c")},
		"one letter in another case":       {key("n", "s", "Acct", "c"), key("n", "s", "acct", "c")},
		"two Unicode forms of one letter":  {key("n", "s", "é", "c"), key("n", "s", "e\u0301", "c")},
		"a wildcard beside what it covers": {key("n", "*", "r", "c"), key("n", "s", "r", "c")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.a.Token() == tt.b.Token() || tt.a.Subject() == tt.b.Subject() || tt.a.ID() == tt.b.ID() {
				t.Errorf("%+v and %+v collide", tt.a, tt.b)
			}
		})
	}
}

func TestOddRecipientsMakeGoodKeys(t *testing.T) {
	t.Parallel()
	tokens := map[string]string{}
	for _, id := range oddIDs {
		key := reminder.Key{Namespace: "shop", Schedule: "renewal.notice", Slot: "2026-11-03T08:00:00Z", Recipient: id, Channel: "mail"}
		if err := key.Validate(); err != nil {
			t.Errorf("%.20q: %v", id, err)
		}
		if n := len(key.Subject()); n > 200 {
			t.Errorf("%.20q: the subject has %d characters: it must not grow with the id", id, n)
		}
		if other, ok := tokens[key.Token()]; ok {
			t.Errorf("%.20q and %.20q share a token", id, other)
		}
		tokens[key.Token()] = id
		job, err := reminder.JobOf(reminder.Record{Key: key}, 1).Encode()
		if err != nil {
			t.Fatalf("%.20q: %v", id, err)
		}
		if back, err := reminder.DecodeJob(job); err != nil || back.Key != key {
			t.Errorf("%.20q does not survive its job: %v", id, err)
		}
	}
}

// The key outlives releases: these values may never change.
func TestKeyFormsAreFixed(t *testing.T) {
	t.Parallel()
	key := reminder.Key{Namespace: "shop", Schedule: "renewal.notice", Slot: "2026-11-03T08:00:00Z", Recipient: "acct:1", Channel: "mail"}
	date := key
	date.Slot = "2026-11-03"
	got := []string{key.String(), key.ID(), key.Token(), key.Subject(), date.Token(), reminder.RecipientToken("acct:1")}
	want := []string{
		"shop/renewal.notice/2026-11-03T08:00:00Z/acct:1",
		"4bbvkieo7tyyj64finkfgg4thi",
		"shop.renewal=2Enotice.20261103T080000Z.xo6zlcpwlftxemf2avx7lbvlbm",
		"shop.mail.renewal=2Enotice.20261103T080000Z.xo6zlcpwlftxemf2avx7lbvlbm",
		"shop.renewal=2Enotice.20261103.xo6zlcpwlftxemf2avx7lbvlbm",
		"64ny5c2hh25226rkzwhgpczys4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forms of a key (-want +got):\n%s", diff)
	}
}

func TestKeyValidate(t *testing.T) {
	t.Parallel()
	good := reminder.Key{Namespace: "shop", Schedule: "s", Slot: "2026-11-03T08:00:00Z", Recipient: "r", Channel: "mail"}
	tests := map[string]struct {
		change func(*reminder.Key)
		want   string // part of the error; empty: valid
	}{
		"a UTC instant in whole seconds":     {func(*reminder.Key) {}, ""},
		"a business date":                    {func(k *reminder.Key) { k.Slot = "2026-11-03" }, ""},
		"no namespace":                       {func(k *reminder.Key) { k.Namespace = "" }, "namespace is empty"},
		"no schedule":                        {func(k *reminder.Key) { k.Schedule = "" }, "schedule is empty"},
		"no recipient":                       {func(k *reminder.Key) { k.Recipient = "" }, "recipient is empty"},
		"no channel":                         {func(k *reminder.Key) { k.Channel = "" }, "channel is empty"},
		"nothing: the first part is named":   {func(k *reminder.Key) { *k = reminder.Key{} }, "namespace is empty"},
		"a recipient that JSON would change": {func(k *reminder.Key) { k.Recipient = "a\xff" }, "recipient is not valid UTF-8"},
		"no slot":                            {func(k *reminder.Key) { k.Slot = "" }, "slot"},
		"an offset":                          {func(k *reminder.Key) { k.Slot = "2026-11-03T09:00:00+01:00" }, "slot"},
		"UTC in another spelling":            {func(k *reminder.Key) { k.Slot = "2026-11-03T08:00:00+00:00" }, "slot"},
		"a fraction of a second":             {func(k *reminder.Key) { k.Slot = "2026-11-03T08:00:00.5Z" }, "slot"},
		"a fraction that is zero":            {func(k *reminder.Key) { k.Slot = "2026-11-03T08:00:00.000Z" }, "slot"},
		"a fraction behind a comma":          {func(k *reminder.Key) { k.Slot = "2026-11-03T08:00:00,0Z" }, "slot"},
		"an hour of one digit":               {func(k *reminder.Key) { k.Slot = "2026-11-03T8:00:00Z" }, "slot"},
		"a date that does not exist":         {func(k *reminder.Key) { k.Slot = "2026-02-30" }, "slot"},
		"a slot with a newline":              {func(k *reminder.Key) { k.Slot = "2026-11-03\n" }, "slot"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := good
			tt.change(&k)
			err := k.Validate()
			if tt.want == "" && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if tt.want != "" && (!errors.Is(err, reminder.ErrMalformed) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want ErrMalformed with %q", err, tt.want)
			}
		})
	}
}

func TestSlotOfIsUTCInWholeSeconds(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("CET", 3600)
	got := reminder.SlotOf(time.Date(2026, 11, 3, 9, 0, 0, 999_999_999, berlin))
	if want := "2026-11-03T08:00:00Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
