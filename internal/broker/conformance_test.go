package broker_test

import (
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
)

// The same suite as the broker in memory passes, so that what is shown by simulations
// on that one holds on a real server.
func TestTheBrokerConforms(t *testing.T) {
	t.Parallel()
	brokertest.Conform(t, func(t *testing.T) brokertest.Services { return brokertest.Of(brokertest.Start(t)) })
}
