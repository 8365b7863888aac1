package channel

import (
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 21, 7, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		value string
		want  time.Duration
	}{
		"absent":                            {"", 0},
		"seconds":                           {"120", 2 * time.Minute},
		"zero":                              {"0", 0},
		"seconds with leading zeros":        {"0007", 7 * time.Second},
		"blanks around":                     {" 5 ", 5 * time.Second},
		"an IMF date":                       {"Wed, 21 Oct 2026 07:28:00 GMT", 28 * time.Minute},
		"an RFC 850 date":                   {"Wednesday, 21-Oct-26 07:28:00 GMT", 28 * time.Minute},
		"an asctime date":                   {"Wed Oct 21 07:28:00 2026", 28 * time.Minute},
		"a date in the past":                {"Wed, 21 Oct 2015 07:28:00 GMT", 0},
		"a date far away is capped":         {"Wed, 21 Oct 2099 07:28:00 GMT", 24 * time.Hour},
		"a date in another zone is invalid": {"Wednesday, 21-Oct-26 07:28:00 CEST", 0},
		"negative":                          {"-1", 0},
		"signed":                            {"+1", 0},
		"a fraction":                        {"1.5", 0},
		"a word":                            {"soon", 0},
		"a list":                            {"1, 2", 0},
		"RFC 3339":                          {"2026-10-21T07:28:00Z", 0},
		"other digits":                      {"١٢٠", 0},
		"twenty nines are capped":           {"99999999999999999999", 24 * time.Hour},
		"a day less a second":               {"86399", 24*time.Hour - time.Second},
	} {
		if got := retryAfter(c.value, now); got != c.want {
			t.Errorf("%s (%q): %s, want %s", name, c.value, got, c.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"120", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "999999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if got := retryAfter(value, time.Unix(1_800_000_000, 0)); got < 0 || got > maxRetryAfter {
			t.Errorf("%q: %s is outside 0 to %s", value, got, maxRetryAfter)
		}
	})
}
