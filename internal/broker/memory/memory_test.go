package memory_test

import (
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/broker/brokertest"
	"github.com/reminder-operator/reminder-operator/internal/broker/memory"
)

func TestTheBrokerInMemoryConforms(t *testing.T) {
	t.Parallel()
	brokertest.Conform(t, func(*testing.T) brokertest.Services {
		b := memory.New()
		return brokertest.Services{
			Ledger: b.Ledger, Queue: b.Queue, Registry: b.Registry, Audience: b.Audience, DeadLetters: b.DeadLetters, Tally: b.Tally,
		}
	})
}
