package integration

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// canaryCredential is in a Secret, and may be nowhere else but on the wire.
const canaryCredential = "canary-credential-of-the-receiver"

// A receiver that refuses and repeats what it got, and one at an address that is
// not allowed: both reminders are dead, the second was never dialled, and the
// credential is in no log, no record and no status.
func TestCredentialsAndAddressesInside(t *testing.T) {
	t.Parallel()
	s := system.StartT(t, system.Options{})
	var authorized atomic.Int64
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+canaryCredential {
			authorized.Add(1)
		}
		http.Error(w, r.Header.Get("Authorization"), http.StatusUnprocessableEntity)
	}))
	defer refusing.Close()
	s.Create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Tenant, Name: "token"},
		StringData: map[string]string{"signingKey": system.SigningKey, "header.Authorization": "Bearer " + canaryCredential},
	})
	for name, c := range map[string]struct{ url, diagnostic string }{
		"refused": {refusing.URL, "status 422"},
		"inside":  {"http://10.255.255.1:9/hook", "address not allowed"},
	} {
		channel := s.HTTPChannel(name, v1alpha1.IdempotencyByKey)
		channel.Spec.HTTP.URL, channel.Spec.HTTP.SecretName = c.url, "token"
		s.Create(t, channel, system.OneOff(name, name, time.Now().Add(2*time.Second), 1, "ada"))
		s.WaitRecords(t, name, "dead at once: "+c.diagnostic, 1, func(r reminder.Record) bool {
			return r.State == reminder.Dead && r.Reason == reminder.PermanentFailure && r.Attempts == 1 && strings.HasPrefix(r.Diagnostic, c.diagnostic)
		})
		s.WaitCounts(t, name, "dead", func(n v1alpha1.ReminderCounts) bool { return n.Dead == 1 && n.Sent == 0 })
		status, err := json.Marshal(s.Schedule(t, name).Status)
		if text := string(status); err != nil || strings.Contains(text, canaryCredential) || strings.Contains(text, "10.255.255.1") {
			t.Errorf("%s: status shows the credential or the address: %s", name, text)
		}
	}
	if got := authorized.Load(); got != 1 {
		t.Errorf("%d requests had the credential, want 1", got)
	}
	if files := searched(t, s.Dir, canaryCredential, "10.255.255.1"); files < 3 {
		t.Errorf("searched %d files, want at least the logs of controller and workers, and the streams", files)
	}
}

// searched looks for texts in all logs below a folder, and in what NATS stores:
// credentials in all of it, addresses in logs alone.
func searched(t *testing.T, dir, credential, address string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		log, stored := strings.HasSuffix(path, ".log"), strings.HasSuffix(path, ".blk")
		if err != nil || e.IsDir() || !log && !stored {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if bytes.Contains(text, []byte(credential)) || log && bytes.Contains(text, []byte(address)) {
			t.Errorf("%s shows the credential or the address", path)
		}
		return nil
	})
	if err != nil {
		t.Errorf("search %s: %v", dir, err)
	}
	return files
}
