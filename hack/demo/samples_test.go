package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

func TestTheSamplesAreThoseThatAreApplied(t *testing.T) {
	t.Parallel()
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(samplesDir(root), "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	filled := map[string]int{sampleURL: 0, sampleTime: 0}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			for placeholder := range filled {
				if !strings.HasPrefix(line, "#") && strings.Contains(line, placeholder) {
					filled[placeholder]++
				}
			}
		}
		text := fill(string(data), "http://127.0.0.1:1/reminders", time.Now())
		if strings.Contains(text, sampleURL) || strings.Contains(text, sampleTime) {
			t.Errorf("%s: not everything was filled in", file)
		}
	}
	if want := slices.Concat(foundation, schedules); !slices.Equal(names, want) {
		t.Errorf("samples are %q, the demo applies %q", names, want)
	}
	if filled[sampleURL] != 1 || filled[sampleTime] != 2 {
		t.Errorf("the samples have these places to fill in: %v, want 1 URL and 2 times", filled)
	}
	if _, err := signingKey(root); err != nil {
		t.Error(err)
	}
}
