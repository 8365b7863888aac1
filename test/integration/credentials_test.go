package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// authority signs what a NATS server with JWT authentication believes.
type authority struct {
	operator, account nkeys.KeyPair
	claims, system    *jwt.AccountClaims
}

func must[V any](t *testing.T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{operator: must[nkeys.KeyPair](t)(nkeys.CreateOperator()), account: must[nkeys.KeyPair](t)(nkeys.CreateAccount())}
	a.claims = jwt.NewAccountClaims(must[string](t)(a.account.PublicKey()))
	a.claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	a.system = jwt.NewAccountClaims(must[string](t)(must[nkeys.KeyPair](t)(nkeys.CreateAccount()).PublicKey()))
	return a
}

// credentials of a new user: his id, and the file.
func (a *authority) credentials(t *testing.T) (id string, file []byte) {
	t.Helper()
	user := must[nkeys.KeyPair](t)(nkeys.CreateUser())
	id = must[string](t)(user.PublicKey())
	token := must[string](t)(jwt.NewUserClaims(id).Encode(a.account))
	return id, must[[]byte](t)(jwt.FormatUserConfig(token, must[[]byte](t)(user.Seed())))
}

// config of a server that believes the authority.
func (a *authority) config(t *testing.T) cluster.NATSConfig {
	t.Helper()
	operator := must[string](t)(jwt.NewOperatorClaims(must[string](t)(a.operator.PublicKey())).Encode(a.operator))
	account, system := must[string](t)(a.claims.Encode(a.operator)), must[string](t)(a.system.Encode(a.operator))
	return cluster.NATSConfig{Server: fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload {\n%s: %s\n%s: %s\n}\n",
		operator, a.system.Subject, a.claims.Subject, account, a.system.Subject, system)}
}

// Row 34: the credentials of controller and workers are revoked while reminders are
// planned and fall due, and new ones come later.
func TestRow34CredentialsAreRotated(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	dir := t.TempDir()
	mine, theirs := filepath.Join(dir, "test.creds"), filepath.Join(dir, "controller.creds")
	_, ours := a.credentials(t)
	old, first := a.credentials(t)
	write(t, mine, ours)
	write(t, theirs, first)
	s := system.StartT(t, system.Options{
		Options: cluster.Options{NATSConfig: a.config(t)}, Credentials: mine,
		ControllerArgs: []string{"--nats-credentials=" + theirs, "--worker-nats-secret=nats"},
	})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system.OperatorNamespace, Name: "nats"}, Data: map[string][]byte{"nats.creds": first}}
	s.Create(t, secret, s.HTTPChannel("mail", v1alpha1.IdempotencyByKey))
	s.WaitWorkers(t, "mail", 1)
	const n = 10
	s.Create(t, system.OneOff("before", "mail", time.Now().Add(2*time.Second), n, "ada"))
	s.WaitCounts(t, "before", "sent", sent(n))
	s.Create(t, system.OneOff("meanwhile", "mail", time.Now().Add(10*time.Second), n, "ada"))
	s.WaitRecords(t, "meanwhile", "planned", n, func(reminder.Record) bool { return true })
	before := pids(t, s)
	a.claims.Revoke(old)
	if err := s.NATS.RestartWith(t.Context(), a.config(t)); err != nil {
		t.Fatal(err)
	}
	s.WaitReason(t, "meanwhile", v1alpha1.ReasonBrokerUnavailable)
	refusals(t, s, 4)
	_, second := a.credentials(t)
	write(t, theirs, second)
	secret.Data["nats.creds"] = second
	if err := s.Client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.WaitCounts(t, "meanwhile", "sent with the new ones", sent(n))
	s.WaitReason(t, "meanwhile", v1alpha1.ReasonFinished)
	if now := pids(t, s); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("processes are %v, they were %v: a rotation needs no restart", now, before)
	}
	if got := s.Receiver.Stats(); got.Accepted != 2*n || got.Duplicates != 0 {
		t.Errorf("receiver: accepted %d, duplicates %d; want %d and 0", got.Accepted, got.Duplicates, 2*n)
	}
}

// refusals waits until controller and worker have been refused so often that a client
// which gives up would have.
func refusals(t *testing.T, s *system.System, n int) {
	t.Helper()
	logs := []string{s.Controllers[0].LogFile()}
	for _, c := range s.Node.Children(s.WorkersOf(t, "mail")) {
		logs = append(logs, c.Process.LogFile())
	}
	for _, log := range logs {
		system.Eventually(t, "credentials are refused", func() (bool, string) {
			text, err := os.ReadFile(log)
			got := strings.Count(strings.ToLower(string(text)), "authorization violation")
			return got >= n, fmt.Sprintf("%d times, %v", got, err)
		})
	}
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
