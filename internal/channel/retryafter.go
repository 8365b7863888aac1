package channel

import (
	"net/http"
	"strings"
	"time"
)

// maxRetryAfter caps what a receiver can ask for; the deadline of the reminder
// usually caps it further.
const maxRetryAfter = 24 * time.Hour

// retryAfter is the wait that a Retry-After field asks for (RFC 9110, section
// 10.2.3: seconds, or a date in any of the three forms of section 5.6.7). It is 0
// when the field is absent, invalid or in the past: then our own backoff holds.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if isDigits(value) {
		return seconds(value)
	}
	at, err := http.ParseTime(value)
	if err != nil || zoned(value) {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// seconds is a count of any length, capped.
func seconds(digits string) time.Duration {
	var d time.Duration
	for _, c := range []byte(digits) {
		d = d*10 + time.Duration(c-'0')*time.Second
		if d >= maxRetryAfter {
			return maxRetryAfter
		}
	}
	return d
}

// zoned tells whether a date names another zone than GMT: the RFC 850 layout
// takes any abbreviation, and reads it as UTC.
func zoned(date string) bool {
	return strings.Contains(date, ",") && !strings.HasSuffix(date, "GMT")
}
