package cmd

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reminder-operator/reminder-operator/internal/channel"
)

// mistake adds to what is wrong with a flag what to write instead.
func mistake(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "duration" {
		value := invalid.GetValue()
		if value != "" && strings.Trim(value, "0123456789") == "" {
			return fmt.Errorf("%w; a duration has a unit: write %ss or %sm", err, value, value)
		}
		return fmt.Errorf("%w; write a number with a unit, such as 30s, 15m or 168h", err)
	}
	return fmt.Errorf("%w; %s --help lists the flags", err, c.CommandPath())
}

// bounds is a flag with a duration and what it may be.
type bounds struct {
	flag        string
	value       time.Duration
	least, most time.Duration // no most: 0
}

// within refuses the first flag that is out of its bounds.
func within(all ...bounds) error {
	for _, b := range all {
		switch {
		case b.most == 0 && b.value < b.least:
			return fmt.Errorf("--%s is %s; give at least %s", b.flag, b.value, brief(b.least))
		case b.most > 0 && (b.value < b.least || b.value > b.most):
			return fmt.Errorf("--%s is %s; give %s to %s", b.flag, b.value, brief(b.least), brief(b.most))
		}
	}
	return nil
}

// brief is a duration without the zero parts at its end.
func brief(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

const urlHint = "give NATS URLs, such as nats://nats:4222, with commas between them"

// checkBroker looks at the flags about NATS before anything dials. A URL may hold
// a password and is not repeated.
func checkBroker(urls, credentials string) error {
	if strings.TrimSpace(urls) == "" {
		return fmt.Errorf("--nats-url is empty; %s", urlHint)
	}
	for i, one := range strings.Split(urls, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return fmt.Errorf("--nats-url: number %d is not a NATS URL; %s", i+1, urlHint)
		}
	}
	if credentials == "" {
		return nil
	}
	if _, err := os.ReadFile(credentials); err != nil {
		return fmt.Errorf("--nats-credentials: %w; give a NATS credentials file that this process may read", err)
	}
	return nil
}

// egressFlags say what workers may dial beside public addresses, and what of
// these they may not.
type egressFlags struct{ allow, deny []string }

// guard reads both lists.
func (f egressFlags) guard() (channel.Guard, error) {
	allow, err := channel.ParseRanges(f.allow)
	if err != nil {
		return channel.Guard{}, fmt.Errorf("--egress-allow: %w", err)
	}
	deny, err := channel.ParseRanges(f.deny)
	if err != nil {
		return channel.Guard{}, fmt.Errorf("--egress-deny: %w", err)
	}
	return channel.Guard{Allow: allow, Deny: deny}, nil
}
