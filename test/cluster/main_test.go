package cluster_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// roleEnv has the test binary play another program.
const roleEnv = "CLUSTER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "":
		log.SetLogger(logr.Discard()) // controller-runtime complains otherwise
		os.Exit(m.Run())
	case "parent":
		playParent()
	case "worker":
		playWorker()
	}
}

// playParent starts a cluster, prints the ids of its processes and waits to be killed.
func playParent() {
	c, err := cluster.Start(context.Background(), cluster.Options{
		Dir: os.Getenv("CLUSTER_TEST_DIR"), CRDDir: "testdata/crds", NoKube: os.Getenv("CLUSTER_TEST_KUBE") == "",
	})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(c.NATS.Process.Pid())
	if c.Kube != nil {
		fmt.Println(c.Kube.Etcd.Pid())
		fmt.Println(c.Kube.APIServer.Pid())
	}
	fmt.Println("ready")
	select {}
}

// playWorker is a program that a pod could run: it serves its name and a file
// of its Secret, and ends on SIGTERM.
func playWorker() {
	listen := flag.String("listen", ":8080", "")
	secret := flag.String("secret", "", "")
	stubborn := flag.Bool("stubborn", false, "")
	flag.Parse()
	http.HandleFunc("/ready", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/name", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getenv("POD_NAME")) })
	http.HandleFunc("/mood", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getenv("MOOD")) })
	http.HandleFunc("/secret", func(w http.ResponseWriter, _ *http.Request) {
		data, err := os.ReadFile(*secret)
		if err != nil {
			data = []byte(err.Error())
		}
		_, _ = w.Write(data)
	})
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	server := &http.Server{Addr: *listen, ReadHeaderTimeout: time.Second}
	go func() {
		for range term {
			if !*stubborn {
				fmt.Println("ended in order")
				os.Exit(0)
			}
		}
	}()
	fmt.Println(server.ListenAndServe())
	os.Exit(1)
}

// eventually polls a condition until it holds; the test fails when the deadline passes first.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("it never happened that %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
