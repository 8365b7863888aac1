package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/controllers"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/sweep"
	"github.com/reminder-operator/reminder-operator/internal/tally"
)

type controllerFlags struct {
	kubeconfig, namespace    string
	natsURL, credentials     string
	natsReplicas             int
	leaderElect              bool
	healthAddr, metricsAddr  string
	lookAhead, retention     time.Duration
	sweepGrace, sweepEvery   time.Duration
	statusInterval           time.Duration
	patience, orphansEvery   time.Duration
	workerImage, workerNATS  string
	workerSecret, workerAcct string
	egress                   egressFlags
}

func controllerCommand(log *slog.Logger) *cobra.Command {
	f := controllerFlags{}
	c := &cobra.Command{
		Use:   "controller",
		Short: "Reconcile schedules and channels, plan reminders, keep status",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), log) },
	}
	flags := c.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file; default KUBECONFIG, or the pod's service account")
	flags.StringVar(&f.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the operator's own namespace, where worker Deployments are made; default POD_NAMESPACE (required)")
	flags.StringVar(&f.natsURL, "nats-url", "", "NATS URL, such as nats://nats:4222 (required)")
	flags.StringVar(&f.credentials, "nats-credentials", "", "NATS credentials file")
	flags.IntVar(&f.natsReplicas, "nats-replicas", 1, "replicas of streams and buckets that are created, 1 to 5")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "let one of several controllers work at a time; saves work, nothing depends on it")
	flags.StringVar(&f.healthAddr, "health-addr", ":8081", "address of /healthz and /readyz; 0 for none")
	flags.StringVar(&f.metricsAddr, "metrics-addr", "0", "address of /metrics; 0 for none")
	flags.DurationVar(&f.lookAhead, "look-ahead", 15*time.Minute, "how far ahead reminders are planned, 1m to 24h")
	flags.DurationVar(&f.retention, "retention", 168*time.Hour, "how long outcomes and dead letters are kept, at least 1h")
	flags.DurationVar(&f.sweepGrace, "sweep-grace", 30*time.Second, "how long a due reminder may lack an outcome before the audit sweep looks at it, at least 1s")
	flags.DurationVar(&f.sweepEvery, "sweep-every", 10*time.Second, "time between two passes of the audit sweep, at least 1s")
	flags.DurationVar(&f.statusInterval, "status-interval", 10*time.Second, "shortest time between two status writes of one object, at least 1s")
	flags.DurationVar(&f.patience, "cleanup-patience", 2*time.Minute, "how long the deletion of an object waits for NATS before it lets go, 1s to 1h")
	flags.DurationVar(&f.orphansEvery, "orphans-every", 5*time.Minute, "time between two looks for reminders whose schedule is gone, at least 1s")
	flags.StringVar(&f.workerImage, "worker-image", "reminder-operator:latest", "image of worker Deployments")
	flags.StringVar(&f.workerNATS, "worker-nats-url", "", "NATS URL of workers; default that of the controller")
	flags.StringVar(&f.workerSecret, "worker-nats-secret", "", "Secret in the operator's namespace with the key nats.creds for workers")
	flags.StringVar(&f.workerAcct, "worker-service-account", "reminder-worker", "service account of worker pods, which mount no token")
	flags.StringSliceVar(&f.egress.allow, "egress-allow", nil, "ranges that workers may dial although they are not public, such as 10.20.0.0/16; repeatable; wins over --egress-deny")
	flags.StringSliceVar(&f.egress.deny, "egress-deny", nil, "ranges that workers may not dial although they are public, such as those of the cluster; repeatable")
	return c
}

func (f controllerFlags) validate() error {
	switch {
	case f.namespace == "":
		return errors.New("give --namespace or POD_NAMESPACE, the operator's own namespace")
	case f.natsReplicas < 1 || f.natsReplicas > 5:
		return fmt.Errorf("--nats-replicas is %d; give 1 to 5", f.natsReplicas)
	case f.workerImage == "":
		return errors.New("--worker-image is empty; give the operator's own image")
	}
	if err := checkBroker(f.natsURL, f.credentials); err != nil {
		return err
	}
	if _, err := f.egress.guard(); err != nil {
		return err
	}
	err := within(
		bounds{flag: "look-ahead", value: f.lookAhead, least: time.Minute, most: 24 * time.Hour},
		bounds{flag: "retention", value: f.retention, least: time.Hour},
		bounds{flag: "status-interval", value: f.statusInterval, least: time.Second},
		bounds{flag: "sweep-grace", value: f.sweepGrace, least: time.Second},
		bounds{flag: "sweep-every", value: f.sweepEvery, least: time.Second},
		bounds{flag: "orphans-every", value: f.orphansEvery, least: time.Second},
		bounds{flag: "cleanup-patience", value: f.patience, least: time.Second, most: time.Hour})
	if err == nil && f.retention < 2*f.lookAhead {
		err = fmt.Errorf("--retention is %s; give at least twice --look-ahead", f.retention)
	}
	return err
}

func (f controllerFlags) run(ctx context.Context, log *slog.Logger) error {
	if err := f.validate(); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	b, err := broker.Connect(broker.Options{
		URL: f.natsURL, CredentialsFile: f.credentials, Name: "reminder-controller", Replicas: f.natsReplicas, Retention: f.retention,
		OnError: func(err error) { log.Warn("The NATS connection reported an error", "error", err) },
	})
	if err != nil {
		return err
	}
	defer b.Close()
	mgr, err := f.manager(b)
	if err != nil {
		return err
	}
	if err := f.addParts(ctx, mgr, b, log); err != nil {
		return err
	}
	log.Info("Controller started", "namespace", f.namespace, "version", version())
	return mgr.Start(ctx)
}

// Scheme knows the kinds that the operator works with.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // two kinds under one name: a programming error
		}
	}
	return s
}

func (f controllerFlags) manager(b *broker.Broker) (manager.Manager, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 200, 400
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        Scheme(),
		Metrics:                       metricsserver.Options{BindAddress: f.metricsAddr},
		HealthProbeBindAddress:        f.healthAddr,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              "controller.reminders.dev",
		LeaderElectionNamespace:       f.namespace,
		LeaderElectionReleaseOnCancel: true,
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Cache: cache.Options{
			DefaultTransform: editTimes,
			ByObject: map[client.Object]cache.ByObject{
				&appsv1.Deployment{}: {Namespaces: map[string]cache.Config{f.namespace: {}}},
				&corev1.ConfigMap{}:  {Transform: nameOnly}, // of which only metadata is asked for
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	err = errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("broker", func(*http.Request) error { return b.Ready() }))
	return mgr, err
}

// editTimes leaves of the managed fields, which are larger than many an object, when somebody changed it.
func editTimes(in any) (any, error) {
	if obj, err := meta.Accessor(in); err == nil {
		fields := obj.GetManagedFields()
		times := make([]metav1.ManagedFieldsEntry, len(fields))
		for i, entry := range fields {
			times[i] = metav1.ManagedFieldsEntry{Time: entry.Time, Subresource: entry.Subresource}
		}
		obj.SetManagedFields(times)
	}
	return in, nil
}

// nameOnly leaves what tells an object and its version. An annotation may hold all that the object does.
func nameOnly(in any) (any, error) {
	if obj, err := meta.Accessor(in); err == nil {
		obj.SetManagedFields(nil)
		obj.SetAnnotations(nil)
		obj.SetLabels(nil)
		obj.SetOwnerReferences(nil)
		obj.SetFinalizers(nil)
	}
	return in, nil
}

// addParts adds the controllers and what the leader does beside them.
func (f controllerFlags) addParts(ctx context.Context, mgr manager.Manager, b *broker.Broker, log *slog.Logger) error {
	changed := make(chan event.TypedGenericEvent[types.NamespacedName], 1024)
	announce := func(namespace, name string) {
		select {
		case changed <- event.TypedGenericEvent[types.NamespacedName]{Object: types.NamespacedName{Namespace: namespace, Name: name}}:
		case <-ctx.Done():
		}
	}
	options := controllers.Options{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("reminder-operator"),
		Broker: b, Namespace: f.namespace, LookAhead: f.lookAhead, StatusInterval: f.statusInterval, CleanupPatience: f.patience,
		Worker: f.workers(), Changed: changed, Now: time.Now,
	}
	if err := controllers.SetUp(ctx, mgr, options); err != nil {
		return err
	}
	upkeep := &controllers.Upkeep{Options: options, Announce: announce, OrphansEvery: f.orphansEvery, Log: log}
	counting := &tally.Tally{Ledger: b.Ledger, Store: b.Tally, Changed: announce, Now: time.Now, Log: log}
	sweeping := &sweep.Sweep{
		Ledger: b.Ledger, Queue: b.Queue, DeadLetters: b.DeadLetters,
		Retention: f.retention, Grace: f.sweepGrace, Every: f.sweepEvery, Now: time.Now, Log: log,
	}
	return errors.Join(
		mgr.Add(everyReplica{upkeep.Ensure}),
		mgr.Add(manager.RunnableFunc(upkeep.Renew)),
		mgr.Add(manager.RunnableFunc(upkeep.Orphans)),
		mgr.Add(manager.RunnableFunc(counting.Run)),
		mgr.Add(manager.RunnableFunc(sweeping.Run)))
}

// everyReplica runs a part also where this controller does not lead, so that its
// readiness speaks of the broker.
type everyReplica struct{ run func(context.Context) error }

func (e everyReplica) Start(ctx context.Context) error { return e.run(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e everyReplica) NeedLeaderElection() bool { return false }

func (f controllerFlags) workers() controllers.WorkerTemplate {
	url := f.workerNATS
	if url == "" {
		url = f.natsURL
	}
	return controllers.WorkerTemplate{
		Image: f.workerImage, NATSURL: url, CredentialsSecret: f.workerSecret, ServiceAccount: f.workerAcct, Retention: f.retention,
		EgressAllow: f.egress.allow, EgressDeny: f.egress.deny,
	}
}
