package integration

import (
	"flag"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // the clients' chatter; the product's processes log to files
	// Most tests wait for most of their time: more of them at once than there are cores.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("3"); err != nil {
			panic(err)
		}
	}
	m.Run()
}
