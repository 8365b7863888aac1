package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/receiver"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// answerDelay is how long the receiver takes for each answer: with four at a
// time, twenty reminders are on their way for a few seconds.
const answerDelay = 600 * time.Millisecond

// Limits of waits. Machines under load need many times what an idle one does.
const (
	startLimit = 2 * time.Minute
	burstLimit = 2 * time.Minute
)

// site is the running system with its receiver.
type site struct {
	*teller
	*system.System
	root        string
	receiver    *cluster.Process
	receiverURL string // where reminders go
}

// start starts everything with its state in dir and waits until the channel's
// worker is live. When it fails, nothing that it started is left.
func start(ctx context.Context, t *teller, dir string) (_ *site, err error) {
	root, err := cluster.RepoRoot()
	if err != nil {
		return nil, err
	}
	s := &site{teller: t, root: root}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	t.say("Looking for etcd, kube-apiserver and kubectl; what is missing is built once, in 10 to 25 minutes")
	if _, err := cluster.KubeBin(ctx, t); err != nil {
		return nil, err
	}
	t.say("Building the product; starting etcd, kube-apiserver, nats-server and the operator")
	s.System, err = system.Start(ctx, system.Options{Options: cluster.Options{Dir: dir, Log: t}, Bare: true})
	if err != nil {
		return nil, err
	}
	if err := s.startReceiver(ctx); err != nil {
		return nil, err
	}
	t.say("Applying namespace, Secret and channel from config/samples/demo")
	if err := s.apply(ctx, time.Time{}, foundation...); err != nil {
		return nil, err
	}
	return s, s.awaitWorker(ctx)
}

// startReceiver starts the receiver and waits for its address.
func (s *site) startReceiver(ctx context.Context) error {
	s.say("Building and starting the receiver")
	binary, err := cluster.BuildPackage(ctx, s, "./hack/demo/receiver")
	if err != nil {
		return err
	}
	key, err := signingKey(s.root)
	if err != nil {
		return err
	}
	secretFile, addrFile := filepath.Join(s.Dir, "receiver.keys"), filepath.Join(s.Dir, "receiver.addr")
	if err := os.WriteFile(secretFile, []byte(key+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the receiver's signing key: %w", err)
	}
	s.receiver, err = cluster.StartProcess(cluster.Command{
		Name: "receiver", Path: binary, LogFile: filepath.Join(s.Dir, "receiver.log"),
		Args: []string{
			"-addr-file", addrFile, "-secret-file", secretFile, "-log", filepath.Join(s.Dir, "receiver.accepted.jsonl"),
			"-delay", answerDelay.String(),
		},
	})
	if err != nil {
		return err
	}
	s.check = s.alive
	return s.await(ctx, "the receiver listens", startLimit, func(context.Context) (bool, string, error) {
		addr, err := os.ReadFile(addrFile)
		s.receiverURL = "http://" + string(addr) + "/reminders"
		return err == nil, "", err
	})
}

// awaitWorker waits until the channel is ready and its worker is live.
func (s *site) awaitWorker(ctx context.Context) error {
	s.say("Waiting for the channel's worker")
	return s.await(ctx, "channel "+channelName+" is ready and its worker live", startLimit, func(ctx context.Context) (bool, string, error) {
		obj, err := s.channel(ctx)
		if err != nil || !meta.IsStatusConditionTrue(obj.Status.Conditions, v1alpha1.ReadyCondition) {
			return false, "", err
		}
		live, err := s.Broker.Registry.Workers(ctx, namespace, channelName)
		return len(live) > 0, "", err
	})
}

// alive answers an error when a part that should run has ended.
func (s *site) alive() error {
	for _, p := range append(s.Controllers, s.receiver, s.NATS.Process, s.Kube.APIServer, s.Kube.Etcd) {
		if !p.Running() {
			return fmt.Errorf("%s has ended; it said last in %s:\n%s", p.Name(), p.LogFile(), p.Tail(10))
		}
	}
	return nil
}

func (s *site) channel(ctx context.Context) (*v1alpha1.ReminderChannel, error) {
	obj := &v1alpha1.ReminderChannel{}
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: channelName}, obj); err != nil {
		return nil, fmt.Errorf("read channel %s: %w", channelName, err)
	}
	return obj, nil
}

func (s *site) statsURL() string {
	return s.receiverURL[:len(s.receiverURL)-len("reminders")] + "stats"
}

// stats are the receiver's books.
func (s *site) stats(ctx context.Context) (receiver.Stats, error) {
	var books receiver.Stats
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.statsURL(), nil)
	if err != nil {
		return books, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return books, fmt.Errorf("read the receiver's books: %w", err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&books); err != nil {
		return books, fmt.Errorf("read the receiver's books: %w", err)
	}
	return books, nil
}

// close ends everything.
func (s *site) close() {
	if s.System != nil {
		s.System.Stop()
	}
	if s.receiver != nil {
		_ = s.receiver.Stop(5 * time.Second)
	}
}
