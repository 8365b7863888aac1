package broker

import (
	"strings"
	"testing"
)

func TestAURLThatCannotBeReadIsNotRepeated(t *testing.T) {
	t.Parallel()
	_, err := Connect(Options{URL: "nats://user:CANARY@ bad"})
	if err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("got %v, want an error without the password", err)
	}
}

func TestServersWithoutReliableMessageSchedulesAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"2.14.5": true, "2.14.6": true, "2.15.0": true, "3.0.0": true, "2.15.2-beta.1": true,
		"2.14.4": false, "2.9.25": false, "1.99.99": false, "": false, "newest": false,
	}
	for version, want := range tests {
		if err := checkVersion(version); (err == nil) != want {
			t.Errorf("server %q: got %v, want accepted %t", version, err, want)
		}
	}
}
