package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/reminder-operator/reminder-operator/internal/channel"
)

// Names in config/samples/demo.
const (
	namespace   = "reminders-demo"
	channelName = "billing"
	burst       = "invoice-due"
	recurring   = "standup"
)

// What stands in the samples for what is known only when the demo runs.
const (
	sampleURL  = "http://receiver.example.com/reminders"
	sampleTime = "2030-01-01T09:00:00Z"
)

// Files of the samples, in the order in which they are applied.
var (
	foundation = []string{"10-namespace.yaml", "20-secret.yaml", "30-channel.yaml"}
	schedules  = []string{"40-invoice-due.yaml", "50-standup.yaml", "60-hard-cases.yaml"}
)

func samplesDir(root string) string { return filepath.Join(root, "config", "samples", "demo") }

// fill puts the receiver's URL and the due time into a sample.
func fill(text, url string, due time.Time) string {
	return strings.NewReplacer(sampleURL, url, sampleTime, due.UTC().Format(time.RFC3339)).Replace(text)
}

// apply fills samples in, keeps the result in the state folder, and hands it to kubectl.
func (s *site) apply(ctx context.Context, due time.Time, files ...string) error {
	dir := filepath.Join(s.Dir, "samples")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of filled-in samples: %w", err)
	}
	args := []string{"apply"}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(samplesDir(s.root), name))
		if err != nil {
			return fmt.Errorf("read a sample: %w", err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(fill(string(text), s.receiverURL, due)), 0o600); err != nil {
			return fmt.Errorf("write a sample: %w", err)
		}
		args = append(args, "-f", path)
	}
	out, err := s.Kube.Kubectl(ctx, args...)
	for line := range strings.Lines(out) {
		s.say("  %s", strings.TrimSpace(line))
	}
	return err
}

// signingKey is the key in the sample of the Secret.
func signingKey(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(samplesDir(root), "20-secret.yaml"))
	if err != nil {
		return "", fmt.Errorf("read the sample of the Secret: %w", err)
	}
	var secret corev1.Secret
	if err := yaml.Unmarshal(data, &secret); err != nil {
		return "", fmt.Errorf("read the sample of the Secret: %w", err)
	}
	key := secret.StringData[channel.KeyFile]
	if key == "" {
		return "", fmt.Errorf("read the sample of the Secret: it has no %s", channel.KeyFile)
	}
	return key, nil
}
